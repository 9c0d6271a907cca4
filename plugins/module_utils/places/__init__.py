# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The places that hold a docker config: one module or package reads and writes each of them.

Imports clients, runtime, model and dockerconfig; a place imports no other place.
Public: reader, base, listing, writing, and what each package names.
"""
