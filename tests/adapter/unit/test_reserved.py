# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Every variable that the Job's program reads is either set by the adapter or left to operators."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import ConfigurationError
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.adapter.config.config import (
    parse_adapter_config,
)
from tests.support.adapter_jobs.documents import job

UTILS = Path(__file__).parents[3] / "plugins" / "module_utils"
# The modules of the program that read variables; the libraries' own variables are not included.
FILES = [
    *sorted((UTILS / "programs" / "job").glob("*.py")),
    UTILS / "model" / "cluster.py",
    UTILS / "workflows" / "provision" / "environment.py",
    UTILS / "clients" / "kubernetes" / "pod.py",
    *(UTILS / "clients" / "google" / f"{name}.py" for name in ("auth", "plain", "metadata")),
]
# Operators set these to choose another login or metadata server (page *The job contract*).
OPERATORS = {
    "GCE_METADATA_HOST",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "HTTPS_PROXY",
    "KUBECONFIG",
    "SECRET_MANAGER_EMULATOR_HOST",
    "https_proxy",
}
# Not variables: status codes of Google, and names in an __all__.
_NONE = {"DATA_LOSS", "NO_JSON", "CLUSTER_KEYS", "WITHOUT_FLAG"}
_VARIABLE = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)+\Z|KUBECONFIG\Z|https_proxy\Z")


def read() -> set[str]:
    """The variables that the program reads: all strings that look like one."""
    return {
        node.value
        for path in FILES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and _VARIABLE.match(node.value)
    } - _NONE


def refuses(name: str) -> bool:
    try:
        parse_adapter_config(job(env=[{"name": name, "value": "x"}]))
    except ConfigurationError as error:
        return str(error) == f"spec.jobTemplate.env[0]: the adapter sets {name} itself; remove this entry"
    return False


def test_the_program_s_names_are_found() -> None:
    assert len(read()) > 18
    assert {"CLUSTER_ID", "PULL_SECRET_DATA", "TERMINATION_MESSAGE_PATH"} | OPERATORS <= read()


@pytest.mark.parametrize("name", sorted(read()))
def test_what_the_program_reads_is_the_adapters_or_an_operators(name: str) -> None:
    assert refuses(name) is (name not in OPERATORS)
