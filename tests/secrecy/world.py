# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Canaries, the sources that contain them, and the check whether a run showed one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tests.secrecy.watcher import Recording, Watcher
from tests.support.secrecy.canary import Canary
from tests.support.secrecy.labs import MANAGED, PROJECT, Labs
from tests.support.secrecy.needles import Evidence, Leak, Needles

COLLECTION = "hyperfleet.pull_secret"


class World:
    """Makes targets whose sources contain canaries."""

    def __init__(self, watcher: Watcher, labs: Labs) -> None:
        self.watcher, self.labs = watcher, labs
        self.canaries: list[Canary] = []
        self.environment: dict[str, str] = {}
        self.in_environment: set[str] = set()
        self._count = 0

    def canary(self, name: str) -> Canary:
        self.canaries.append(Canary.make(name))
        return self.canaries[-1]

    def source(self, kind: str, canary: Canary, data: bytes | None = None) -> dict[str, Any]:
        """Store the canary's document, or ``data``, and return the option ``source`` that refers to it."""
        data = canary.text.encode() if data is None else data
        self._count += 1
        name = f"cls-{self._count}"
        path = self.watcher.inputs / name
        match kind:
            case "inline":
                return {"inline": data.decode()}
            case "mapping":
                return {"inline": canary.document}
            case "env":
                self.environment[f"CANARY_{self._count}"] = data.decode()
                self.in_environment.add(canary.name)
                return {"env": f"CANARY_{self._count}"}
            case "kubernetes":
                return self.labs.put_kubernetes(name, data)
            case "gcp":
                return self.labs.put_gcp(name, data)
            case "hyperfleet":
                return self.labs.put_hyperfleet(name, data)
            case "field":
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

    def leaks(self, recording: Recording, more: Iterable[Evidence] = ()) -> list[Leak]:
        """Return the leaks in everything that the run showed, and in ``more`` evidence."""
        # Without these kinds of evidence, the watchers did not work.
        kinds = {item.kind for item in recording.evidence}
        assert {"output", "written", "file in log", "file in tree"} <= kinds
        if recording.module_process:
            assert {"argv", "environ"} <= kinds
        found = Needles(self.canaries).leaks([*recording.evidence, *self.labs.logs(), *more])
        # Programs that ansible-playbook starts inherit the user's own environment.
        return [leak for leak in found if leak.kind != "environ" or leak.canary not in self.in_environment]


def as_lines(leaks: list[Leak]) -> str:
    return "\n" + "\n".join(map(str, leaks))


def one_task(name: str, module: str, options: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    return {"name": name, f"{COLLECTION}.{module}": dict(options), "ignore_errors": True, **more}
