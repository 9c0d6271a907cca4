# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Merges a hosted cluster's pull secrets, deploys the syncer and watches its rollout.

Imports places, clients, runtime, model and dockerconfig; no other workflow.
Public: from_options, cluster, names, sync.
"""
