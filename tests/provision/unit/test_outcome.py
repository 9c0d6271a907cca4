# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A target's result shows actions, registries and keyed digests, and no secret value."""

from __future__ import annotations

import json
from time import gmtime, strftime
from types import SimpleNamespace

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.dockerconfig import DockerConfig, load
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model import outcome as outcome_module
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import Unavailable
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.outcome import Journal, Outcome

_KEY = b"example-digest-key"


def _config(**auths: str) -> DockerConfig:
    return load(
        json.dumps({"auths": {f"{name}.example": {"auth": auth} for name, auth in auths.items()}}).encode()
    )


_ONE, _TWO = "ZXhhbXBsZTpvbmU=", "ZXhhbXBsZTp0d28="


def test_an_action_is_told_once() -> None:
    outcome = Outcome("c", "place")
    assert not outcome.result(_KEY)["changed"]
    outcome.did("created")
    outcome.did("created")
    assert outcome.result(_KEY)["changed"]
    assert outcome.result(_KEY)["actions"] == ["created"]


def test_a_new_start_forgets_what_was_not_written() -> None:
    outcome = Outcome("c", "place")
    outcome.did("intended")
    assert outcome.written is False
    outcome.restart()
    assert outcome.result(_KEY)["actions"] == []
    assert outcome.result(_KEY)["changed"] is False

    outcome.did("created")
    outcome.settle()
    outcome.did("intended")
    outcome.restart()
    assert outcome.actions == ["created"]
    assert outcome.changed
    assert outcome.written


def test_a_result_has_a_digest_that_depends_on_the_key_and_not_on_the_spelling() -> None:
    first = Outcome("c", "place", after=_config(a=_ONE, b=_TWO))
    second = Outcome("c", "place", after=_config(b=_TWO, a=_ONE))
    assert first.result(_KEY)["digest"] == second.result(_KEY)["digest"]
    assert first.result(_KEY)["digest"] != first.result(b"other")["digest"]
    assert "digest" not in Outcome("c", "place").result(_KEY)


def test_a_diff_marks_credentials_and_shows_no_value() -> None:
    outcome = Outcome("c", "place", before=_config(a=_ONE, b=_ONE), after=_config(a=_TWO, b=_ONE, d=_TWO))
    diff = outcome.diff(_KEY)
    assert "registry a.example (credential differs)\n" in diff["before"]
    assert "registry a.example (credential differs)\n" in diff["after"]
    assert "registry b.example\n" in diff["before"]
    assert "registry d.example\n" in diff["after"]
    assert "registry d.example\n" not in diff["before"]
    assert _ONE not in str(diff)
    assert _TWO not in str(diff)


def test_what_is_created_and_what_is_deleted_have_a_diff() -> None:
    config = _config(a=_ONE)
    created = Outcome("c", "place", after=config).diff(_KEY)
    assert created["before"] == ""
    assert "registry a.example" in created["after"]
    deleted = Outcome("c", "place", before=config, metadata_before={"label x": "1"}).diff(_KEY)
    assert deleted["before"].startswith("label x: 1\ndigest: ")
    assert deleted["after"] == ""
    assert Outcome("c", "place").diff(_KEY)["before"] == ""


def test_a_journal_keeps_operations_and_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    now = iter([10.0, 10.25, 11.0])
    monkeypatch.setattr(
        outcome_module, "time", SimpleNamespace(monotonic=lambda: next(now), strftime=strftime, gmtime=gmtime)
    )
    journal = Journal("gcp-secret-manager")
    journal.note("create-secret", "Created secret s")
    journal.retry(1, 2.0, Unavailable("UNAVAILABLE: GetSecret"))
    first, second = journal.entries
    assert (first["level"], first["operation"], first["duration_ms"]) == ("info", "create-secret", 250)
    assert first["phase"] == "gcp-secret-manager"
    assert (second["level"], second["operation"], second["duration_ms"]) == ("warn", "retry", 750)
    assert second["message"] == "try 1 failed, next in 2.0 s: UNAVAILABLE: GetSecret"
    assert journal.retries == 1
