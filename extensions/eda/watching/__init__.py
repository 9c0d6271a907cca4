# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The event source kubernetes_secret: from watches of Secrets to batches of clusters.

Imports clients.kubernetes, runtime and model.
Public: fleet, settings, clusters, batches.
"""
