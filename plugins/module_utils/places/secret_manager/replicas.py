# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The locations and keys of a secret: chosen when it is created, and later only compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["replication_warning"]

# The KMS key, or nothing, by location; automatic replication is one location without a name.
_Places = dict[str, str]


def replication_warning(wanted: Mapping[str, Any] | None, secret: Any) -> str | None:
    """Return a warning if an existing secret has another replication, or None.

    :param wanted: the library's ``Replication`` as a mapping, None if any will do.
    :param secret: the library's ``Secret``.
    """
    if wanted is None:
        return None
    # The plain message: the library's wrapper costs more than all the rest of the comparison.
    there = type(secret).pb(secret).replication
    kind = there.WhichOneof("replication")
    if kind is None:
        return None
    if kind == "automatic":
        found = {"": there.automatic.customer_managed_encryption.kms_key_name}
    else:
        found = {
            replica.location: replica.customer_managed_encryption.kms_key_name
            for replica in there.user_managed.replicas
        }
    (wanted_kind,) = wanted
    asked = _places(wanted_kind, wanted[wanted_kind])
    if (kind, found) == (wanted_kind, asked):
        return None
    return (
        f"the secret's replication is {_words(kind, found)}, not {_words(wanted_kind, asked)}; it is set "
        f"when a secret is created and was not changed"
    )


def _places(kind: str, policy: Mapping[str, Any]) -> _Places:
    if kind == "automatic":
        return {"": _key(policy)}
    return {replica["location"]: _key(replica) for replica in policy["replicas"]}


def _key(place: Mapping[str, Any]) -> str:
    return str((place.get("customer_managed_encryption") or {}).get("kms_key_name") or "")


def _words(kind: str, places: _Places) -> str:
    named = [f"{place} with key {key}".strip() if key else place for place, key in sorted(places.items())]
    return f"{kind} ({', '.join(named)})" if any(named) else kind
