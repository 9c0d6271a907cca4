# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The task's options become options of each target."""

from __future__ import annotations

from typing import Any

import pytest
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import ConfigurationError
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks.fitting import wrong_targets
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.options import (
    document_options,
    resolve_targets,
    with_targets,
)

_OPTIONS: dict[str, Any] = {
    "id": {"type": "str"},
    "cluster_id": {"type": "str"},
    "state": {"type": "str"},
    "adopt": {"type": "bool"},
    "labels": {"type": "dict"},
    "annotations": {"type": "dict"},
    "restore_version": {"type": "str"},
    **document_options(),
}


def _resolved(**params: Any) -> list[dict[str, Any]]:
    checked = ArgumentSpecValidator(
        with_targets(_OPTIONS), mutually_exclusive=[("source", "layers")]
    ).validate(params)
    assert not checked.error_messages, checked.error_messages
    return resolve_targets(checked.validated_parameters, list(_OPTIONS))


def _sources(target: dict[str, Any]) -> list[str]:
    return [name for name in ("source", "layers", "restore_version") if target.get(name)]


def test_without_a_list_the_task_is_the_target() -> None:
    (target,) = _resolved(cluster_id="c", labels={"a": "1"})
    assert target["cluster_id"] == "c"
    assert target["labels"] == {"a": "1"}
    assert target["state"] == "present"
    assert target["precedence"] == "additional"
    assert target["adopt"] is False


def test_an_empty_list_is_no_target() -> None:
    assert _resolved(targets=[], cluster_id="c") == []


def test_the_tasks_options_are_defaults() -> None:
    first, second = _resolved(
        state="absent",
        adopt=True,
        precedence="original",
        targets=[{"cluster_id": "a"}, {"cluster_id": "b", "state": "present", "adopt": False}],
    )
    assert (first["state"], first["adopt"], first["precedence"]) == ("absent", True, "original")
    assert (second["state"], second["adopt"], second["precedence"]) == ("present", False, "original")


def test_labels_and_annotations_are_merged_key_by_key() -> None:
    first, second = _resolved(
        labels={"a": "1", "b": "1"},
        annotations={"x": "1"},
        targets=[{"cluster_id": "a", "labels": {"b": "2", "c": "2"}}, {"cluster_id": "b"}],
    )
    assert first["labels"] == {"a": "1", "b": "2", "c": "2"}
    assert first["annotations"] == {"x": "1"}
    assert second["labels"] == {"a": "1", "b": "1"}


_LAYERS = [{"name": "one", "source": {"env": "A"}}]


@pytest.mark.parametrize(
    ("task", "target", "left"),
    [
        ({"source": {"env": "A"}}, {}, ["source"]),
        ({"source": {"env": "A"}}, {"layers": _LAYERS}, ["layers"]),
        ({"layers": _LAYERS}, {"source": {"env": "A"}}, ["source"]),
        ({"source": {"env": "A"}}, {"restore_version": "1"}, ["restore_version"]),
        ({"restore_version": "1"}, {"source": {"env": "A"}}, ["source"]),
    ],
)
def test_a_targets_own_source_takes_the_place_of_the_tasks(
    task: dict[str, Any], target: dict[str, Any], left: list[str]
) -> None:
    (resolved,) = _resolved(**task, targets=[{"cluster_id": "a", **target}])
    assert _sources(resolved) == left


def test_a_target_cannot_have_both_a_source_and_layers() -> None:
    checked = ArgumentSpecValidator(with_targets(_OPTIONS)).validate(
        {"targets": [{"cluster_id": "a", "source": {"env": "A"}, "layers": _LAYERS}]}
    )
    assert "mutually exclusive" in " ".join(checked.error_messages)


@pytest.mark.parametrize(
    "targets",
    [
        [{"cluster_id": "a"}, {"cluster_id": "b"}, {"cluster_id": "a"}],
        [{"id": "a"}, {"cluster_id": "b"}, {"id": "a", "cluster_id": "c"}],
        [{"id": "a"}, {"cluster_id": "b"}, {"cluster_id": "a"}],
    ],
)
def test_two_targets_of_one_id(targets: list[dict[str, Any]]) -> None:
    with pytest.raises(ConfigurationError, match="targets 1 and 3 have the same id a"):
        _resolved(targets=targets)


def test_one_cluster_id_for_all_is_noticed() -> None:
    with pytest.raises(ConfigurationError, match="the same id c"):
        _resolved(cluster_id="c", targets=[{}, {}])


def test_a_source_is_one_place() -> None:
    for source in ({}, {"env": "A", "file": "/b"}):
        checked = ArgumentSpecValidator(with_targets(_OPTIONS)).validate({"source": source})
        assert checked.error_messages


def test_an_error_about_the_arguments_says_in_which_targets() -> None:
    spec = with_targets(_OPTIONS)
    targets = [{"id": "a"}, {"id": "b", "labels": 5}, {"cluster_id": "c", "sate": "x"}, "no mapping"]
    assert wrong_targets({"targets": targets}, spec) == "; in targets 2 (b), 3 (c), 4"
    assert wrong_targets({"targets": targets[:1]}, spec) == ""
    assert wrong_targets({"targets": None}, spec) == ""
