# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Says what is where, cluster by cluster: versions, owners, digests, drift.  It reads only, and returns no value.

Imports provision, options, run and targets beside it, places, runtime, model and dockerconfig.
Public: inspect_clusters, comparison, unlisted.
"""
