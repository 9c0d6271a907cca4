# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reads the state of a unit from systemd and restarts it, over D-Bus or with systemctl.

Imports runtime and model.
Public: manager, dbus, systemctl.
"""
