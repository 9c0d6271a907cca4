# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Local sources: the task itself, a file, an environment variable."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import (
    ConfigurationError,
    NotFound,
    PullSecretError,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.base import Source
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.local import (
    EnvSource,
    FileSource,
    InlineSource,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.retry import Deadline
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.run_settings import RunSettings

VALUE = "example-password"


def read(kind: type[Source], reference: Any) -> bytes:
    return kind(RunSettings()).read(reference, Deadline(5))


def test_inline_text_is_read_as_it_is() -> None:
    assert read(InlineSource, ' {"auths": {}}\n') == b' {"auths": {}}\n'


def test_an_inline_mapping_is_read_as_json() -> None:
    config = {"auths": {"quay.io": {"auth": "ä"}}}
    assert json.loads(read(InlineSource, config)) == config


@pytest.mark.parametrize("wrong", [7, [VALUE], True, {"auths": {VALUE: {1, 2}}}])
def test_an_inline_value_of_another_kind_is_refused_without_being_shown(wrong: Any) -> None:
    with pytest.raises(ConfigurationError) as caught:
        read(InlineSource, wrong)
    assert VALUE not in str(caught.value)


def test_inline_is_described_without_its_value() -> None:
    assert InlineSource(RunSettings()).describe({"auths": {VALUE: {}}}) == "inline"
    assert InlineSource.SPEC["no_log"] is True


def test_a_file_is_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_bytes(b"\xef\xbb\xbf{}\n")
    assert read(FileSource, str(path)) == b"\xef\xbb\xbf{}\n"
    assert FileSource(RunSettings()).describe(str(path)) == f"file:{path}"


@pytest.mark.parametrize("name", ["absent", "absent/deeper"])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, name: str) -> None:
    path = f"{tmp_path}/{name}"
    with pytest.raises(PullSecretError) as caught:
        read(FileSource, path)
    assert isinstance(caught.value, NotFound)
    assert f"file:{path}" in str(caught.value)
    assert caught.value.hint == "check the path on the machine that runs the task"


def test_an_invalid_path_is_refused() -> None:
    with pytest.raises(NotFound, match=r"file:.*cannot be read"):
        read(FileSource, "/nonexistent/nul\0byte")


def test_a_variable_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXAMPLE_CONFIG", "{}")
    assert read(EnvSource, "EXAMPLE_CONFIG") == b"{}"


@pytest.mark.parametrize("value", [None, "", " \n"])
def test_an_unset_and_an_empty_variable_are_missing(
    monkeypatch: pytest.MonkeyPatch, value: str | None
) -> None:
    monkeypatch.delenv("EXAMPLE_CONFIG", raising=False)
    if value is not None:
        monkeypatch.setenv("EXAMPLE_CONFIG", value)
    with pytest.raises(NotFound, match="env:EXAMPLE_CONFIG is not set, or empty"):
        read(EnvSource, "EXAMPLE_CONFIG")
