# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Errors of the directory that holds the directories of runs."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from ansible_collections.hyperfleet.pull_secret.extensions.eda.receiving.run_directories import RunDirectories
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import ConfigurationError


def test_a_directory_that_cannot_be_made_is_a_configuration_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigurationError, match=r"run_dir .*/file/runs: Not a directory\Z"):
        RunDirectories(tmp_path / "file" / "runs").open()


def test_a_docker_config_in_its_place_is_not_quoted(tmp_path: Path) -> None:
    entry = base64.b64encode(b"robot:example-password").decode()
    text = base64.b64encode(b'{"auths": {"quay.io": {"auth": "%s"}}}' % (entry.encode() * 10)).decode()
    with pytest.raises(ConfigurationError, match=r"\Arun_dir \(path not shown\): File name too long\Z"):
        RunDirectories(tmp_path / text).open()
