# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The environment variables and log lines of the job, as pure functions."""

from __future__ import annotations

import json
import re

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import ConfigurationError
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.programs.job.log import render
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.provision.environment import (
    SURROUNDINGS,
    VARIABLES,
    read_environment,
)
from tests.tools.env import ROOT

REQUIRED = {
    "CLUSTER_ID": "cls-123",
    "CLUSTER_NAME": "production-cluster",
    "GCP_PROJECT_ID": "customer-prod-12345",
    "PULL_SECRET_DATA": "kept where it is",
    "MANAGEMENT_NAMESPACE": "clusters-cls-123",
}


def test_defaults_and_derived_names_are_the_contracts() -> None:
    settings = read_environment(REQUIRED)
    cluster = settings.cluster
    assert cluster.secret_name == "hyperfleet-cls-123-pull-secret"
    assert cluster.k8s_secret_name == "cls-123-pull-secret"
    assert (cluster.replication_policy, cluster.replication_locations) == ("automatic", None)
    assert (settings.log_level, settings.log_format, settings.api_timeout) == ("info", "json", 30.0)
    assert "kept where it is" not in repr(settings)


@pytest.mark.parametrize(
    ("text", "trace_id"),
    [
        ("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "4bf92f3577b34da6a3ce929d0e0e4736"),
        ("", None),
        ("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7", None),
        ("00-00000000000000000000000000000000-00f067aa0ba902b7-01", None),
        ('00-"}-00f067aa0ba902b7-01', None),
    ],
)
def test_a_trace_is_logged_and_an_invalid_one_is_ignored(text: str, trace_id: str | None) -> None:
    assert read_environment({**REQUIRED, "TRACEPARENT": text}).trace_id == trace_id


def test_all_missing_variables_are_named_at_once() -> None:
    with pytest.raises(ConfigurationError) as caught:
        read_environment({"CLUSTER_NAME": " "})
    for name in REQUIRED:
        assert name in str(caught.value)


@pytest.mark.parametrize(
    ("text", "seconds"), [("30s", 30), ("1m", 60), ("1m30s", 90), ("500ms", 0.5), ("2.5s", 2.5), ("45", 45)]
)
def test_durations(text: str, seconds: float) -> None:
    assert read_environment({**REQUIRED, "GCP_API_TIMEOUT": text}).api_timeout == seconds


@pytest.mark.parametrize("text", ["soon", "0s", "-1s", "s", "1d", "30 s", "٣s", "٣", "25h", "999999999h"])
def test_an_invalid_duration(text: str) -> None:
    with pytest.raises(ConfigurationError, match="GCP_API_TIMEOUT"):
        read_environment({**REQUIRED, "GCP_API_TIMEOUT": text})


@pytest.mark.parametrize("policy", ["user-managed", "automatic:europe-west1", "everywhere", "user-managed:"])
def test_an_invalid_replication_policy(policy: str) -> None:
    with pytest.raises(ConfigurationError, match="REPLICATION_POLICY"):
        read_environment({**REQUIRED, "REPLICATION_POLICY": policy})


def test_locations_of_a_user_managed_secret() -> None:
    policy = "user-managed: europe-west1, us-east1"
    cluster = read_environment({**REQUIRED, "REPLICATION_POLICY": policy}).cluster
    assert cluster.replication_locations == ["europe-west1", "us-east1"]
    assert cluster.replication_text == policy


def test_an_entry_is_one_json_object() -> None:
    line = render({"message": "a\nb", "version": None, "duration_ms": 3}, level="info", form="json")
    assert line is not None
    assert "\n" not in line
    entry = json.loads(line)
    assert entry["component"] == "pullsecret-job"
    assert entry["duration_ms"] == 3
    assert "version" not in entry


def test_levels_filter() -> None:
    assert render({"level": "info", "message": "m"}, level="warn", form="json") is None
    assert render({"level": "error", "message": "m"}, level="warn", form="json") is not None


@pytest.mark.parametrize(
    "text", ["a\nb", "a\r\n2026-11-21T10:00:00Z ERROR b", "a\x1b[2Jb", "a\u2028b", "a\u202eb", "\udcff"]
)
def test_a_line_of_text_stays_one_line(text: str) -> None:
    line = render({"message": text, "secret_name": text}, level="info", form="text")
    assert line is not None
    assert len(line.splitlines()) == 1
    assert line.isprintable()
    assert "\\" in line


def test_a_value_in_text_is_no_other_field() -> None:
    line = render(
        {"timestamp": "T", "message": "m", "secret_name": "a level=error", "namespace": "b", "place": ""},
        level="info",
        form="text",
    )
    assert line == 'T INFO  m secret_name="a level=error" namespace=b place=""'


def test_the_two_lists_name_all_that_the_job_reads() -> None:
    """Search the sources that the image loads for variables, except those that only nodes have."""
    read = {
        name
        for directory in ("programs/job", "workflows/provision", "clients/kubernetes", "clients/google")
        for path in (ROOT / "plugins" / "module_utils" / directory).rglob("*.py")
        for name in re.findall(r"environ(?:ment)?(?:\.get\(|\[)\"(\w+)\"", path.read_text())
    }
    assert read | set(REQUIRED) <= {*VARIABLES, *SURROUNDINGS}
    assert not set(VARIABLES) & set(SURROUNDINGS)


@pytest.mark.parametrize(
    "text", ["example-value\0", "example\x1bvalue", "example\u202evalue", "\udcff" * 9, "v" * 100_000]
)
@pytest.mark.parametrize(
    "name",
    [
        "CLUSTER_ID",
        "CLUSTER_NAME",
        "GCP_PROJECT_ID",
        "SECRET_NAME",
        "MANAGEMENT_NAMESPACE",
        "K8S_SECRET_NAME",
        "REPLICATION_POLICY",
        "LOG_LEVEL",
        "LOG_FORMAT",
        "GCP_API_TIMEOUT",
    ],
)
def test_a_value_that_is_not_text_is_refused_by_name_and_not_shown(name: str, text: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        read_environment({**REQUIRED, name: text})
    said = str(caught.value)
    assert said.startswith(name)
    assert len(said) < 200
    assert "value" not in said
    assert "vv" not in said
    assert said.isprintable()
