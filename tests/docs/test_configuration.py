# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The page *Configuration* lists exactly the keys, options and variables that the code has."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.kubernetes import k8s_auth
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.cluster import (
    CLUSTER_KEYS,
    OPTIONS,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.sources import source_spec
from tests.support import doc_tables
from tests.tools.env import ROOT

PAGE = doc_tables.page("configuration")
KEYS = doc_tables.table(PAGE, "Key", "Type", "Default", "Meaning")
RUN = doc_tables.table(PAGE, "Variable", "Type", "Default", "Meaning")
NAMES = doc_tables.table(PAGE, "Cluster key", "``gcp_pull_secret``", "``k8s_pull_secret``", "Job variable")
ENVIRONMENT = doc_tables.table(PAGE, "Variable", "Read by", "Meaning")
# Documented on the job contract's and the syncer's pages, or not meant to be set by users.
ELSEWHERE = {"TERMINATION_MESSAGE_PATH", "GCP_API_TIMEOUT", "TRACEPARENT", "PULL_SECRET_DATA"}
ELSEWHERE |= {"SYNCER_HEALTHZ", "SYNCER_API", "DBUS_SYSTEM_BUS_ADDRESS", "XDG_RUNTIME_DIR"}
ELSEWHERE |= {"GRPC_ENABLE_FORK_SUPPORT"}
SOURCE_SPEC = source_spec()["options"]
TYPES = {"str": "string", "bool": "boolean"}


def test_every_key_of_a_cluster_is_there() -> None:
    assert sorted(row[0].strip("`") for row in KEYS) == sorted(CLUSTER_KEYS)


@pytest.mark.parametrize("key", [key for key in OPTIONS if OPTIONS[key].is_key and OPTIONS[key].spec])
def test_types_are_those_of_the_code(key: str) -> None:
    (row,) = (row for row in KEYS if row[0] == f"``{key}``")
    spec = OPTIONS[key].spec or {}
    said = str(spec["type"])
    assert row[1] == ("list of strings" if said == "list" else TYPES.get(said, said))


def test_other_names_of_a_key_are_those_of_the_code() -> None:
    def shown(name: str | None) -> str:
        return f"``{name}``" if name else ""

    def variable(key: str) -> str | None:
        # The variable for the policy and the one for the locations is the same.
        return OPTIONS["replication_text" if key.startswith("replication_") else key].variable

    wanted = []
    for key, option in OPTIONS.items():
        if option.is_key:
            # The options of a source have the same name everywhere.
            same = key if option.spec is None else None
            names = (key, option.store or same, option.place or same, variable(key))
            wanted.append([shown(name) for name in names])
    assert wanted == NAMES


def _specs() -> dict[str, dict[str, Any]]:
    text = (ROOT / "roles" / "provision" / "meta" / "argument_specs.yml").read_text()
    found: dict[str, dict[str, Any]] = yaml.safe_load(text)["argument_specs"]["main"]["options"]
    return found


def _default(spec: dict[str, Any]) -> str:
    if spec.get("required"):
        return "required"
    value = spec.get("default")
    return (
        "none" if value in ({}, "", None) else f"``{str(value).lower()}``" if value is True else f"{value:g}"
    )


def test_options_of_a_run_are_those_of_the_role() -> None:
    found = {name: (spec["type"], _default(spec)) for name, spec in _specs().items()}
    assert {row[0].strip("`"): (row[1], row[2]) for row in RUN} == found


def test_sources_are_those_of_the_code() -> None:
    rows = doc_tables.table(PAGE, "Source", "Keys", "Reads")
    assert {row[0].strip("`") for row in rows} == set(SOURCE_SPEC)
    for row in rows:
        options = SOURCE_SPEC[row[0].strip("`")].get("options") or {}
        assert set(options) <= set(doc_tables.literals(row[1]))


def test_every_k8s_auth_variable_is_there() -> None:
    wanted = {f"K8S_AUTH_{ending}" for endings in k8s_auth.VARIABLES.values() for ending in endings}
    assert set(re.findall(r"``(K8S_AUTH_[A-Z_]+)``", PAGE)) == wanted | {"K8S_AUTH_PERSIST_CONFIG"}


def test_every_environment_variable_is_there() -> None:
    """The code reads these variables by name."""
    read = set()
    for folder in ("plugins", "extensions"):
        for path in (ROOT / folder).rglob("*.py"):
            found = re.findall(r'environ(?:ment)?(?:\.get\(|\[)"([A-Z][A-Z0-9_]+)"', path.read_text())
            read |= set(found)
    named = {name for row in ENVIRONMENT for name in doc_tables.literals(row[0])}
    assert len(read) > 10
    assert read - ELSEWHERE <= named
