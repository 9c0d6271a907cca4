# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reads one version by its number: the only response of Secret Manager that is never stale."""

from __future__ import annotations

import re

from ...clients.google.client import SecretManagerClient
from ...clients.google.errors import FailedPrecondition, NotEnabled
from ...runtime.retry import Deadline

__all__ = ["access_enabled"]

# The service's message when it refuses to return a version's payload.
_NOT_ENABLED = re.compile(r"is in (DISABLED|DESTROYED) state")


def access_enabled(client: SecretManagerClient, version_name: str, deadline: Deadline) -> bytes:
    """Return the payload of a version that is named by its number.

    :raises NotFound: there is no such version.
    :raises NotEnabled: it is disabled or destroyed.
    :raises FailedPrecondition: it is enabled, and cannot be read, as with a disabled KMS key.
    """
    try:
        return client.access(version_name, deadline)
    except FailedPrecondition as error:
        # The metadata may be older than the access itself.
        if (
            _NOT_ENABLED.search(error.message)
            or client.get_version(version_name, deadline).state.name != "ENABLED"
        ):
            raise NotEnabled(error.message, error.hint) from None
        raise
