# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reading an old version, to make it the newest again."""

from __future__ import annotations

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.errors import NotFound
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.secret_manager.client import (
    SecretManagerClient,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.secret_manager.errors import (
    FailedPrecondition,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.retry import Deadline

__all__ = ["read_version"]


def read_version(client: SecretManagerClient, name: str, deadline: Deadline, *, dry_run: bool) -> bytes:
    """A version's payload; one that is disabled is enabled for the time of the read.

    :raises NotFound: it is not there, or destroyed.
    :raises FailedPrecondition: it is disabled, and in check mode nothing is enabled.
    """
    version = client.get_version(name, deadline)
    if version.state.name == "DESTROYED":
        raise NotFound(f"{name} is destroyed and cannot be restored")
    if version.state.name == "ENABLED":
        return client.access(name, deadline)
    if dry_run:
        raise FailedPrecondition(
            f"{name} is disabled, so check mode cannot read it",
            "a real run enables it for the time of the read",
        )
    client.set_state(name, version.etag, "enable", deadline)
    try:
        return client.access(name, deadline)
    finally:
        client.set_state(name, client.get_version(name, deadline).etag, "disable", deadline)
