# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The program of the DaemonSet: keeps one node's config.json equal to a Secret and restarts kubelet.

Imports places.kubelet, clients.systemd, runtime and model: the standard library and jeepney, nothing else.
Public: program.
"""
