# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Changes ``imagePullSecrets`` of a service account.

The list has no merge key, so any patch replaces it completely (``facts``). It is read, one entry is changed,
and it is written back under its resourceVersion.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...clients.kubernetes.client import KubernetesClient
from ...model.errors import DependencyMissing
from ...model.outcome import Outcome
from ...runtime.retry import Deadline
from ...runtime.run_settings import RunSettings
from ..writing import note

__all__ = ["link_service_account"]


def link_service_account(
    client: KubernetesClient,
    settings: RunSettings,
    namespace: str,
    account: str,
    secret: str,
    outcome: Outcome,
    deadline: Deadline,
    *,
    present: bool,
    dry_run: bool,
    waits: bool = True,
) -> bool:
    """Add the secret to the account's list, or remove it. Other entries and their order stay.

    :param waits: whether an account that does not exist is waited for.
    :return: whether the account exists.
    :raises DependencyMissing: the account still does not exist after waiting for it.
    :raises Conflict: another client changed it meanwhile; the caller reads again.
    """

    def read(_timeout: float) -> dict[str, Any]:
        found = client.get(namespace, "serviceaccounts", account, deadline)
        if found is None and present and waits and not dry_run:
            raise DependencyMissing(f"service account {namespace}/{account} does not exist")
        return found or {}

    found = settings.retrier.call(read, deadline=deadline, api_timeout=settings.api_timeout)
    there = list(found.get("imagePullSecrets") or [])
    names = [entry.get("name") for entry in there]
    if not found and not (present and waits):
        return False
    if (secret in names) == present:
        return True
    wanted = (
        there + [{"name": secret}] if present else [entry for entry in there if entry.get("name") != secret]
    )
    outcome.did(f"{'linked to' if present else 'unlinked from'} service account {account}")
    outcome.differs(f"service account {account}", _listed(there), _listed(wanted))
    if dry_run:
        if not found:
            outcome.warnings.append(
                f"service account {namespace}/{account} does not exist; a run without check mode waits for it"
            )
        return bool(found)
    client.patch(
        namespace,
        "serviceaccounts",
        account,
        {"metadata": {"resourceVersion": found["metadata"]["resourceVersion"]}, "imagePullSecrets": wanted},
        deadline,
    )
    note(outcome, "link-service-account", f"Changed imagePullSecrets of {account}", namespace=namespace)
    return True


def _listed(entries: Sequence[Mapping[str, Any]]) -> str:
    return ", ".join(str(entry.get("name")) for entry in entries) or "no imagePullSecrets"
