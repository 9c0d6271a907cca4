# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Stores a cluster's pull secret in a secret store and places it in the management cluster.

Imports options, run and targets beside it, places, clients, runtime, model and dockerconfig.
Public: store, place, steps, checking, environment.
"""
