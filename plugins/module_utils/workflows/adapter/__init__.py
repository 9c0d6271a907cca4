# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The HyperFleet adapter: from the clusters of a batch to Jobs and status reports.

Imports other workflows' public modules, places, clients, runtime, model and dockerconfig.
Public: engine.engine, engine.sweep, engine.run_results, config.config.
"""
