# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A variable that refers to something undefined is an error that names it, and never "not given"."""

from __future__ import annotations

from typing import Any

import pytest
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar

from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.variables import (
    VariableError,
    given,
    named,
    unusable,
    value_of,
)
from tests.support import names
from tests.support.nightly import some
from tests.variables.integration.world import CANARY, DOCUMENT, World

PLAIN = "{{ nope }}"
# A docker config in the same value as an undefined reference. ansible-core 2.18 would print it.
NESTED: dict[str, Any] = {"inline": DOCUMENT, "more": [{"deep": PLAIN}]}
SAID = "it refers to the undefined variable 'nope'"
# One variable of each kind, and all that are evaluated before a play's first task.
_ALONE = [
    ("adapter", "events"),
    ("node", "node_hosts"),
    ("node", "node_max_fail_percentage"),
    ("node", "node_serial"),
    ("node", "node_source"),
    ("provision", "clusters"),
    ("provision", "management_context"),
    ("hosted_cluster", "state"),
    ("reconcile", "clusters_dir"),
]


def trusted(value: Any) -> Any:
    """Return a value as Ansible reads it from a file. Since ansible-core 2.19, only such strings are templates."""
    try:
        from ansible.template import trust_as_template
    except ImportError:
        return value
    if isinstance(value, dict):
        return {key: trusted(item) for key, item in value.items()}
    if isinstance(value, list):
        return [trusted(item) for item in value]
    return trust_as_template(value) if isinstance(value, str) else value


def with_templar(variables: dict[str, Any]) -> tuple[dict[str, Any], Templar]:
    raw = trusted(variables)
    return raw, Templar(loader=DataLoader(), variables=raw)


@pytest.mark.parametrize("playbook", names.PLAYBOOKS)
def test_a_playbook_asks_for_every_variable_that_it_reads(playbook: str) -> None:
    """The check would ignore a variable that is missing there, and ``default`` would hide undefined references."""
    assert names.read_by_playbook(playbook) <= names.own(playbook)
    texts = names.templates(names.play_of(playbook))
    hidden = [text for text in texts if "default(" in text or " is defined" in text]
    assert hidden == []


@pytest.mark.parametrize("role", names.ROLES)
def test_a_role_describes_every_variable_that_it_reads(role: str) -> None:
    """The role checks the variables that it describes."""
    assert names.read_by_role(role) == set(names.role_options(role))


def test_the_checks_come_first() -> None:
    action = "hyperfleet.pull_secret.check_variables"
    for playbook in names.PLAYBOOKS:
        first = names.play_of(playbook)["tasks"][0]
        # The playbook inspect has no role. It uses this role's variables for the connections to services.
        role = "provision" if playbook == "inspect" else names.role_of(playbook)
        assert first[action].get("role") == role


@pytest.mark.parametrize("value", [PLAIN, NESTED, [1, PLAIN], "{{ other }}", "a {{ other }}"])
def test_a_value_with_something_undefined_in_it_is_an_error(value: Any) -> None:
    raw, templar = with_templar({"mine": value, "other": {"text": CANARY, "more": [PLAIN]}, "fine": "a"})
    with pytest.raises(VariableError) as caught:
        value_of("mine", raw, templar)
    assert str(caught.value.message).startswith(f"mine: {SAID}")
    assert CANARY not in str(caught.value)
    with pytest.raises(VariableError):
        given(["fine", "mine"], raw, templar)
    assert len(list(unusable(["mine", "fine", "absent"], lambda name: value_of(name, raw, templar)))) == 1


@pytest.mark.parametrize("value", ["{{ {'a': 1}.b }}", "{{ [1][3] }}", "{{ fine.x }}"])
@pytest.mark.cores
def test_a_value_without_a_name_is_told_too(value: str) -> None:
    raw, templar = with_templar({"mine": {"inline": CANARY, "x": value}, "fine": {"y": 1}})
    (said,) = unusable(["mine"], lambda name: value_of(name, raw, templar))
    assert said.startswith("mine: it refers to an undefined value")


@pytest.mark.parametrize("value", ["{{ 1 | no_such_filter }}", "{{ 1 +", "{{ mine }}", "{{ 'a' | int / 0 }}"])
@pytest.mark.cores
def test_a_value_that_cannot_be_evaluated_is_not_quoted(value: str) -> None:
    raw, templar = with_templar({"mine": f"{value} {CANARY}"})
    (said,) = unusable(["mine"], lambda name: value_of(name, raw, templar))
    assert said.startswith("mine: it cannot be evaluated (")
    assert CANARY not in said


