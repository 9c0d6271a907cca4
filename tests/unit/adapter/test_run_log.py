# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whom a run's worker takes for gone."""

from __future__ import annotations

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils import run_log


@pytest.mark.parametrize(("by", "there"), [(1, True), (2, False), (None, True)])
def test_who_cannot_look_takes_nobody_for_gone(
    monkeypatch: pytest.MonkeyPatch, by: int | None, there: bool
) -> None:
    """Where all files that may be open are, an ansible-playbook that is well is not killed."""
    monkeypatch.setattr(run_log, "_parent", lambda _pid: 1)
    asker = run_log.Asker("a-run")
    monkeypatch.setattr(run_log, "_parent", lambda _pid: by)
    assert asker.is_there() is there
