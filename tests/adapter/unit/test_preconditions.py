# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Preconditions in both forms of expressions, and the reasons why they are unmet."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from types import MappingProxyType
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.hyperfleet.statuses import (
    AdapterStatus,
    Condition,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import ConfigurationError
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.adapter.cel.preconditions import (
    DEFAULT_PRECONDITIONS,
    Preconditions,
    UnmetPrecondition,
)

_SECRET = "eyJhdXRocyI6e319-a-pull-secret"


def status(
    name: str, available: str = "True", *, generation: int = 2, reason: str = "AllGood", **data: Any
) -> AdapterStatus:
    said = {
        "Available": Condition("Available", available, reason, "a message"),
        "Applied": Condition("Applied", "True", "JobApplied", ""),
        "Health": Condition("Health", "False", "Ill", ""),
    }
    return AdapterStatus(name, generation, said, data)


CLUSTER: Mapping[str, Any] = MappingProxyType(
    {
        "kind": "Cluster",
        "id": "0198c-1",
        "name": "c-1",
        "generation": 2,
        "labels": {"tier": "gold", "a-b/c": "d"},
        "created_time": "2026-08-20T12:00:00Z",
        "spec": {
            "provider": "gcp",
            "gcp": {"projectId": "p-1"},
            "pullSecret": {"data": _SECRET, "name": "n"},
            "pools": [{"size": 1}, {"size": 3}],
            "nothing": None,
            "on": True,
        },
        "status": {"conditions": [{"type": "Reconciled", "status": "False"}]},
    }
)
STATUSES = MappingProxyType(
    {
        **{name: status(name) for name in ("validation", "dns", "placement")},
        "hyper-shift": status("hyper-shift", namespace="clusters-1"),
    }
)


def reasons(
    expression: str, cluster: Mapping[str, Any] = CLUSTER, statuses: Mapping[str, AdapterStatus] = STATUSES
) -> list[str]:
    return [unmet.reason for unmet in Preconditions([expression]).unmet(cluster, statuses)]


def test_the_contracts_six_preconditions_as_written() -> None:
    assert Preconditions(DEFAULT_PRECONDITIONS).unmet(CLUSTER, STATUSES) == []


def test_all_unmet_preconditions_are_reported_in_order() -> None:
    cluster = {**CLUSTER, "spec": {"provider": "aws", "gcp": {"projectId": None}}}
    statuses = {
        "validation": status("validation", "False", reason="RecordsPending"),
        "dns": status("dns", generation=1),
    }
    assert Preconditions(DEFAULT_PRECONDITIONS).unmet(cluster, statuses) == [
        UnmetPrecondition(DEFAULT_PRECONDITIONS[0], 'spec.provider is not "gcp"'),
        UnmetPrecondition(DEFAULT_PRECONDITIONS[1], "spec.gcp.projectId does not exist"),
        UnmetPrecondition(DEFAULT_PRECONDITIONS[2], "spec.pullSecret.data does not exist"),
        UnmetPrecondition(
            DEFAULT_PRECONDITIONS[3], "adapter validation is not Available (False: RecordsPending)"
        ),
        UnmetPrecondition(
            DEFAULT_PRECONDITIONS[4], "adapter dns reported on generation 1, but the cluster has generation 2"
        ),
        UnmetPrecondition(DEFAULT_PRECONDITIONS[5], "adapter placement has not reported"),
    ]


MET = [
    'status.adapters["dns"].available == "True"',
    "status.adapters['hyper-shift'].available == 'True'",
    'status.adapters[hyper-shift].available == "True"',
    "status.adapters[ dns ] . available == 'True'",
    'cluster.status.adapters[dns].available == "True"',
    "status.adapters.dns.current && status.adapters.dns.observed_generation == 2",
    'status.adapters.dns.applied == "True" && status.adapters.dns.health == "False"',
    'status.adapters.dns.finalized == "Unknown"',
    'status.adapters["hyper-shift"].data.namespace == "clusters-1"',
    '["dns", "placement"].all(x, status.adapters[x].available == "True")',
    'spec.provider in ["gcp", "aws"] && has(spec.gcp.projectId)',
    "has(spec.gcp) && !has(spec.gcp.zone)",
    'spec.gcp.projectId.matches("^p-[0-9]+$")',
    "spec.pullSecret.data != null && size(spec.pullSecret.data) > 0",
    'spec.pullSecret.name == "n"',
    "spec.pools.exists(p, p.size > 2) && spec.pools.all(p, p.size > 0)",
    "spec.pools.exists_one(p, p.size == 3)",
    "spec.nothing == nil && spec.nothing == null",
    "spec.on",
    'status.conditions.exists(c, c.type == "Reconciled" && c.status == "False")',
    'labels.tier == "gold" && labels["a-b/c"] == "d"',
    'metadata.name == "c-1" && metadata.generation == 2 && metadata.labels.tier == "gold"',
    'name == "c-1" && id == "0198c-1" && generation == 2 && generation >= 1.5',
    'cluster.kind == "Cluster" && cluster.spec.provider == "gcp"',
    "timestamp(cluster.created_time) < timestamp('2027-01-01T00:00:00Z')",
    '!has(status.phase) || status.phase != "Ready"',
    "generation > .5 && generation > 1e-5 && generation < 0x1F && 1.5e+3 > 2.0",
    'spec.provider == "gcp" // a comment with "quotes\n && true',
]


@pytest.mark.parametrize("expression", MET)
def test_met(expression: str) -> None:
    assert reasons(expression) == []


UNMET = {
    'spec.provider == "aws"': 'spec.provider is not "aws"',
    'spec.provider != "gcp"': 'spec.provider is "gcp"',
    "spec.zone != nil": "spec.zone does not exist",
    "spec.nothing != null": "spec.nothing does not exist",
    "spec.nothing.more != nil": "spec.nothing.more does not exist",
    "spec.a.b.c == 1": "spec.a.b.c does not exist",
    "has(spec.gcp.zone)": "spec.gcp.zone does not exist",
    "cluster.status.phase != 'Ready'": "cluster.status.phase does not exist",
    "generation > 2": "generation is not more than 2",
    "generation >= 3": "generation is less than 3",
    'labels["tier"] == "silver"': 'labels.tier is not "silver"',
    'spec.on && has(spec.gcp) && spec.provider == "x" && spec.zone == 1': 'spec.provider is not "x"',
    '!has(spec.zone) && spec.provider == "x"': 'spec.provider is not "x"',
    'spec.provider == "x" || spec.provider == "y"': "preconditions[0] is false",
    'spec.provider in ["x"]': "preconditions[0] is false",
    "spec.provider": "preconditions[0] is neither true nor false",
    "spec.provider > 3": "preconditions[0] compares or calls values of the wrong type",
    "spec.pools[0].size > .5 && spec.pools[0].size > 1e+5": "preconditions[0] is false",
    "1 / 0 == 1": "preconditions[0] divides by zero",
    "spec.provider == spec.zone": "spec.zone does not exist",
    'status.adapters[nodes].available == "True"': "adapter nodes has not reported",
    'spec.on && status.adapters["no-des"].data.x == 1': "adapter no-des has not reported",
    "status.adapters.dns.data.zone == 1": "status.adapters.dns.data.zone does not exist",
    (
        '["nodes"].all(x, status.adapters[x].available == "True")'
    ): "preconditions[0] reads a field that does not exist",
    'spec.pullSecret.data.contains("auths")': "preconditions[0] is false",
    "!spec.on": "preconditions[0] is false",
}


@pytest.mark.parametrize(("expression", "reason"), UNMET.items())
def test_unmet(expression: str, reason: str) -> None:
    assert reasons(expression) == [reason]


def test_a_status_of_another_generation_is_not_available() -> None:
    for generation in (1, 3):
        statuses = {"dns": status("dns", generation=generation)}
        told = f"adapter dns reported on generation {generation}, but the cluster has generation 2"
        assert reasons("status.adapters[dns].available == 'True'", statuses=statuses) == [told]
        assert reasons("status.adapters.dns.current", statuses=statuses) == [told]
        assert reasons("status.adapters.dns.applied == 'True'", statuses=statuses) == []


@pytest.mark.parametrize("generation", ["2", [_SECRET], {"a": _SECRET}])
def test_an_invalid_generation_is_not_shown(generation: Any) -> None:
    found = Preconditions((), ["dns"]).unmet({**CLUSTER, "generation": generation}, STATUSES)
    assert [unmet.reason for unmet in found] == [
        "adapter dns reported on generation 2, but the cluster has generation none"
    ]


def test_dependencies_are_held_to_the_generation() -> None:
    statuses = {"dns": status("dns"), "validation": status("validation", "Unknown", reason="not a constant!")}
    statuses["placement"] = status("placement", generation=1)
    statuses["bare"] = AdapterStatus("bare", 2, {})
    found = Preconditions((), ["dns", "validation", "placement", "bare", "none"]).unmet(CLUSTER, statuses)
    assert found == [
        UnmetPrecondition(
            'status.adapters["validation"].available == "True"',
            "adapter validation is not Available (Unknown)",
        ),
        UnmetPrecondition(
            'status.adapters["placement"].available == "True"',
            "adapter placement reported on generation 1, but the cluster has generation 2",
        ),
        UnmetPrecondition('status.adapters["bare"].available == "True"', "adapter bare is not Available"),
        UnmetPrecondition('status.adapters["none"].available == "True"', "adapter none has not reported"),
    ]


@pytest.mark.parametrize("data", [_SECRET, {"auths": {_SECRET: {}}}, [_SECRET]])
@pytest.mark.parametrize("field", ["pullSecret", "pull_secret"])
def test_no_expression_can_read_the_pull_secret(field: str, data: Any) -> None:
    cluster = {**CLUSTER, "spec": {field: {"data": data}}}
    assert reasons(f"spec.{field}.data != nil && cluster.spec.{field}.data != nil", cluster) == []
    for expression in (
        f'spec.{field}.data == "(not shown)" && cluster.spec.{field}.data == "(not shown)"',
        f"size(spec.{field}.data) == 11",
    ):
        assert reasons(expression, cluster) == []
    for expression in (
        f'spec.{field}.data.contains("a-pull")',
        f"has(spec.{field}.data.auths)",
        f"spec.{field}.data",
    ):
        found = reasons(expression, cluster)
        assert found
        assert _SECRET not in str(found)


def test_an_expression_sees_whether_the_pull_secret_is_empty() -> None:
    cluster = {**CLUSTER, "spec": {"pullSecret": {"data": ""}}}
    assert reasons('spec.pullSecret.data != ""', cluster) == ['spec.pullSecret.data is ""']
    assert reasons("spec.pullSecret.data != nil", {**CLUSTER, "spec": {"pullSecret": {"data": None}}}) != []
    assert reasons("spec.pullSecret != nil", {**CLUSTER, "spec": {"pullSecret": _SECRET}}) == []
    bare = {**CLUSTER, "spec": {"pullSecret": _SECRET}}
    assert reasons(f'spec.pullSecret == "{_SECRET}"', bare) != []


BROKEN = {
    "a ==": "is not valid CEL at line 1, column 5",
    "true\n&& &&": "is not valid CEL at line 2, column 4",
    "\ud800": "is not valid CEL",
    "x" * 2001: "is longer than 2000 characters",
    "(" * 1500: "is not valid CEL",
    "cluser.spec == 1": "uses an unknown name at line 1, column 1 (known: spec, status, ",
    "true &&\n  spec.a == foo(1)": "uses an unknown function at line 2, column 13",
    "true &&\n  spec.a.foo()": "uses an unknown function at line 2, column 10",
    "optional.of(1).hasValue()": "uses an unknown name at line 1",
    "spec.a.map(x, x) == []": "builds a list with map: use all, exists or exists_one",
    "spec.a.filter(x, x).size() > 0": "builds a list with filter",
    "spec.a.all(x, x.all(y, y.all(z, z)))": "nests loops too deeply",
    'spec.a.all(x, x.all(y, y.matches("a")))': "nests loops too deeply, or has a regular expression in",
    "spec.a.matches(spec.b)": "must call matches() with one literal string",
    'spec.a.matches("(")': "has an invalid regular expression, or one that is too large",
    'spec.a.matches("(?:a{1000}){1000}")': "has an invalid regular expression, or one that is too large",
    "spec.a.matches('" + "a" * 201 + "')": "has a regular expression of more than 200 characters",
    r'spec.a.matches("\\w{200}")': "has a regular expression that takes too long",
}


@pytest.mark.parametrize(("expression", "said"), BROKEN.items(), ids=range(len(BROKEN)))
def test_expressions_that_are_refused(expression: str, said: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        Preconditions(["true", expression])
    assert str(caught.value).startswith(f"preconditions[1].expression {said}")
    assert caught.value.__cause__ is None


def _nested(depth: int) -> Any:
    value: Any = 1
    for _level in range(depth):
        value = {"a": value}
    return value


LARGE = "the cluster's document in the API is too large or nested too deeply to evaluate preconditions[0]"


@pytest.mark.parametrize(
    "spec",
    [
        _nested(100),
        _nested(100_000),
        {"l": list(range(200_000))},
        {"t": "x" * 10_000_000},
        {"k" * 10_000_000: 1},
    ],
    ids=["deep", "deeper", "long", "text", "key"],
)
def test_a_cluster_that_no_one_wrote_by_hand(spec: Any) -> None:
    assert reasons("spec.on", {**CLUSTER, "spec": spec}) == [LARGE]


def test_loops_take_small_clusters_only() -> None:
    wide = {**CLUSTER, "spec": {"on": True, "l": list(range(9_000))}}
    both = Preconditions(["spec.on", "spec.l.all(x, spec.l.all(y, x + y >= 0))", "spec.l.all(x, x >= 0)"])
    assert [unmet.reason for unmet in both.unmet(wide, STATUSES)] == [LARGE.replace("[0]", "[1]")]
    assert (
        Preconditions(["spec.l.all(x, spec.l.all(y, x + y >= 0))"]).unmet(
            {"spec": {"l": list(range(900))}}, {}
        )
        == []
    )


@pytest.mark.parametrize(
    "cluster",
    [
        {},
        {"spec": None, "status": 3, "labels": [], "generation": "x"},
        {"spec": [], "status": []},
        {"spec": {"provider": "\ud800", "gcp": {"projectId": 2**80}, "pullSecret": {"data": float("nan")}}},
        {"spec": {1: 2, None: object()}},
    ],
)
def test_invalid_clusters(cluster: Any) -> None:
    assert len(Preconditions(DEFAULT_PRECONDITIONS).unmet(cluster, {})) >= 3


def test_a_defect_in_reading_a_cluster_is_an_unmet_precondition() -> None:
    broken: Any = {"dns": None}
    (unmet,) = Preconditions(['status.adapters["dns"].available == "True"']).unmet(CLUSTER, broken)
    assert unmet.reason == "the cluster cannot be read (AttributeError)"


def test_many_threads_share_one() -> None:
    shared = Preconditions(DEFAULT_PRECONDITIONS)
    without = {**STATUSES}
    del without["dns"]

    def look(turn: int) -> int:
        return len(shared.unmet(CLUSTER, without if turn % 2 else STATUSES))

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(look, range(400))) == [0, 1] * 200


def test_the_evaluators_command_line_is_not_loaded() -> None:
    """Loading it would take 0.3 s, most of the start of a process."""
    code = (
        "import conftest, sys, logging\n"
        "from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.adapter.cel.preconditions "
        "import DEFAULT_PRECONDITIONS, Preconditions\n"
        "assert Preconditions(DEFAULT_PRECONDITIONS).unmet({}, {})\n"
        "assert 'prompt_toolkit' not in sys.modules and 'cel' not in sys.modules\n"
        "import cel\n"
        "assert cel.evaluate('1 == 1')\n"
        "assert Preconditions(['spec.a == 2']).unmet({}, {})\n"
    )
    root = __file__.rsplit("/tests/", 1)[0]
    reply = subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=False
    )
    assert (reply.returncode, reply.stdout, reply.stderr) == (0, "", "")
