# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Delivers a pull secret to Cluster API's guest clusters, and removes it from guests that left.

Imports places, clients, runtime, model and dockerconfig; no other workflow.
Public: deliver, direct, from_options, guest_run, host, manifests, plan.
"""
