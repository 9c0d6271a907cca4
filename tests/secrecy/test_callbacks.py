# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What Ansible itself passes to callbacks: a task's arguments and the items of its loop."""

from __future__ import annotations

from typing import Any

import pytest
from ansible import __version__ as ansible_version

from tests.secrecy.watcher import Watcher
from tests.secrecy.world import World, as_lines, one_task
from tests.support.nightly import some
from tests.support.secrecy.labs import MANAGED, Labs

_SECRETS = ("kubernetes.api_key", "digest_key", "hyperfleet.headers")
_TARGETS: dict[str, dict[str, Any]] = {
    "gcp_pull_secret": {"project": "project-1", "secret": "there"},
    "k8s_pull_secret": {"namespace": MANAGED, "name": "there"},
    "kubelet_auth_sync": {"path": "/nowhere/config.json", "restart": "never"},
    "hosted_cluster_pull_secret": {"cluster_id": "cls-1", "control_plane_namespace": "clusters-cls-1"},
    "hyperfleet_cluster_info": {"cluster_ids": ["cls-1"]},
    "hyperfleet_status": {"cluster_id": "cls-1", "adapter": "canary", "conditions": []},
}


def _options(world: World, labs: Labs, module: str, as_text: bool) -> dict[str, Any]:
    """Options with a canary in each that is secret; ``as_text``: mappings as strings, which Ansible parses."""
    key, digest, header = (world.canary(f"{module}: {name}").entries[0].token for name in _SECRETS)
    kubernetes: Any = {"host": labs.kubernetes.url, "api_key": key}
    headers: Any = {"Authorization": f"Bearer {header}", "X-Short": "1"}
    if as_text:
        kubernetes = f"host={labs.kubernetes.url} api_key={key}"
        headers = f"Authorization={header}"
    options = {
        **_TARGETS[module],
        "kubernetes": kubernetes,
        "digest_key": digest,
        "hyperfleet": {"url": labs.hyperfleet.url, "headers": headers},
        "retry": {"tries": 1},
    }
    if module in ("gcp_pull_secret", "k8s_pull_secret", "kubelet_auth_sync"):
        options["source"] = {"inline": world.canary(f"{module}: inline").text}
    return options


@pytest.mark.parametrize("module_process", [False, True], ids=["ansible's process", "a module's"])
@pytest.mark.nightly
def test_secret_options_show_nowhere(watcher: Watcher, labs: Labs, module_process: bool) -> None:
    """The task runs, is refused, or has wrong options."""
    world = World(watcher, labs)
    cases: dict[str, Any] = {}
    for module in _TARGETS:
        for way in ("run", "text", "async", "a wrong option"):
            options = _options(world, labs, module, way == "text")
            if way == "a wrong option":
                options["kubernetes"]["api_kei"] = world.canary(f"{module}: {way}").entries[0].token
            cases[f"{module}: {way}"] = options
    tasks = [
        one_task(name, name.partition(":")[0], {}, args="{{ cases[case] }}", vars={"case": name})
        | ({"async": 10, "poll": 1} if name.endswith("async") else {})
        for name in cases
    ]
    recording = watcher.play(
        tasks, {"cases": cases}, options=["-vvvv", "--diff"], module_process=module_process
    )
    leaks = world.leaks(recording)
    assert leaks == [], as_lines(leaks)
    assert set(recording.results) == set(cases)
    for name, result in recording.results.items():
        if name.endswith("async"):
            assert result["msg"].startswith("async: the task cannot run in the background"), result
        if name.endswith("a wrong option"):
            assert "api_kei" in result["msg"], result


@pytest.mark.nightly
def test_a_tenants_name_in_a_header_stays_in_what_is_named_after_it(watcher: Watcher, labs: Labs) -> None:
    """Hiding the value of such a header everywhere would also hide parts of the tenant's cluster ids."""
    world = World(watcher, labs)
    good = watcher.inputs / "good.json"
    good.write_text('{"auths": {"quay.io": {"auth": "ZXhhbXBsZTpleGFtcGxl"}}}')
    hyperfleet = {"url": labs.hyperfleet.url, "headers": {"X-Tenant": "customer"}}
    options = {
        **labs.options(),
        "hyperfleet": hyperfleet,
        "targets": [{"id": "customer-1", "namespace": MANAGED, "name": "customer-1"}],
        "source": {"file": str(good)},
    }
    for module_process in (False, True):
        recording = watcher.play(
            [one_task("named", "k8s_pull_secret", options)], module_process=module_process
        )
        (target,) = recording.results["named"]["targets"]
        assert (target["id"], target["place"]) == ("customer-1", f"namespaces/{MANAGED}/secrets/customer-1")
    assert world.leaks(recording) == []


