# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The HyperFleet API's client: clusters, what adapters report about them, and our own reports.

Imports runtime, model and dockerconfig.
Public: client, cluster_reader, all_clusters, statuses, status_parser, printable, connection, errors.
"""
