# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reads, checks and completes an AdapterConfig.

Imports cel, the job contract's variables (provision.environment), clients, runtime, model and dockerconfig.
Public: config, parts, schema.
"""
