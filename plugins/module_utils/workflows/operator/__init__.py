# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a run of the Ansible Operator decides about its custom resource, besides the work of the role behind it.

Imports clients, runtime and model; no other workflow.
Public: claims, events, status.
"""
