# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from pathlib import Path

import pytest

from tests.node.unit.support import Place


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)
