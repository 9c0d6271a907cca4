# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reaches Kubernetes API servers: options, variables, kubeconfigs and pods, requests, and the wire of watches.

Imports runtime, model and clients.pool; only watch_transport loads httpcore and anyio, inside its functions.
Public: all modules but exec_plugin and tls; embedded is the boundary to kubeconfigs that a tenant may have written.
"""
