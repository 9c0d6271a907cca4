# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""All modules, sources and outcomes: a run shows no form of a docker config.

The documents are the targets of one task. The first run creates, the second changes nothing, the third rotates.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.secrecy.documents import INVALID, VALID
from tests.secrecy.watcher import Watcher
from tests.secrecy.world import World, as_lines, one_task
from tests.support.nightly import some
from tests.support.secrecy.labs import Labs

_MODULES = ("gcp_pull_secret", "k8s_pull_secret", "dockerconfig_merge")
_SOURCES = ("inline", "mapping", "file", "field", "env", "kubernetes", "gcp", "hyperfleet")
_ALL = [(module, process) for module in _MODULES for process in (False, True)]
# Invalid documents for every source. Files and inline text are tried with all documents.
_SOME = ["truncated", "bad base64", "entry is a string"]


@pytest.mark.parametrize(("module", "module_process"), some(_ALL, ("gcp_pull_secret", False)))
@pytest.mark.nightly
def test_valid_documents_show_nowhere(
    watcher: Watcher, labs: Labs, module: str, module_process: bool
) -> None:
    """Tasks that create, change nothing or rotate, in check mode, with a diff, from every source, merged or
    in a loop.
    """
    world = World(watcher, labs)
    first: list[dict[str, Any]] = []
    second: list[dict[str, Any]] = []
    layouts = list(VALID)
    for index, kind in enumerate(_SOURCES):
        layout = layouts[index % len(layouts)]
        for name, targets in (("first", first), ("second", second)):
            canary = world.canary(f"{module}: {name} {layout} from {kind}")
            made = VALID[layout](canary)
            targets.append({**world.target(module, kind), "source": world.source(kind, canary, made)})
    layers = []
    for kind in ("inline", "mapping", "file"):
        canary = world.canary(f"{module}: layer from {kind}")
        source = world.source(kind, canary)
        layers.append({"name": kind, "source": source})
    merged = {**world.target(module, "merged"), "layers": layers, "policy": {"r0.example": "inline"}}
    options = {**labs.options(), "targets": "{{ wanted }}"}
    single = {**labs.options(), **world.target(module, "single"), "source": {"inline": "{{ wanted }}"}}
    texts = [world.canary(f"{module}: in a loop {n}") for n in range(2)]
    tasks = [
        one_task("check", module, options, vars={"wanted": "{{ first }}"}, check_mode=True),
        one_task("create", module, options, vars={"wanted": "{{ first }}"}),
        one_task("again", module, options, vars={"wanted": "{{ first }}"}),
        one_task("check rotation", module, options, vars={"wanted": "{{ second }}"}, check_mode=True),
        one_task("rotate", module, options, vars={"wanted": "{{ second }}"}, register="registered"),
        one_task("merge", module, {**labs.options(), "targets": ["{{ merged }}"]}),
        one_task("one inline", module, single, vars={"wanted": "{{ first[1].source.inline }}"}),
        one_task(
            "loop",
            module,
            {**single, "source": {"inline": "{{ texts[item] }}"}},
            loop=["one", "two"],
            until="false",
            retries=1,
            delay=0,
        ),
        {"name": "registered", "ansible.builtin.debug": {"var": "registered"}},
    ]
    variables = {
        "first": first,
        "second": second,
        "merged": merged,
        "texts": {"one": texts[0].text, "two": texts[1].text},
    }
    recording = watcher.play(
        tasks,
        variables,
        options=["-vvvv", "--diff"],
        settings={**world.environment, "CANARY_JOURNAL": "1"},
        module_process=module_process,
    )
    # Ansible starts a module process with a shell.
    started = [item.data for item in recording.evidence if item.kind == "argv"]
    assert any(b"&& sleep 0" in arguments for arguments in started) == module_process
    results = recording.results
    changed = {name: results[name].get("changed") for name in ("check", "create", "again", "rotate", "merge")}
    assert changed == {"check": True, "create": True, "again": False, "rotate": True, "merge": True}, results
    assert not any(results[name].get("failed") for name in changed)
    leaks = world.leaks(recording)
    assert leaks == [], as_lines(leaks)


@pytest.mark.parametrize(("module", "module_process"), some(_ALL, ("k8s_pull_secret", False)))
@pytest.mark.parametrize("invalid", some([_SOME, list(INVALID)]), ids=["few", "all"])
def test_invalid_documents_show_nowhere(
    watcher: Watcher, labs: Labs, invalid: list[str], module: str, module_process: bool
) -> None:
    """Each target fails separately. Its message, the summary and all logs contain only names."""
    world = World(watcher, labs)
    targets: list[dict[str, Any]] = []
    for kind in _SOURCES:
        if kind == "mapping":
            continue
        for what in invalid if kind == "file" else _SOME:
            canary = world.canary(f"{module}: {what} from {kind}")
            source = world.source(kind, canary, INVALID[what](canary))
            targets.append({**world.target(module, f"n{len(targets)}"), "source": source})
    for what in invalid:
        canary = world.canary(f"{module}: {what} from inline")
        try:
            source = world.source("inline", canary, INVALID[what](canary)[:100_000])
        except UnicodeDecodeError:
            continue
        targets.append({**world.target(module, f"n{len(targets)}"), "source": source})
    tasks = [
        one_task("all", module, {**labs.options(), "targets": "{{ wanted }}"}),
        one_task("one", module, {**labs.options(), "targets": "{{ wanted[:1] }}"}),
    ]
    recording = watcher.play(
        tasks,
        {"wanted": targets},
        options=["-vvv", "--diff"],
        settings=world.environment,
        module_process=module_process,
    )
    assert len(recording.results["all"]["failed_targets"]) > len(targets) // 2
    leaks = world.leaks(recording)
    assert leaks == [], as_lines(leaks)
