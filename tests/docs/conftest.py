# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lets the asserts of the modules that are no tests themselves say what they compared."""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite("tests.docs.stories", "tests.docs.workflow_steps", "tests.docs.world")
