# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Every module, source and outcome: no form of a docker config in what a run shows.

Many documents are the targets of one task; the first run creates, the second changes nothing, then rotation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.secrecy.documents import INVALID, VALID
from tests.secrecy.watcher import Recording, Watcher
from tests.support.exhaustive import some
from tests.support.secrecy.canary import Canary
from tests.support.secrecy.labs import MANAGED, PROJECT, Labs
from tests.support.secrecy.needles import Leak, Needles

_COLLECTION = "hyperfleet.pull_secret"
_MODULES = ("gcp_pull_secret", "k8s_pull_secret", "dockerconfig_merge")
_SOURCES = ("inline", "mapping", "file", "field", "env", "kubernetes", "gcp", "hyperfleet")
_ALL = [(module, process) for module in _MODULES for process in (False, True)]
# Those that every source is tried with; a file and inline text get all.
_SOME = ("truncated", "bad base64", "entry is a string")


class World:
    """Targets whose sources hold canaries."""

    def __init__(self, watcher: Watcher, labs: Labs) -> None:
        self.watcher, self.labs = watcher, labs
        self.canaries: list[Canary] = []
        self.environment: dict[str, str] = {}
        self.in_environment: set[str] = set()
        self._count = 0

    def canary(self, name: str) -> Canary:
        self.canaries.append(Canary.make(name))
        return self.canaries[-1]

    def source(self, kind: str, canary: Canary, data: bytes) -> dict[str, Any]:
        """The option ``source`` for a document, which is put where it says."""
        self._count += 1
        name = f"cls-{self._count}"
        if kind == "inline":
            return {"inline": data.decode()}
        if kind == "mapping":
            return {"inline": canary.document}
        if kind == "env":
            self.environment[f"CANARY_{self._count}"] = data.decode()
            self.in_environment.add(canary.name)
            return {"env": f"CANARY_{self._count}"}
        if kind in ("kubernetes", "gcp", "hyperfleet"):
            put = {
                "kubernetes": self.labs.put_kubernetes,
                "gcp": self.labs.put_gcp,
                "hyperfleet": self.labs.put_hyperfleet,
            }[kind]
            return put(name, data)
        path = self.watcher.inputs / name
        if kind == "field":
            indented = data.decode().replace("\n", "\n      ")
            path.write_text(f"spec:\n  pullSecret:\n    data: |-\n      {indented}\n")
            return {"file": str(path), "field": "spec.pullSecret.data"}
        path.write_bytes(data)
        return {"file": str(path)}

    def target(self, module: str, name: str) -> dict[str, Any]:
        if module == "gcp_pull_secret":
            return {"id": name, "project": PROJECT, "secret": f"target-{name}"}
        if module == "k8s_pull_secret":
            return {"id": name, "namespace": MANAGED, "name": f"target-{name}"}
        return {"id": name, "dest": str(self.watcher.dest / name)}

    def leaks(self, recording: Recording) -> list[Leak]:
        # Without these the watchers did not watch.
        kinds = recording.kinds()
        assert {"output", "written", "file in log", "file in tree"} <= kinds
        if recording.module_process:
            assert {"argv", "environ"} <= kinds
        evidence = [*recording.evidence, *self.labs.logs()]
        found = Needles(self.canaries).leaks(evidence)
        # The user's own environment of ansible-playbook is inherited by what it starts.
        return [leak for leak in found if leak.kind != "environ" or leak.canary not in self.in_environment]


def _shown(leaks: list[Leak]) -> str:
    return "\n" + "\n".join(map(str, leaks))


def _task(name: str, module: str, options: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    return {"name": name, f"{_COLLECTION}.{module}": dict(options), "ignore_errors": True, **more}


@pytest.mark.parametrize(("module", "module_process"), some(_ALL, ("gcp_pull_secret", False)))
def test_valid_documents_show_nowhere(
    watcher: Watcher, labs: Labs, module: str, module_process: bool
) -> None:
    """Created, unchanged, rotated, in check mode, with a diff; from every source, merged, in a loop."""
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
        source = world.source(kind, canary, canary.text.encode())
        layers.append({"name": kind, "source": source})
    merged = {**world.target(module, "merged"), "layers": layers, "policy": {"r0.example": "inline"}}
    options = {**labs.options(), "targets": "{{ wanted }}"}
    single = {**labs.options(), **world.target(module, "single"), "source": {"inline": "{{ wanted }}"}}
    texts = [world.canary(f"{module}: in a loop {n}") for n in range(2)]
    tasks = [
        _task("check", module, options, vars={"wanted": "{{ first }}"}, check_mode=True),
        _task("create", module, options, vars={"wanted": "{{ first }}"}),
        _task("again", module, options, vars={"wanted": "{{ first }}"}),
        _task("check rotation", module, options, vars={"wanted": "{{ second }}"}, check_mode=True),
        _task("rotate", module, options, vars={"wanted": "{{ second }}"}, register="registered"),
        _task("merge", module, {**labs.options(), "targets": ["{{ merged }}"]}),
        _task("one inline", module, single, vars={"wanted": "{{ first[1].source.inline }}"}),
        _task(
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
    # Ansible starts a module with a shell.
    started = [item.data for item in recording.evidence if item.kind == "argv"]
    assert any(b"&& sleep 0" in arguments for arguments in started) == module_process
    results = recording.results
    changed = {name: results[name].get("changed") for name in ("check", "create", "again", "rotate", "merge")}
    assert changed == {"check": True, "create": True, "again": False, "rotate": True, "merge": True}, results
    assert not any(results[name].get("failed") for name in changed)
    leaks = world.leaks(recording)
    assert leaks == [], _shown(leaks)


@pytest.mark.parametrize(("module", "module_process"), some(_ALL, ("k8s_pull_secret", False)))
def test_invalid_documents_show_nowhere(
    watcher: Watcher, labs: Labs, module: str, module_process: bool
) -> None:
    """Each target fails by itself; its message, the summary's and every log hold names only."""
    world = World(watcher, labs)
    targets: list[dict[str, Any]] = []
    for kind in _SOURCES:
        if kind == "mapping":
            continue
        for what in INVALID if kind == "file" else _SOME:
            canary = world.canary(f"{module}: {what} from {kind}")
            source = world.source(kind, canary, INVALID[what](canary))
            targets.append({**world.target(module, f"n{len(targets)}"), "source": source})
    for what in INVALID:
        canary = world.canary(f"{module}: {what} from inline")
        try:
            source = world.source("inline", canary, INVALID[what](canary)[:100_000])
        except UnicodeDecodeError:
            continue
        targets.append({**world.target(module, f"n{len(targets)}"), "source": source})
    tasks = [
        _task("all", module, {**labs.options(), "targets": "{{ wanted }}"}),
        _task("one", module, {**labs.options(), "targets": "{{ wanted[:1] }}"}),
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
    assert leaks == [], _shown(leaks)
