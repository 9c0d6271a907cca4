# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a machine needs for real nodes, and the error message when something is missing."""

from __future__ import annotations

import os
import shutil

import pytest

from tests.lab.nodes import needs
from tests.lab.supervisor import LabError
from tests.tools import apt, env


def machine(monkeypatch: pytest.MonkeyPatch, user: int, *commands: str) -> None:
    """Simulate a machine that has only these commands."""

    def which(name: str, path: str | None = None) -> str | None:
        return f"/usr/bin/{name}" if name in commands else None

    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setattr(os, "geteuid", lambda: user)
    monkeypatch.setattr(shutil, "which", which)


def test_a_user_without_root_gets_no_nodes_and_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    machine(monkeypatch, 1000, *apt.PACKAGES, "apt-get")
    assert needs.lacking() == "root on Linux"
    with pytest.raises(LabError, match="root on Linux"):
        needs.provide()


def test_root_without_apt_gets_the_list_of_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    machine(monkeypatch, 0, "nsenter", "ip")
    assert needs.lacking() == "systemd-nspawn, mmdebstrap (or apt-get to install them)"
    with pytest.raises(env.ToolError, match=r"packages are needed: buildah systemd-container$"):
        apt.provide(["systemd-nspawn", "buildah"])


def test_root_with_apt_lacks_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    machine(monkeypatch, 0, "apt-get")
    assert needs.lacking() is None


def test_installed_packages_are_not_installed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    machine(monkeypatch, 1000, *apt.PACKAGES)
    apt.provide(apt.PACKAGES)
    assert apt.missing(apt.PACKAGES) == []