def test_what_says_nothing_is_not_given() -> None:
    raw, templar = with_templar(
        {
            "empty": "",
            "null": None,
            "nothing": "{{ empty }}",
            "no": False,
            "zero": 0,
            "none": [],
            "text": "{{ zero }}",
        }
    )
    asked = [*raw, "absent"]
    assert given(asked, raw, templar) == {"no": False, "zero": 0, "none": [], "text": 0} or given(
        asked, raw, templar
    ) == {"no": False, "zero": 0, "none": [], "text": "0"}
    assert list(named(asked, raw, templar)) == ["no", "zero", "none", "text"]


@pytest.mark.parametrize("playbook", names.PLAYBOOKS)
@pytest.mark.nightly
def test_every_variable_of_a_playbook_is_named(world: World, playbook: str) -> None:
    """All variables at once: first the playbook's own, then its role's. A play's hosts come before any task."""
    own = names.own(playbook)
    sets = [names.settable(playbook) - own, set() if playbook == "node" else own]
    runs = [dict.fromkeys(sorted(one), value) for one in sets if one for value in (NESTED, PLAIN)]
    for wrong in runs:
        finished = world.run(playbook, wrong)
        assert finished.code != 0
        for name in wrong:
            assert f"{name}: {SAID}" in str(finished.result["msg"]), name
        assert CANARY not in finished.output
    assert runs
    assert world.nothing_was_reached()


def test_what_comes_before_any_task_is_tried_alone() -> None:
    assert {name for playbook, name in _ALONE if playbook == "node"} >= names.own("node")


@pytest.mark.parametrize(
    ("playbook", "name"),
    some(_ALONE, ("provision", "clusters")),
)
def test_a_variable_with_something_undefined_in_it_ends_a_run(world: World, playbook: str, name: str) -> None:
    for value in (NESTED, PLAIN):
        finished = world.run(playbook, {name: value})
        assert finished.code != 0
        assert f"{name}: {SAID}" in finished.output
        assert CANARY not in finished.output
        assert world.nothing_was_reached()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("provision_gcp", {"endpoint": PLAIN}),
        ("provision_clusters", [{"cluster_id": "cls-1", "source": NESTED}]),
    ],
)
@pytest.mark.nightly
def test_a_role_in_a_playbook_of_ones_own_is_checked_too(world: World, name: str, value: Any) -> None:
    """Ansible's own check does not run before it, because it quotes the value with ansible-core 2.18."""
    role = {"name": "hyperfleet.pull_secret.provision", "rolespec_validate": False}
    clusters = [{"cluster_id": "cls-1", "source": {"inline": DOCUMENT}}]
    task = {"ansible.builtin.import_role": role, "vars": {"provision_clusters": clusters, name: value}}
    finished = world.ansible.playbook([{"hosts": "localhost", "gather_facts": False, "tasks": [task]}])
    assert finished.code != 0
    assert f"{name}: {SAID}" in finished.result["msg"]
    assert CANARY not in finished.stdout
    assert world.nothing_was_reached()


@pytest.mark.nightly
def test_an_empty_list_of_clusters_names_none(world: World) -> None:
    """Unlike null and an empty string, an empty list counts as given. The adapter playbook still refuses it."""
    finished = world.run("adapter", {"cluster_ids": []})
    assert finished.code != 0
    assert "cluster_ids or events is required, to name the clusters" in str(finished.result["msg"])
    assert world.nothing_was_reached()


@pytest.mark.cores
def test_what_another_host_leaves_undefined_is_an_error(world: World) -> None:
    """ansible-core 2.18 returns the text of the template in its place."""
    inventory = {"ctx": PLAIN, "nested": {"a": [PLAIN]}}
    for value in ({"team": "{{ hostvars.localhost.ctx }}"}, "{{ hostvars.localhost.nested }}"):
        finished = world.run("provision", {"annotations": value}, inventory=inventory)
        assert finished.code != 0
        # ansible-core 2.19 and newer may refuse it with their own message.
        assert (
            finished.result["msg"].startswith("annotations: ")
            or "'nope' is undefined" in finished.result["msg"]
        )
        assert world.nothing_was_reached()


def test_a_text_that_only_looks_like_a_template_is_a_value() -> None:
    raw, templar = with_templar({"mine": ["{{ text }} {x}", {"a": "{{ text }}"}], "text": "{y}"})
    assert value_of("mine", raw, templar) == ["{y} {x}", {"a": "{y}"}]
