# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Decides which old versions of a secret are removed, without I/O, and removes them."""

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
    """The facts of a version for the decision.

    :param created: seconds since the epoch.
    :param state: ``ENABLED``, ``DISABLED`` or ``DESTROYED``.
    """

    number: int
    state: str
    created: float


@dataclass(frozen=True)
class Retention:
    """How many versions stay, and what happens to the others.

    :param keep: how many of the newest enabled versions stay unchanged, at least 1.
    :param disable: whether older enabled ones are disabled.
    :param destroy_after: seconds after which a disabled, superseded version is destroyed; None for never.
    """

    keep: int
    disable: bool = True
    destroy_after: float | None = None


def plan_retention(versions: Sequence[VersionState], rule: Retention, now: float) -> list[tuple[int, str]]:
    """Return ``(number, "disable" | "destroy")`` for each version that has to change.

    Only versions older than the kept ones are touched. An enabled version is first disabled. A later run
    destroys it once ``destroy_after`` has passed since its successor was created, which is when it stopped
    being in use.
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
    """Correct a possibly stale list by what is known: the newest enabled version.

    Otherwise the version in use could be disabled because of a newer one that is no longer enabled.
    """
    known = {version.number: version for version in versions}
    for version in versions:
        if version.number > newest and version.state == "ENABLED":
            known[version.number] = replace(version, state="DISABLED")
    known[newest] = replace(known.get(newest, VersionState(newest, "ENABLED", time.time())), state="ENABLED")
    return list(known.values())


def _facts(versions: Mapping[int, Any], outcome: Outcome, now: float, dry_run: bool) -> list[VersionState]:
    """Return the versions with their states, and in check mode the one that would be added."""
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
    """Disable and destroy versions as the rule says, after the secret holds the wanted content.

    A missing permission is a warning: the secret is right, and old versions can wait.

    :param name: the secret's full resource name.
    :param dry_run: check mode; predicted changes in ``outcome`` are taken into account.
    """
    if dry_run and "created" in outcome.actions:
        return
    try:
        versions = {int(version_number(version.name)): version for version in client.versions(name, deadline)}
    except PermissionDenied as error:
        outcome.warnings.append(f"old versions were not changed: {error}")
        return
    except NotFound:
        # The secret is so new that the list, which may be stale, does not know it.
        return
    now = time.time()
    facts = _facts(versions, outcome, now, dry_run)
    denied: dict[str, tuple[PermissionDenied, list[int]]] = {}
    for key, verb in plan_retention(facts, rule, now):
        if verb in denied:
            # A permission that is missing for one version is missing for all.
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
            # Another client changed that version since: the next run looks again.
            outcome.warnings.append(f"version {key} changed meanwhile and was not touched")
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
