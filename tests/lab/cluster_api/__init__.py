# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Cluster API's own manager, a management control plane and guests' API servers. Needs root and Go."""

from __future__ import annotations

from tests.lab.cluster_api.lab import CLUSTER_NAME_LABEL, ClusterApiLab, cluster_api_lab

__all__ = ["CLUSTER_NAME_LABEL", "ClusterApiLab", "cluster_api_lab"]
