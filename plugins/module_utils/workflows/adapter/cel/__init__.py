# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Evaluates the preconditions of an AdapterConfig: CEL with a bound on what an expression may cost.

Imports clients.hyperfleet's statuses, runtime, model and dockerconfig.
Public: preconditions.
"""
