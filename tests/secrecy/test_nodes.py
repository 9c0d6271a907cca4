# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Only a node's file, and its backup for root, contain the secrets."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests.secrecy.documents import INVALID, VALID
from tests.secrecy.watcher import Watcher
from tests.secrecy.world import World, as_lines
from tests.support.secrecy.labs import Labs
from tests.support.secrecy.needles import Evidence

_MODULE = "hyperfleet.pull_secret.kubelet_auth_sync"
_SOURCES = ("inline", "mapping", "file", "field", "env", "kubernetes", "gcp", "hyperfleet")
# A run without a change does not depend on the source, so two sources are enough.
_AGAIN = ("inline", "gcp")
# A kubelet that only starts with the previous file.
_SYSTEMCTL = """#!/bin/sh
count=$(cat {count} 2>/dev/null || echo 0)
case $1 in
  show) printf 'LoadState=loaded\\nActiveState=active\\nSubState=running\\nResult=exit-code\\nNRestarts=0\\n'
        printf 'ConditionResult=yes\\nType=notify\\nInvocationID=%s\\n' "$count" ;;
  restart) echo $((count + 1)) > {count}
           if grep -q '"phase": "restart"' {ledger}; then
             echo 'Job for kubelet.service failed.' >&2
             exit 1
           fi ;;
esac
"""


def _systemctl(directory: Path, ledger: Path) -> str:
    """Return a PATH with this systemctl."""
    directory.mkdir()
    program = directory / "systemctl"
    program.write_text(_SYSTEMCTL.format(count=directory / "count", ledger=ledger))
    program.chmod(0o755)
    return f"{directory}{os.pathsep}{os.environ['PATH']}"


@pytest.mark.nightly
def test_a_node_shows_nothing(watcher: Watcher, labs: Labs) -> None:
    """Runs with foreign entries, rotation, rollback and refusal, from every source, with the highest verbosity."""
    world = World(watcher, labs)
    node = watcher.dest / "kubelet"
    node.mkdir()
    foreign = world.canary("foreign")
    (node / "config.json").write_bytes(foreign.text.encode())
    tasks: list[dict[str, Any]] = []
    layouts = list(VALID)

    def task(name: str, **options: Any) -> None:
        given = {"path": str(node / "config.json"), "restart": "never", "healthz": "", **options}
        tasks.append(
            {
                "name": name,
                _MODULE: "{{ given[name] }}",
                "vars": {"name": name},
                "ignore_errors": True,
            }
        )
        variables[name] = {**labs.options(), **given}

    variables: dict[str, Any] = {}
    for index, kind in enumerate(_SOURCES):
        layout = layouts[index % len(layouts)]
        canary = world.canary(f"{layout} from {kind}")
        source = world.source(kind, canary, VALID[layout](canary))
        task(f"write from {kind}", source=source)
        if kind in _AGAIN:
            task(f"again from {kind}", source=source)
    layers = []
    for kind in ("inline", "file"):
        canary = world.canary(f"layer from {kind}")
        layers.append({"name": kind, "source": world.source(kind, canary)})
    task("merge", layers=layers)
    task("roll back", state="rolled_back")
    wrong = list(INVALID)[:5]
    for what in wrong:
        canary = world.canary(what)
        task(f"invalid: {what}", source=world.source("file", canary, INVALID[what](canary)))
    spoilt = world.canary("spoilt foreign entry")
    (node / "other").mkdir()
    (node / "other" / "config.json").write_bytes(INVALID["no colon"](spoilt))
    task("spoilt", path=str(node / "other" / "config.json"), source=layers[0]["source"])
    task("take out", state="absent")
    # The message if kubelet does not start.
    failing = node / "failing" / "config.json"
    failing.parent.mkdir()
    failing.write_bytes(world.canary("foreign where it fails").text.encode())
    unwell = {
        "path": str(failing),
        "restart": "on_change",
        "systemd": "systemctl",
        "attempts": 1,
        "window": 0,
    }
    sources = []
    for name in ("fails", "fails and is left"):
        canary = world.canary(name)
        sources.append(world.source("file", canary))
    task("fails", **unwell, source=sources[0])
    task("held", **unwell, source=sources[0])
    task("deferred", **{**unwell, "restart": "deferred"}, source=sources[1])
    task("fails and is left", **unwell, state="restarted", rollback=False)
    task("rolled back later", **unwell, state="rolled_back")

    recording = watcher.play(
        tasks,
        {"given": variables},
        options=["-vvvv", "--diff"],
        settings={
            **world.environment,
            "CANARY_JOURNAL": "1",
            "PATH": _systemctl(watcher.dest / "bin", Path(f"{failing}.hyperfleet")),
        },
        module_process=True,
    )
    results = recording.results
    for kind in _SOURCES:
        assert results[f"write from {kind}"]["actions"] == ["written"], results[f"write from {kind}"]
    for kind in _AGAIN:
        assert results[f"again from {kind}"]["actions"] == []
    assert results["merge"]["registries"]["r0.example"] == "file"
    assert results["roll back"]["rolled_back"]

    assert sum(results[f"invalid: {what}"]["failed"] for what in wrong) > 2
    assert results["spoilt"]["actions"] == ["written"]
    assert not results["take out"]["failed"]
    assert "(1 attempt); the file was rolled back" in results["fails"]["msg"]
    assert results["held"]["kind"] == "held"
    assert results["fails and is left"]["restart"]["jobs"] == ["failed"]
    assert results["rolled back later"]["actions"] == ["rolled back", "restarted"]
    ledgers = [
        Evidence("ledger", path.name, path.read_bytes()) for path in node.rglob("config.json.hyperfleet")
    ]
    assert ledgers
    leaks = world.leaks(recording, ledgers)
    assert leaks == [], as_lines(leaks)