@pytest.mark.parametrize("extended", some([True, False]), ids=["extended", "plain"])
@pytest.mark.cores
def test_a_loops_items_show_nowhere(watcher: Watcher, labs: Labs, extended: bool) -> None:
    """The result contains the item, whatever the label is: when it fails, and always with -v."""
    world = World(watcher, labs)
    documents = [world.canary(f"item {number}") for number in range(2)]
    key = world.canary("an item's api_key").entries[0].token
    items = [
        {"name": "good", "text": documents[0].text, "dest": str(watcher.dest / "good.json")},
        {"name": "bad", "text": documents[1].text, "dest": "/nowhere/there/config.json"},
    ]
    logins = [{"name": "login", "key": key}]
    control = {"loop_control": {"label": "{{ item.name }}", "extended": extended}}
    merge = {"dest": "{{ item.dest }}", "source": {"inline": "{{ item.text }}"}}
    login = {**_TARGETS["k8s_pull_secret"], "state": "absent", "retry": {"tries": 1}}
    login["kubernetes"] = {"host": labs.kubernetes.url, "api_key": "{{ item.key }}"}
    names = {"dest": "{{ items[item | int].dest }}", "source": {"inline": "{{ items[item | int].text }}"}}
    tasks = [
        one_task("items", "dockerconfig_merge", merge, loop="{{ items }}", **control),
        one_task("refused", "dockerconfig_merge", merge, loop="{{ items }}", **{"async": 5}, **control),
        one_task("logins", "k8s_pull_secret", login, loop="{{ logins }}", **control),
        one_task("names", "dockerconfig_merge", names, loop=["0", "1"]),
    ]
    recording = watcher.play(tasks, {"items": items, "logins": logins}, options=["-vvvv", "--diff"])
    leaks = world.leaks(recording)
    assert leaks == [], as_lines(leaks)
    # The message says why the item is hidden, and what went wrong.
    output = " ".join(recording.output.split())
    assert "an item of the loop holds a secret, so its result is hidden as with no_log" in output
    assert "/nowhere/there/config.json: its directory does not exist" in output
    assert "async: the task cannot run in the background" in output
    assert "results" in recording.results["names"]
    assert (watcher.dest / "good.json").exists()


@pytest.mark.cores
def test_what_no_module_can_hide_of_a_loop(watcher: Watcher, labs: Labs) -> None:
    """Items that no module of the collection receives, and the variable in which the result is registered."""
    world = World(watcher, labs)
    canaries = {name: world.canary(name) for name in ("skipped", "undefined", "registered")}
    variables = {name: [{"name": name, "text": canary.text}] for name, canary in canaries.items()}
    merge = {"dest": str(watcher.dest / "merged.json"), "source": {"inline": "{{ item.text }}"}}
    tasks = [
        one_task("skipped", "dockerconfig_merge", merge, loop="{{ skipped }}", when="item.name == 'none'"),
        one_task("undefined", "dockerconfig_merge", {**merge, "mode": "{{ nope }}"}, loop="{{ undefined }}"),
        one_task("registered", "dockerconfig_merge", merge, loop="{{ registered }}", register="result"),
        {"name": "result", "ansible.builtin.debug": {"var": "result"}},
    ]
    for task in tasks[:3]:
        task["loop_control"] = {"label": "{{ item.name }}"}
    recording = watcher.play(tasks, variables, options=["-v"])
    # ansible-core 2.18 ends a loop at such an item without a result.
    shown = set(canaries) - ({"undefined"} if ansible_version.startswith("2.18.") else set())
    assert {leak.canary for leak in world.leaks(recording)} == shown
    recording = watcher.play(tasks[2:3], variables, options=["-v"])
    assert world.leaks(recording) == []


def test_the_recording_callback_sees_arguments_and_items(watcher: Watcher, labs: Labs) -> None:
    """Otherwise the tests that find none would prove nothing."""
    world = World(watcher, labs)
    secret = world.canary("seen").entries[0].token
    recording = watcher.play(
        [{"name": "seen", "ansible.builtin.debug": {"msg": "{{ item }}"}, "loop": ["{{ secret }}"]}],
        {"secret": secret},
    )
    assert "record.jsonl" in {leak.name for leak in world.leaks(recording)}
