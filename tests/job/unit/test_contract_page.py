# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The page *The job contract* names exactly the variables that the job reads."""

from __future__ import annotations

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import ConfigurationError
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.provision import environment
from tests.support import doc_tables

PAGE = doc_tables.page("job_contract")


def test_the_clusters_variables() -> None:
    rows = doc_tables.table(PAGE, "Variable", "Required", "Meaning")
    assert {row[0].strip("`") for row in rows} == set(environment.VARIABLES)


def test_the_required_ones() -> None:
    rows = doc_tables.table(PAGE, "Variable", "Required", "Meaning")
    with pytest.raises(ConfigurationError) as caught:
        environment.read_environment({})
    missing = caught.value.message.partition(": ")[2].split(", ")
    assert [row[0].strip("`") for row in rows if row[1] == "yes"] == missing


def test_the_variables_for_connections_are_on_the_page() -> None:
    rows = doc_tables.table(PAGE, "Variable", "Meaning")
    named = {name for row in rows for name in doc_tables.literals(row[0])}
    assert named == set(environment.SURROUNDINGS)
