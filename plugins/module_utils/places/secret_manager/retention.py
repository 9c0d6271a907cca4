# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which old versions of a secret go: a decision without I/O, and carrying it out."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...clients.google.client import SecretManagerClient, version_number
from ...clients.google.errors import FailedPrecondition
from ...model.errors import NotFound, PermissionDenied
from ...model.outcome import Outcome, adds_version
from ...runtime.retry import Deadline
from ..writing import note

__all__ = ["Retention", "VersionState", "apply_retention", "plan_retention"]


@dataclass(frozen=True)
class VersionState:
    """What the decision needs of a version.

    :param created: seconds since the epoch.
    :param state: ``ENABLED``, ``DISABLED`` or ``DESTROYED``.
    """

    number: int
    state: str
    created: float


@dataclass(frozen=True)
class Retention:
    """How many versions stay and what becomes of the others.

    :param keep: how many of the newest enabled versions stay as they are, 1 at least.
    :param disable: whether older enabled ones are disabled.
    :param destroy_after: seconds after which a disabled, superseded version is destroyed; None for never.
    """

    keep: int
    disable: bool = True
    destroy_after: float | None = None


def plan_retention(versions: Sequence[VersionState], rule: Retention, now: float) -> list[tuple[int, str]]:
    """``(number, "disable" | "destroy")`` for each version that has to change.

    Only versions older than the kept ones are touched.  An enabled version is never destroyed:
    it is disabled first, and destroyed by a later run once ``destroy_after`` has passed since its
    successor was created, which is the moment that it stopped being in use.
    """
    ordered = sorted(versions, key=lambda version: version.number, reverse=True)
    enabled = [version.number for version in ordered if version.state == "ENABLED"]
    if not enabled:
        return []
    oldest_kept = enabled[: rule.keep][-1]
    plan: list[tuple[int, str]] = []
    for successor, version in zip(ordered, ordered[1:]):
        if version.number >= oldest_kept:
            continue
        if version.state == "ENABLED" and rule.disable:
            plan.append((version.number, "disable"))
        elif (
            version.state == "DISABLED"
            and rule.destroy_after is not None
            and now - successor.created >= rule.destroy_after
        ):
            plan.append((version.number, "destroy"))
    return plan


def _corrected(versions: Sequence[VersionState], newest: int) -> list[VersionState]:
    """What a list that may be old says, and what is known: the newest version that is enabled.

    Otherwise the version in use could be disabled because of a newer one that is not enabled any more.
    """
    known = {version.number: version for version in versions}
    for version in versions:
        if version.number > newest and version.state == "ENABLED":
            known[version.number] = replace(version, state="DISABLED")
    known[newest] = replace(known.get(newest, VersionState(newest, "ENABLED", time.time())), state="ENABLED")
    return list(known.values())


def _facts(versions: Mapping[int, Any], outcome: Outcome, now: float, dry_run: bool) -> list[VersionState]:
    """The versions with their states, and in check mode the one that would be added."""
    facts = [
        VersionState(key, version.state.name, version.create_time.timestamp())
        for key, version in versions.items()
    ]
    if outcome.version is not None:
        facts = _corrected(facts, int(outcome.version))
    if dry_run and any(map(adds_version, outcome.actions)):
        facts.append(VersionState(max(versions, default=0) + 1, "ENABLED", now))
    return facts


def apply_retention(
    client: SecretManagerClient,
    name: str,
    rule: Retention,
    outcome: Outcome,
    deadline: Deadline,
    *,
    dry_run: bool,
) -> None:
    """Disable and destroy what the rule says, after the secret holds what it should.

    What this run may not do is a warning: the secret is right, and nobody has to wait for its old versions.

    :param name: the secret's full resource name.
    :param dry_run: check mode; what ``outcome`` foresees is taken into account.
    """
    if dry_run and "created" in outcome.actions:
        return
    try:
        versions = {int(version_number(version.name)): version for version in client.versions(name, deadline)}
    except PermissionDenied as error:
        outcome.warnings.append(f"old versions were left as they are: {error}")
        return
    except NotFound:
        # The secret is so new that the list, which may be old, does not know it.
        return
    now = time.time()
    facts = _facts(versions, outcome, now, dry_run)
    denied: dict[str, tuple[PermissionDenied, list[int]]] = {}
    for key, verb in plan_retention(facts, rule, now):
        if verb in denied:
            # Who may not do it to one version may not do it to the others.
            denied[verb][1].append(key)
            continue
        done = f"version {key} {verb}{'d' if verb.endswith('e') else 'ed'}"
        before, after = ("ENABLED", "DISABLED") if verb == "disable" else ("DISABLED", "DESTROYED")
        if dry_run:
            outcome.did(done)
            outcome.differs(f"version {key}", before, after)
            continue
        try:
            client.set_state(f"{name}/versions/{key}", versions[key].etag, verb, deadline)
        except FailedPrecondition:
            # Another client changed that version since: the next run will look again.
            outcome.warnings.append(f"version {key} changed meanwhile and was left alone")
            continue
        except PermissionDenied as error:
            denied[verb] = (error, [key])
            continue
        outcome.did(done)
        outcome.differs(f"version {key}", before, after)
        outcome.settle()
        note(outcome, f"{verb}-secret-version", f"Old version: {verb}", version=str(key))
    for verb, (refusal, keys) in denied.items():
        which = f"version{'s' if len(keys) > 1 else ''} {', '.join(map(str, keys))}"
        outcome.warnings.append(f"this run could not {verb} {which}: {refusal}")
