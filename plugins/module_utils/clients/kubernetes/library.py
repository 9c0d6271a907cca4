# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The Kubernetes library, of which a client needs little."""

from __future__ import annotations

import importlib

from ...model.errors import missing_package

__all__ = ["import_library"]

_PARTS = ("kubernetes.client.configuration", "kubernetes.client.rest", "kubernetes.config.kube_config")


def import_library() -> None:
    """Import what a client needs: a module without Kubernetes does not pay 0.3 s and 50 MiB for it.

    :raises ConfigurationError: it is not installed.
    """
    try:
        for name in _PARTS:
            importlib.import_module(name)
    except ImportError as error:
        raise missing_package(error, "kubernetes") from None
