# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The option ``dest``: the file that a merge writes."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import ConfigurationError
from tests.dockerconfig.integration.conftest import Run
from tests.support.docker_configs import docker_config

ONE = docker_config(quay_io="one")
TWO = docker_config(quay_io="two")


@pytest.fixture
def dest(tmp_path: Path) -> Path:
    return tmp_path / "config.json"


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def content(path: Path) -> Any:
    return json.loads(path.read_text())


def test_a_new_file_is_for_its_owner_only(run: Run, dest: Path) -> None:
    old = os.umask(0)
    try:
        result = run(source={"inline": ONE}, dest=str(dest))
    finally:
        os.umask(old)
    assert result["targets"][0]["actions"] == ["created"]
    assert result["targets"][0]["place"] == f"file:{dest}"
    assert content(dest) == ONE
    assert mode(dest) == 0o600
    assert os.listdir(dest.parent) == [dest.name]


def test_the_second_run_touches_nothing(run: Run, dest: Path) -> None:
    run(source={"inline": ONE}, dest=str(dest))
    before = dest.stat()
    result = run(source={"inline": json.dumps(ONE, indent=7)}, dest=str(dest))
    after = dest.stat()
    assert result["changed"] is False
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_a_change_replaces_the_file_and_keeps_its_mode(run: Run, dest: Path) -> None:
    run(source={"inline": ONE}, dest=str(dest), mode="0640")
    assert mode(dest) == 0o640
    before = dest.stat().st_ino
    result = run(source={"inline": TWO}, dest=str(dest))
    assert result["targets"][0]["actions"] == ["updated"]
    assert (content(dest), mode(dest)) == (TWO, 0o640)
    assert dest.stat().st_ino != before, "the file must be replaced by a new one"


def test_only_the_mode_changes(run: Run, dest: Path) -> None:
    run(source={"inline": ONE}, dest=str(dest), mode="0640")
    before = dest.stat().st_ino
    result = run(source={"inline": ONE}, dest=str(dest), mode="0600")
    assert result["targets"][0]["actions"] == ["mode changed"]
    assert (mode(dest), dest.stat().st_ino) == (0o600, before)
    assert run(source={"inline": ONE}, dest=str(dest), mode="0600")["changed"] is False


@pytest.mark.parametrize("wrong", ["0644", "0602", "rw", "99", "01777"])
def test_a_mode_that_is_too_open_or_invalid_is_refused(run: Run, dest: Path, wrong: str) -> None:
    result = run(source={"inline": ONE}, dest=str(dest), mode=wrong)
    assert result["failed_targets"][0]["kind"] == "configuration"
    assert "mode" in result["msg"]
    assert not dest.exists()


def test_a_broken_file_is_repaired(run: Run, dest: Path) -> None:
    dest.write_text('{"auths": {"quay.io"')
    assert run(source={"inline": ONE}, dest=str(dest))["targets"][0]["actions"] == ["updated"]
    assert content(dest) == ONE


def test_an_invalid_source_leaves_the_file(run: Run, dest: Path) -> None:
    run(source={"inline": ONE}, dest=str(dest))
    assert "failed" in run(source={"inline": "{"}, dest=str(dest))
    assert content(dest) == ONE


