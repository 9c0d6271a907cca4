# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Decides what each cluster of a batch needs, does it and reports it. Removes what deleted clusters left.

Imports cel, config, jobs, other workflows, places, clients, runtime, model and dockerconfig.
Public: engine, sweep, run_results, lazy_jobs.
"""
