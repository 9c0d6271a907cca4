# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rows of hosted clusters in a report."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.hosted import hosted_rows


@pytest.mark.parametrize("identity", [{}, [], ["cls-1"], 7, None, ""])
def test_a_cluster_with_an_invalid_id_has_a_row_that_says_so(identity: Any) -> None:
    (row,) = hosted_rows([{"cluster_id": identity}], {"targets": []})
    assert (row["cluster"], row["failed"], row["kind"]) == ("cluster 1", True, "configuration")
