# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The event source cluster_events: from a broker's messages to runs of one playbook.

Imports watching.batches, clients, runtime, model and the AdapterConfig (workflows.adapter.config).
Public: receiver, batching, playbook_runs, run_directories, settings, recorder, http_limits.
"""
