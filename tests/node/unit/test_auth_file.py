# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Mode, owner and SELinux label of kubelet's file, and its replacement."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import (
    NotFound,
    PermissionDenied,
    PullSecretError,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.kubelet import auth_file
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime import atomic_file
from tests.node.unit.support import Place, config

LABEL = b"system_u:object_r:kubelet_var_lib_t:s0\0"


@pytest.fixture
def label(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """The extended attribute that stands for the label: SELinux' own, or a user attribute where that cannot
    be set.
    """
    probe = tmp_path / "probe"
    probe.touch()
    for name in (atomic_file.LABEL, "user.selinux"):
        try:
            os.setxattr(probe, name, LABEL)
        except OSError:
            continue
        probe.unlink()
        monkeypatch.setattr(atomic_file, "LABEL", name)
        return name
    # No file system here supports attributes; a table replaces them.
    table: dict[int, bytes] = {}

    def inode(path: str | int) -> int:
        return os.fstat(path).st_ino if isinstance(path, int) else os.stat(path).st_ino

    def get(path: str | int, _name: str) -> bytes:
        if inode(path) not in table:
            raise OSError
        return table[inode(path)]

    probe.unlink()
    monkeypatch.setattr(os, "getxattr", get)
    monkeypatch.setattr(os, "setxattr", lambda path, _name, value: table.update({inode(path): value}))
    return atomic_file.LABEL


def test_the_label_is_kept_and_restored(place: Place, label: str) -> None:
    place.put({"auths": {}})
    os.setxattr(str(place.path), label, LABEL)
    place.systemd.script = ["failed"] * 3
    place.systemd.on_restart = lambda _number: labels.append(os.getxattr(str(place.path), label))
    labels: list[bytes] = []
    place.sync().apply(config(quay_io="new"))
    assert labels == [LABEL] * 4
    assert os.getxattr(str(place.path), label) == LABEL


def test_a_label_that_cannot_be_kept_is_an_error(
    place: Place, label: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.put({"auths": {}})
    os.setxattr(str(place.path), label, LABEL)

    def refused(*_arguments: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "setxattr", refused)
    before = place.path.read_bytes()
    with pytest.raises(PermissionDenied, match="cannot be written: Operation not permitted"):
        auth_file.write(str(place.path), b"{}", auth_file.read(str(place.path)))
    assert place.path.read_bytes() == before
    assert place.beside() == ["config.json"]


def test_what_was_removed_meanwhile_is_restored_with_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_bytes(b"{}")
    path.chmod(0o640)
    found = auth_file.read(str(path))
    path.unlink()
    auth_file.restore_snapshot(str(path), found)
    assert path.read_bytes() == b"{}"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    auth_file.restore_snapshot(str(path), auth_file.ABSENT)
    auth_file.restore_snapshot(str(path), auth_file.ABSENT)
    assert not path.exists()


def test_a_missing_directory_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"/config\.json: its directory does not exist"):
        auth_file.read(str(tmp_path / "nowhere" / "config.json"))
    # Not one of our own files beside it, which are read first.
    with pytest.raises(NotFound, match=r"/config\.json: its directory does not exist"):
        Place(tmp_path / "nowhere").sync().apply(config(quay_io="new"))


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (errno.ENOENT, "not_found"),
        (errno.ENOTDIR, "not_found"),
        (errno.EROFS, "file_system"),
        (errno.ENOSPC, "file_system"),
        (errno.EACCES, "permission_denied"),
        (errno.ENAMETOOLONG, "configuration"),
        (errno.ETIMEDOUT, "timeout"),
    ],
)
def test_each_cause_has_its_kind_and_names_the_users_path(
    place: Place, monkeypatch: pytest.MonkeyPatch, number: int, kind: str
) -> None:
    opened = os.open

    def refuse(path: str, flags: int, *more: int) -> int:
        if flags & os.O_CREAT:
            raise OSError(number, os.strerror(number), path)
        return opened(path, flags, *more)

    monkeypatch.setattr(os, "open", refuse)
    sync = place.sync(restart="never")
    for work in (
        lambda: sync.apply(config(quay_io="new")),
        lambda: auth_file.write(str(place.path), b"{}", auth_file.ABSENT),
    ):
        with pytest.raises(PullSecretError) as caught:
            work()
        said = f"file:{place.path} cannot be written: {os.strerror(number)}"
        assert (caught.value.kind, caught.value.message) == (kind, said)


def test_the_owner_is_kept_and_restored(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[tuple[int, int]] = []
    monkeypatch.setattr(os, "fchown", lambda _handle, uid, gid: given.append((uid, gid)))
    auth_file.write(str(place.path), b"{}", auth_file.Snapshot(b"old", 0o600, 12, 34))
    auth_file.restore_snapshot(str(place.path), auth_file.Snapshot(b"old", 0o600, 56, 78))
    assert given == [(12, 34), (56, 78)]


def test_a_file_that_would_change_its_owner_is_left_alone(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Root without capabilities gets this error. No temporary file may be left either."""
    place.put({"auths": {}})
    before = place.path.read_bytes()
    monkeypatch.setattr(auth_file, "_may_chown", lambda: False)
    monkeypatch.setattr(os, "getegid", lambda: place.path.stat().st_gid + 1)
    with pytest.raises(PermissionDenied, match=r"is owned by \d+:\d+ and was not changed"):
        place.sync().apply(config(quay_io="new"))
    assert place.path.read_bytes() == before
    assert [path.name for path in place.path.parent.iterdir()] == [place.path.name]


def test_whether_owners_may_be_changed_is_what_the_kernel_says() -> None:
    effective = next(
        line.split()[1]
        for line in Path("/proc/self/status").read_text().splitlines()
        if line.startswith("CapEff:")
    )
    assert auth_file._may_chown() is (int(effective, 16) & 1 == 1)
