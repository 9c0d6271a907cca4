# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Clients of services, one package for each service.

Imports runtime, model and dockerconfig; a package here imports no other.
Public: pool, and what each package names.
"""
