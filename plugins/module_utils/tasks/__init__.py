# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Each module's argument spec and work, and the entry points of a module process and of an action plugin.

Imports Ansible, workflows, places, clients, runtime, model and dockerconfig.
Public: every module.
"""
