# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""On another machine a task sends its targets in chunks. The chunks' results become the result of one batch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.action.k8s_pull_secret import ActionModule
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import ConfigurationError
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.summary import whole
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import dockerconfig_merge
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks.entry import validated
from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils import batch_action


def result(target: dict[str, Any]) -> dict[str, Any]:
    number = int(target["id"].partition("-")[2])
    failed = {"failed": True, "kind": "not_found", "msg": "is not there"} if number % 100 == 7 else {}
    return {"id": f"cls-{number}", "place": f"place-{number}", "changed": number % 10 == 1, **failed}


def target(number: int) -> dict[str, Any]:
    return {"id": f"cls-{number}", "namespace": "ns", "name": f"secret-{number}", "source": {"env": "A"}}


TARGETS = [target(number) for number in range(450)]


class Chunked(ActionModule):
    """An action whose module runs in this process; the chunk with the target ``breaks_at`` fails."""

    def __init__(self, breaks_at: int | None = None) -> None:
        self.sizes: list[int] = []
        self._breaks_at = breaks_at

    def _execute(self, arguments: dict[str, Any], task_vars: Any) -> dict[str, Any]:
        targets = arguments["targets"]
        self.sizes.append(len(targets))
        if targets[0] == TARGETS[self._breaks_at or 0] and self._breaks_at:
            return {"failed": True, "msg": "the connection is gone", "changed": False}
        return whole([result(target) for target in targets], [f"diff from {targets[0]['id']}"])


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    lines: list[str] = []
    monkeypatch.setattr(batch_action._display, "display", lines.append)
    return lines


def test_chunks_are_told_as_one_batch(shown: list[str]) -> None:
    action = Chunked()
    told = action._run_chunks({"targets": TARGETS}, TARGETS, {})
    assert action.sizes == [200, 200, 50]
    assert told == whole(
        [result(target) for target in TARGETS], ["diff from cls-0", "diff from cls-200", "diff from cls-400"]
    )
    assert told["summary"] == {"total": 450, "changed": 45, "failed": 5}
    assert told["msg"] == (
        "5 of 450 targets failed: cls-7: is not there; cls-107: is not there; cls-207: is not there; "
        "cls-307: is not there; cls-407: is not there"
    )
    assert [line.partition(": ")[2] for line in shown] == [
        "200/450 (2 failed)",
        "400/450 (4 failed)",
        "450/450 (5 failed)",
    ]


def test_what_was_done_before_a_chunk_broke_is_told(shown: list[str]) -> None:
    told = Chunked(breaks_at=200)._run_chunks({"targets": TARGETS}, TARGETS, {})
    assert (told["failed"], told["msg"], told["changed"]) == (True, "the connection is gone", True)
    assert [target["id"] for target in told["targets"]] == [f"cls-{number}" for number in range(200)]
    assert [target["id"] for target in told["failed_targets"]] == ["cls-7", "cls-107"]
    assert told["diff"] == ["diff from cls-0"]
    assert "summary" not in told


def test_more_failures_than_are_named_are_counted() -> None:
    told = whole([result(target(100 * hundred + 7)) for hundred in range(7)])
    assert told["msg"].endswith("cls-407: is not there; and 2 more in failed_targets")
    assert len(told["failed_targets"]) == 7


@pytest.mark.parametrize(
    ("again", "said"),
    [
        ({"id": "cls-3"}, "targets 4 and 450 have the same id cls-3"),
        (
            {"name": "secret-3"},
            (
                "targets 4 and 450 are both namespaces/ns/secrets/secret-3; "
                "correct the name in one of them, or remove it"
            ),
        ),
    ],
)
def test_two_chunks_do_not_write_one_secret(again: dict[str, str], said: str) -> None:
    targets = [*TARGETS[:-1], {**TARGETS[-1], **again}]
    action = Chunked()
    told = action._run_chunks({"targets": targets}, targets, {})
    assert (told["failed"], told["msg"]) == (True, said)
    assert action.sizes == [], "no chunk must run"


def test_files_elsewhere_are_told_apart_by_their_names(tmp_path: Path) -> None:
    """A link on this machine says nothing about the other machine, and ``..`` may lead anywhere."""
    (tmp_path / "link").symlink_to(tmp_path / "there")

    def wanted(*paths: str) -> dict[str, Any]:
        targets = [
            {"id": f"cls-{number}", "dest": path, "source": {"env": "A"}} for number, path in enumerate(paths)
        ]
        return validated(dockerconfig_merge.target_options, {"targets": targets})

    linked = wanted(f"{tmp_path}/link", f"{tmp_path}/there")
    assert len(dockerconfig_merge.targets_elsewhere(linked)) == 2
    with pytest.raises(ConfigurationError, match="targets 1 and 2 are both file:"):
        dockerconfig_merge.targets_of(linked)
    assert len(dockerconfig_merge.targets_elsewhere(wanted("/x/link/../f", "/x/f"))) == 2
    with pytest.raises(ConfigurationError, match="targets 1 and 2 are both file:"):
        dockerconfig_merge.targets_elsewhere(wanted("//x/./f", "/x/f"))
