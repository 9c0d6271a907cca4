# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Any configuration, expression or cluster raises only the collection's errors, and no message contains a value."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.hyperfleet.statuses import (
    AdapterStatus,
    Condition,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import ConfigurationError
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.adapter.cel.preconditions import (
    DEFAULT_PRECONDITIONS,
    Preconditions,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.adapter.config.config import (
    AdapterConfig,
    parse_adapter_config,
)
from tests.support.adapter_jobs.documents import SEED_EXAMPLE

_SENTINEL = "S3ntinelValue"
_EXAMPLES = 30

_WHOLE: dict[str, Any] = yaml.safe_load(SEED_EXAMPLE)
_WHOLE["spec"]["hyperfleetAPI"].update(headers={"X-Tenant": "t"}, tokenFile="/t", caCert="/c")
_WHOLE["spec"]["jobTemplate"].update(
    env=[{"name": "A", "value": "b"}],
    labels={"a": "b"},
    annotations={"a": "b"},
    tolerations=[{"key": "a", "operator": "Exists"}],
    imagePullSecrets=[{"name": "a"}],
    gcpApiTimeout="30s",
)
_WHOLE["spec"].update(
    batch={"size": 10, "window": "1s"},
    deletion={"store": "keep"},
    execution="job",
    kubernetes={"context": "a"},
    gcp={"endpoint": "localhost:1"},
    logging={"level": "info"},
    metrics={"port": 1},
)


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _places(item, (*path, name))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _places(item, (*path, index))


_TEXTS = st.one_of(
    st.text(max_size=20),
    st.sampled_from(
        ["", "\n", "\x00", "\ud800", "10s", "1e9", "-1", "amqp://u:p@h", "http://[", "a" * 70_000]
    ),
)
_LEAVES = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), _TEXTS)
_ANY = st.recursive(
    _LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.one_of(_TEXTS, st.integers(), st.none()), inner, max_size=4),
    ),
    max_leaves=12,
)
_SECRETS = st.one_of(
    st.just(_SENTINEL),
    st.builds(
        lambda before, after: before + _SENTINEL + after,
        _TEXTS.filter(lambda text: len(text) < 50),
        st.text(max_size=5),
    ),
    st.just({"auths": {"quay.io": {"auth": _SENTINEL}}}),
    st.just([_SENTINEL, {"a": _SENTINEL}]),
    st.just("http://u:" + _SENTINEL + "@h:99999"),
    st.just("amqp://u:" + _SENTINEL + "@h/"),
)


def _parsed(document: Any) -> str:
    """The message of the error, or an empty string."""
    try:
        found = parse_adapter_config(document)
    except ConfigurationError as error:
        return str(error)
    assert isinstance(found, AdapterConfig)
    return ""


@settings(max_examples=_EXAMPLES, deadline=None)
@given(_ANY)
def test_any_document(document: Any) -> None:
    assert _parsed(document)


@settings(max_examples=_EXAMPLES, deadline=None)
@given(st.sampled_from(list(_places(_WHOLE))), _ANY)
def test_anything_anywhere(place: tuple[Any, ...], value: Any) -> None:
    document = copy.deepcopy(_WHOLE)
    held: Any = document
    for part in place[:-1]:
        held = held[part]
    held[place[-1]] = value
    _parsed(document)


@settings(max_examples=_EXAMPLES, deadline=None)
@given(st.sampled_from(list(_places(_WHOLE))), _SECRETS)
def test_a_secret_anywhere_is_never_printed(place: tuple[Any, ...], value: Any) -> None:
    document = copy.deepcopy(_WHOLE)
    held: Any = document
    for part in place[:-1]:
        held = held[part]
    held[place[-1]] = value
    assert _SENTINEL not in _parsed(document)


@settings(max_examples=_EXAMPLES, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(["batch_size", "headers", "execution", "api_flavour", "zz", ""]), _ANY | _SECRETS
    )
)
def test_any_overrides(overrides: dict[str, Any]) -> None:
    said = ""
    try:
        parse_adapter_config(_WHOLE).replaced(overrides)
    except ConfigurationError as error:
        said = str(error)
    assert _SENTINEL not in said


_NAMES = "spec status adapters labels generation provider gcp projectId dns nil true x y 0 1 .5"
_MARKS = "[ ] ( ) { } . , == != && || ! - + / > ? : in all exists has size matches map // ' ü"
_WORDS = st.sampled_from(
    [
        *_NAMES.split(),
        *_MARKS.split(),
        '"',
        '"a"',
        'r"\\"',
        "\n",
    ]
)
_EXPRESSIONS = st.one_of(
    st.text(max_size=60),
    st.lists(_WORDS, max_size=14).map(" ".join),
    st.lists(_WORDS, max_size=14).map("".join),
)
_VALUES = st.recursive(
    _LEAVES | st.just(_SENTINEL),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=10,
)
_CLUSTERS = st.fixed_dictionaries(
    {},
    optional={
        "spec": _VALUES
        | st.fixed_dictionaries({"provider": _VALUES, "gcp": st.dictionaries(st.just("projectId"), _VALUES)}),
        "status": _VALUES,
        "labels": _VALUES,
        "generation": _VALUES | st.integers(1, 3),
        "metadata": _VALUES,
        "name": _VALUES,
    },
)
_STATUSES = st.dictionaries(
    st.sampled_from(["dns", "validation", "placement", "a-b"]),
    st.builds(
        lambda generation, status, data: AdapterStatus(
            "x",
            generation,
            {"Available": Condition("Available", status, _SENTINEL + "!", _SENTINEL)},
            {"a": data},
        ),
        st.integers(0, 3),
        st.sampled_from(["True", "False", "Unknown", "\n"]),
        _VALUES,
    ),
)


@settings(max_examples=_EXAMPLES, deadline=None)
@given(_EXPRESSIONS, _CLUSTERS, _STATUSES)
def test_any_expression_of_any_cluster(
    expression: str, cluster: dict[str, Any], statuses: dict[str, AdapterStatus]
) -> None:
    try:
        preconditions = Preconditions([expression], ["dns"])
    except ConfigurationError as error:
        said = str(error)
    else:
        said = "preconditions[0].expression can be used"
        _check(preconditions, cluster, statuses)
    assert said.startswith("preconditions[0].expression ")


@settings(max_examples=_EXAMPLES, deadline=None)
@given(_CLUSTERS, _STATUSES)
def test_the_contracts_preconditions_with_any_cluster(
    cluster: dict[str, Any], statuses: dict[str, AdapterStatus]
) -> None:
    more = [
        "status.adapters.dns.data.a == 1",
        "labels.a != spec.b",
        'metadata.a in ["b"]',
        "cluster.spec.a > 1",
    ]
    _check(Preconditions([*DEFAULT_PRECONDITIONS, *more], ["dns"]), cluster, statuses)


def _check(preconditions: Preconditions, cluster: dict[str, Any], statuses: dict[str, AdapterStatus]) -> None:
    found = preconditions.unmet(cluster, statuses)
    assert "cannot be read" not in str(found)
    assert _SENTINEL not in str(found)
    json.dumps([unmet.reason for unmet in found]).encode()
