# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The domain: clusters, names, owners, results, errors and what a message may show. No I/O.

Imports dockerconfig.
Public: every module.
"""
