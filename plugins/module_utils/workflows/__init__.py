# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The work that users request: runs over targets, and one package for each longer workflow.

Imports places, clients, runtime, model and dockerconfig.
Public: run, targets, options, and what each package names.
"""
