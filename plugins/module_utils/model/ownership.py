# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Who owns an object, and what is allowed with objects of other owners. One rule for all places."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .errors import OwnershipConflict
from .naming import MANAGED_BY, owner_problem
from .shown import shown

__all__ = ["OTHERS_HINT", "controller_warnings", "foreign"]

OTHERS_HINT = "check the cluster_id"


def foreign(
    labels: Mapping[str, str],
    cluster_id: str | None,
    place: str,
    *,
    adopt: bool,
    delete: bool,
    name_key: str | None = None,
    others_hint: str = OTHERS_HINT,
) -> OwnershipConflict | None:
    """Return the refusal of an object that is not ours, or None if the work may continue.

    ``adopt`` is for writing only: to delete an object of another owner, adopt it first. Without
    ``cluster_id`` a cluster's object may be written, but not deleted.

    :param labels: the object's.
    :param place: the object's full name.
    :param name_key: the key of a cluster that gives the object another name; None if there is none.
    :param others_hint: what to do about an object of another cluster.
    """
    problem = owner_problem(labels, cluster_id)
    other = labels.get("cluster-id")
    if problem is None and delete and other and not cluster_id:
        # A name alone may be a mistake, and a cluster's deleted credentials cannot be restored.
        return OwnershipConflict(
            f"{place} exists but belongs to cluster {other}",
            f"it was not deleted; set cluster_id: {other} to delete it",
        )
    if problem is None or (adopt and not delete):
        return None
    another_clusters = labels.get("managed-by") == MANAGED_BY and bool(other)
    hint = (_delete_hint if delete else _write_hint)(name_key, others_hint if another_clusters else None)
    return OwnershipConflict(f"{place} exists but {problem}", hint)


def controller_warnings(metadata: Mapping[str, Any], *, delete: bool) -> list[str]:
    """Return a warning that another controller keeps the object, or nothing.

    :param metadata: the object's, which is adopted or deleted.
    """
    return [
        f"it is controlled by the {shown(str(owner.get('kind')))} {shown(str(owner.get('name')))}, which may "
        f"{'create it again' if delete else 'overwrite or delete it'}; change or remove that object first"
        for owner in metadata.get("ownerReferences") or ()
        if owner.get("controller")
    ]


def _write_hint(name_key: str | None, others_hint: str | None) -> str:
    """Say what to do. Another cluster may need its secret, so neither adoption nor deletion is offered."""
    other_name = f"give this cluster another {name_key}" if name_key else ""
    if others_hint:
        return f"it was not changed; {others_hint}{', or ' if other_name else ''}{other_name}"
    choices = f"{other_name}, or " if other_name else ""
    return (
        f"it was not changed; {choices}take it over with adopt: true on this cluster, "
        "or delete it if nobody needs it"
    )


def _delete_hint(name_key: str | None, others_hint: str | None) -> str:
    if others_hint:
        return f"it was not deleted; {others_hint}{f' and the {name_key}' if name_key else ''}"
    return (
        "it was not deleted; with state: absent, only what this collection owns is deleted, even with "
        "adopt: true; first take it over with state: present and adopt: true, or delete it by hand"
    )
