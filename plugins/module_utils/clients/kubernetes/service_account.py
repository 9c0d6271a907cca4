# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The parts that every pod has: its service account's directory, and the API server in its environment.

The job, the syncer and the event source use it; it loads nothing but the errors.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ...model.errors import ConfigurationError

__all__ = ["ACCOUNT", "api_server"]

ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
"""The directory of the account in every pod."""
_HOST = re.compile(r"[A-Za-z0-9._-]{1,253}\Z|[0-9A-Fa-f:.]{2,45}\Z")
_PORT = re.compile(r"[0-9]{1,5}\Z")


def api_server(environ: Mapping[str, str]) -> tuple[str, int]:
    """Return the API server's host and port, which every pod has in its environment.

    :raises ConfigurationError: names the variable.
    """
    host, port = environ.get("KUBERNETES_SERVICE_HOST", ""), environ.get("KUBERNETES_SERVICE_PORT") or "443"
    if not host:
        raise ConfigurationError("KUBERNETES_SERVICE_HOST is not set: run this in a pod")
    if not _HOST.match(host):
        raise ConfigurationError("KUBERNETES_SERVICE_HOST must be a host name or an address")
    if not _PORT.match(port) or not 0 < int(port) < 65536:
        raise ConfigurationError("KUBERNETES_SERVICE_PORT must be a number from 1 to 65535")
    return host, int(port)
