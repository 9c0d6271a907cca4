# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Keeps a docker config in a node's config.json, restarts kubelet and rolls back what made it unhealthy.

Imports clients.systemd, runtime, model and dockerconfig; no other place.
Public: sync, store, ledger, result.
"""
