# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Values are compared with the modules' argument specs; Ansible's own validation is the reference."""

from __future__ import annotations

from typing import Any

import pytest
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import ConfigurationError
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.limits import LIMITS
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import (
    gcp_pull_secret,
    k8s_pull_secret,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks.entry import validated, whole_spec
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks.fitting import (
    check_arguments,
    fitted,
)

OPTIONS: dict[str, Any] = {**k8s_pull_secret.target_options(), **gcp_pull_secret.target_options()}
NOT_BOOLEAN = "not true or false"
PLACES = "inline, file, env, kubernetes, gcp, hyperfleet"
WORDS = [
    *("inline", "file", "env", "kubernetes", "gcp", "hyperfleet", "field", "source", "name", "namespace"),
    *("project", "secret", "cluster_id", "keep", "disable", "destroy_after", "optional", "unknown"),
]
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 10),
    st.floats(),
    st.sampled_from(
        ["", "text", "yes", "3", "2.5", "a=b", "a,b", '{"file": "x"}', "{", "present", "automatic"]
    ),
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(WORDS), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(max_examples=40, deadline=None)
@given(option=st.sampled_from(sorted(OPTIONS)), value=values.filter(lambda value: value is not None))
@example(option="source", value={"file": None, "env": "A"})
@example(option="layers", value=[{"name": "a", "source": {"gcp": {"project": "p", "secret": "s"}}}])
@example(option="retention", value={"keep": "3"})
def test_what_fits_is_taken_by_ansible_too_and_becomes_the_same(option: str, value: Any) -> None:
    """Ansible accepts more: it converts mappings to strings."""
    try:
        found = fitted(option, value, OPTIONS[option])
    except ConfigurationError:
        return
    judged = ArgumentSpecValidator({option: OPTIONS[option]}).validate({option: value})
    assert not judged.error_messages
    # ``repr``, because NaN is not equal to itself.
    assert repr(found) == repr(judged.validated_parameters[option])


def test_the_targets_of_a_task_are_what_ansible_makes_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXAMPLE", "directory")
    spec = whole_spec(gcp_pull_secret.target_options)
    target = {
        "project": "example-project",
        "cluster_id": 7,
        "labels": {"team": "example"},
        "layers": [{"name": "a", "source": {"file": "~/$EXAMPLE/x", "field": None}}],
        "retention": {"keep": "3"},
        "adopt": None,
    }
    arguments = {"targets": [target, {"project": "other", "source": '{"env": "A"}'}], "concurrency": "2"}
    judged = ArgumentSpecValidator(spec).validate(arguments)
    assert not judged.error_messages
    assert validated(gcp_pull_secret.target_options, arguments) == judged.validated_parameters
    assert "~" not in str(judged.validated_parameters)


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("labels", "example-password", "labels must be a mapping"),
        ("state", "example-password", "state must be one of present, absent"),
        ("adopt", "example-password", "adopt must be true or false"),
        ("cluster_name", {"a": "example-password"}, "cluster_name must be a string"),
        ("cluster_name", True, "cluster_name must be a string"),
        ("service_accounts", {"a": 1}, "service_accounts must be a list"),
        ("service_accounts", ["a", ["b"]], "service_accounts[1] must be a string"),
        ("retention", 5, "retention must be a mapping with keep, disable, destroy_after"),
        ("retention", {}, "retention.keep is missing"),
        ("retention", {"keep": None}, "retention.keep is null; give it a value"),
        ("retention", {"keep": "example-password"}, "retention.keep must be a whole number"),
        ("retention", {"keep": float("inf")}, "retention.keep must be a whole number"),
        (
            "retention",
            {"keep": True},
            f"retention.keep must be {LIMITS['retention.keep'].text}, {NOT_BOOLEAN}",
        ),
        (
            "retention",
            {"keep": 1, "destroy_after": False},
            f"retention.destroy_after must be a number of seconds from 0 to 315360000, {NOT_BOOLEAN}",
        ),
        ("service_accounts", True, f"service_accounts must be a list, {NOT_BOOLEAN}"),
        ("source", "example-password", f"source must be a mapping with one of {PLACES}"),
        ("source", {}, f"source must be a mapping with one of {PLACES}"),
        ("source", {"field": "a"}, f"source must be a mapping with one of {PLACES}"),
        (
            "source",
            {"files": "x"},
            f"source has the key 'files', which is not allowed; it must be a mapping with one of {PLACES}",
        ),
        ("source", {"file": "x", "env": "A"}, "source has both file and env"),
        ("source", {"gcp": {"project": "p"}}, "source.gcp.secret is missing"),
        ("layers", ["a"], "layers[0] must be a mapping with name, source, optional"),
        ("layers", [{"name": "a"}], "layers[0].source is missing"),
    ],
)
def test_what_does_not_fit_is_told_by_its_rule(option: str, value: Any, said: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        fitted(option, value, OPTIONS[option])
    assert str(caught.value) == said


@pytest.mark.parametrize("key", ["user:example-password", 7411])
def test_a_key_that_may_be_a_secret_is_not_told(key: Any) -> None:
    with pytest.raises(ConfigurationError) as caught:
        fitted("source", {key: 1}, OPTIONS["source"])
    assert "example-password" not in str(caught.value)
    assert "7411" not in str(caught.value)


@pytest.mark.parametrize(
    ("value", "said"),
    [("True", None), (True, None), (False, None), ("yes", "one of"), (1, "one of"), ([True], "a string")],
)
def test_a_boolean_is_a_text_only_where_it_is_a_choice(value: Any, said: str | None) -> None:
    """The ``status: True`` of a condition is a boolean in YAML and is meant as the string."""
    spec = {"type": "str", "choices": ["True", "False", "Unknown"]}
    if said is None:
        assert fitted("status", value, spec) == str(value)
    else:
        with pytest.raises(ConfigurationError, match=f"status must be {said}"):
            fitted("status", value, spec)


@pytest.mark.parametrize(
    ("spec", "arguments", "option"),
    [
        ({"a": {"type": "str", "required": True}}, {"a": None}, "a"),
        ({"a": {"type": "dict", "options": {"b": {"required": True}}}}, {"a": {"b": None}}, "a.b"),
        (
            {"a": {"type": "list", "elements": "dict", "options": {"b": {"required": True}}}},
            {"a": [{"b": "1"}, {"b": None}]},
            "a[1].b",
        ),
    ],
)
def test_null_is_no_value_of_a_required_option(
    spec: dict[str, Any], arguments: dict[str, Any], option: str
) -> None:
    """Newer versions of Ansible convert it to an empty string, and the task would run without the value."""
    with pytest.raises(ConfigurationError) as caught:
        check_arguments(arguments, spec)
    assert str(caught.value) == f"{option} is null; give it a value"
    check_arguments({"a": None}, {"a": {"type": "str"}})