def test_a_link_that_may_be_followed_stays_a_link(run: Run, dest: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    real = tmp_path / "elsewhere" / "real.json"
    dest.symlink_to(real)
    options: dict[str, Any] = {"dest": str(dest), "follow": True}
    for config, action in ((ONE, "created"), (TWO, "updated")):
        assert run(source={"inline": config}, **options)["targets"][0]["actions"] == [action]
        assert dest.is_symlink()
        assert content(real) == config
        assert mode(real) == 0o600
    assert os.listdir(real.parent) == [real.name]
    assert run(**options, state="absent")["targets"][0]["actions"] == ["deleted"]
    assert not real.exists(), "the target of the link must be deleted too"
    assert run(**options, state="absent")["changed"] is False
    assert run(source={"inline": ONE}, **options)["targets"][0]["actions"] == ["created"]


@pytest.mark.parametrize("check_mode", [False, True])
@pytest.mark.parametrize("state", ["present", "absent"])
@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("there", [ONE, "kept", None], ids=["docker config", "other", "dangling"])
def test_a_link_is_not_followed_without_follow(
    run: Run, dest: Path, tmp_path: Path, there: Any, state: str, force: bool, check_mode: bool
) -> None:
    """The task does not name the target of the link, and ``force`` is only about the content."""
    real = tmp_path / "real"
    if there is not None:
        real.write_text(there if isinstance(there, str) else json.dumps(there))
    dest.symlink_to(real)
    before = real.read_text() if real.exists() else None
    options: dict[str, Any] = {"dest": str(dest), "state": state, **({"force": True} if force else {})}
    result = run(source={"inline": TWO}, **options, check_mode=check_mode)
    assert result["failed_targets"][0]["kind"] == "ownership"
    assert f"file:{dest} is a symbolic link" in result["msg"]
    assert "follow: true" in result["msg"]
    assert result["changed"] is False
    assert dest.is_symlink()
    assert (real.read_text() if real.exists() else None) == before


def test_a_link_to_the_directory_is_followed(run: Run, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    dest = tmp_path / "link" / "config.json"
    assert run(source={"inline": ONE}, dest=str(dest))["targets"][0]["actions"] == ["created"]
    assert run(dest=str(dest), state="absent")["targets"][0]["actions"] == ["deleted"]
    assert os.listdir(tmp_path / "real") == []


OTHERS = {
    "empty": "",
    "blank": "\n",
    "text": "127.0.0.1 localhost\n",
    "an empty object": "{}",
    "another program's": '{"credsStore": "desktop", "users": {"auths": {}}}',
    "written into": '{"auths": {}, "apiVersion": "kubelet.config.k8s.io/v1", "kind": "KubeletConfiguration"}',
    "a list": '[{"auths": {}}]',
    "a string": '"auths"',
    "YAML": "auths: {}\n",
    "a private key": "-----BEGIN EXAMPLE KEY-----\n",
    "deep": "[" * 100_000,
}
SEEMS = {
    "another program's": "seems to be a kubeconfig, not",
    "written into": "seems to be a KubeletConfiguration, not",
}
DOCKER_CONFIGS = {
    "empty": '{"auths": {}}',
    "null": '{"auths": null}',
    "wrong": '{"auths": {"quay.io": {"auth": "!"}}, "more": 1}',
    "another case": '{"Auths": {}}',
    "repeated": '{"auths": {}, "auths": {}}',
    "cut off": ' {\n "auths": {"quay.io": {"aut',
}


@pytest.mark.parametrize("check_mode", [False, True])
@pytest.mark.parametrize("state", ["present", "absent"])
@pytest.mark.parametrize("name", OTHERS)
def test_a_file_that_is_no_docker_config_is_left_alone(
    run: Run, dest: Path, name: str, state: str, check_mode: bool
) -> None:
    dest.write_text(OTHERS[name])
    dest.chmod(0o644)
    result = run(source={"inline": ONE}, dest=str(dest), state=state, check_mode=check_mode, diff=True)
    assert result["failed_targets"][0]["kind"] == "ownership"
    assert f"file:{dest} {SEEMS.get(name, 'is not')} a docker config" in result["msg"]
    assert "force: true" in result["msg"]
    assert (result["changed"], result.get("diff")) == (False, None)
    assert (dest.read_text(), mode(dest)) == (OTHERS[name], 0o644)


@pytest.mark.parametrize("name", OTHERS)
def test_force_replaces_and_deletes_it(run: Run, dest: Path, name: str) -> None:
    dest.write_text(OTHERS[name])
    for check_mode in (True, False):
        result = run(source={"inline": ONE}, dest=str(dest), force=True, check_mode=check_mode)
        assert result["targets"][0]["actions"] == ["updated"]
    assert content(dest) == ONE
    dest.write_text(OTHERS[name])
    for check_mode in (True, False):
        result = run(dest=str(dest), state="absent", force=True, check_mode=check_mode)
        assert result["targets"][0]["actions"] == ["deleted"]
    assert os.listdir(dest.parent) == []


@pytest.mark.parametrize("name", DOCKER_CONFIGS)
def test_a_docker_config_is_replaced_and_deleted_right_or_wrong(run: Run, dest: Path, name: str) -> None:
    dest.write_text(DOCKER_CONFIGS[name])
    assert run(source={"inline": ONE}, dest=str(dest))["targets"][0]["actions"] == ["updated"]
    dest.write_text(DOCKER_CONFIGS[name])
    assert run(dest=str(dest), state="absent")["targets"][0]["actions"] == ["deleted"]
    assert not dest.exists()


def test_the_diff_of_what_is_deleted_names_its_registries(run: Run, dest: Path) -> None:
    run(source={"inline": ONE}, dest=str(dest))
    (diff,) = run(dest=str(dest), state="absent", check_mode=True, diff=True)["diff"]
    assert "registry quay.io" in diff["before"]
    assert diff["after"] == ""


def test_a_missing_directory(run: Run, tmp_path: Path) -> None:
    result = run(source={"inline": ONE}, dest=str(tmp_path / "absent" / "config.json"))
    assert result["failed_targets"][0]["kind"] == "not_found"
    assert "directory does not exist" in result["msg"]
    assert os.listdir(tmp_path) == []


def test_a_directory_in_its_place(run: Run, dest: Path) -> None:
    dest.mkdir()
    result = run(source={"inline": ONE}, dest=str(dest))
    assert str(dest) in result["msg"]
    assert "failed" in result


def test_a_directory_that_cannot_be_written(run: Run, dest: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Use a path below a file of /proc, because root cannot write there either."""
    result = run(source={"inline": ONE}, dest="/proc/self/config.json")
    assert result["failed_targets"][0]["kind"] in ("permission_denied", "not_found")
    assert "/proc/self/config.json" in result["msg"]
    assert "example-password" not in json.dumps(result)


def test_absent(run: Run, dest: Path) -> None:
    run(source={"inline": ONE}, dest=str(dest))
    assert run(dest=str(dest), state="absent", check_mode=True)["changed"] is True
    assert dest.exists()
    assert run(dest=str(dest), state="absent")["targets"][0]["actions"] == ["deleted"]
    assert os.listdir(dest.parent) == []
    assert run(dest=str(dest), state="absent")["changed"] is False
    assert run(state="absent")["failed_targets"][0]["kind"] == "configuration"


@pytest.mark.parametrize("there", [None, ONE, TWO])
def test_check_mode_predicts(run: Run, dest: Path, there: Any) -> None:
    if there:
        run(source={"inline": there}, dest=str(dest))
    before = sorted((entry.name, entry.stat().st_mtime_ns) for entry in dest.parent.iterdir())
    params: dict[str, Any] = {"source": {"inline": ONE}, "dest": str(dest), "digest_key": "example-key"}
    predicted = run(**params, check_mode=True, diff=True)
    assert sorted((entry.name, entry.stat().st_mtime_ns) for entry in dest.parent.iterdir()) == before
    made = run(**params, diff=True)
    assert predicted["targets"][0]["actions"] == made["targets"][0]["actions"]
    assert predicted.get("diff") == made.get("diff")
    assert "example-password" not in json.dumps(made)


@pytest.mark.parametrize("state", ["present", "absent"])
def test_a_pipe_is_refused_and_left_alone(run: Run, dest: Path, state: str) -> None:
    """The module never replaces a pipe or a device, and never hangs when it reads one."""
    os.mkfifo(dest)
    result = run(source={"inline": ONE}, dest=str(dest), state=state)
    assert result["failed"]
    assert "not a regular file" in result["msg"]
    assert stat.S_ISFIFO(dest.stat().st_mode)


def test_a_pipe_as_the_source_does_not_hang(run: Run, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    result = run(source={"file": str(tmp_path / "pipe")})
    assert result["failed"]
    assert "not a regular file" in result["msg"]


def test_a_file_that_everybody_could_read_is_closed(run: Run, dest: Path) -> None:
    dest.write_text('{"auths": {}}')
    dest.chmod(0o644)
    assert run(source={"inline": ONE}, dest=str(dest))["changed"]
    assert mode(dest) == 0o640


def test_two_targets_do_not_write_one_file(run: Run, dest: Path, tmp_path: Path) -> None:
    (tmp_path / "link.json").symlink_to(dest)
    targets = [{"id": name, "dest": str(tmp_path / name)} for name in ("config.json", "link.json")]
    with pytest.raises(ConfigurationError, match=r"targets 1 and 2 are both file:.*config\.json"):
        run(source={"inline": ONE}, targets=targets)
    assert not dest.exists()
    nowhere = run(source={"inline": ONE}, targets=[{"id": "a"}, {"id": "b"}])
    assert nowhere["summary"] == {"total": 2, "changed": 0, "failed": 0}
