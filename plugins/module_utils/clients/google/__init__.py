# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Clients of Google Secret Manager, with Google's libraries and without them, and their credentials.

Imports pool beside it, runtime, model and dockerconfig.
Public: client, auth, metadata, plain, errors.
"""
