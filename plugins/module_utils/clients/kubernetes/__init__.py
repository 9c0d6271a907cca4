# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reaches Kubernetes API servers: options, variables, kubeconfigs and pods, requests, and the wire of watches.

Imports runtime, model and clients.pool. Only watch_transport loads httpcore and anyio.
Public: client, pod, connection, errors, paths, kubeconfig, embedded, service_account; watch_access and
watch_transport for the event source. embedded is the boundary to kubeconfigs that tenants may have written.
"""
