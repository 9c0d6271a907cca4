# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Shared by the plugins of the controller: actions, lists of clusters, variables and reports.

Imports Ansible and module_utils.
Public: every module.
"""
