# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The lab as a whole: every stand-in as a background process, one shell-sourceable file that names them."""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path
from typing import Any

from tests.lab.control_plane.cluster import ControlPlane
from tests.lab.control_plane.lease import keep
from tests.lab.supervisor import LabError, Supervisor, locked, wait_for_file, write_private
from tests.stand_ins.kubeconfig import Cluster, write_kubeconfig
from tests.stand_ins.process import stand_in_command

ROOT = Path(__file__).resolve().parents[2]
DIRECTORY = ROOT / ".lab"

# Process name → arguments of tests.stand_ins; each ends on SIGTERM.
STAND_INS = {
    "secret-manager": "secret_manager",
    "hyperfleet": "hyperfleet",
    "kubernetes": "kubernetes --tls",
    "kubernetes-2": "kubernetes --tls",
}
# With tokens of its own, the second cluster refuses what was meant for the first.
SECOND_CLUSTER = {"LAB_K8S_TOKEN": "lab-2-admin-token", "LAB_K8S_VIEWER_TOKEN": "lab-2-viewer-token"}


class Lab:
    """The lab of one directory (``.lab`` of the checkout unless told otherwise)."""

    def __init__(self, directory: Path = DIRECTORY) -> None:
        self.directory = directory.resolve()
        self.supervisor = Supervisor(self.directory)
        self.plane = ControlPlane(self.directory / "control-plane")
        self._lock = self.directory / ".lock"

    def up(self, *, real: bool) -> bool:
        """Start what does not run; return False when all was up. LabError when it cannot be."""
        with locked(self._lock):
            # The control plane may be up for the tests alone: only what this command started counts.
            other = "kubernetes" if real else "kubernetes.real"
            if other in self._recorded():
                raise LabError(
                    f"it is up with the {'stand-in' if real else 'real'} Kubernetes; `make lab-down` ends it"
                )
            if real:
                self._up_real()
            wanted = [name for name in STAND_INS if not (real and name == "kubernetes")]
            missing = [name for name in wanted if not self.supervisor.running(name)]
            try:
                for name in missing:
                    self._start(name)
                found = {name: self._ready(name) for name in wanted}
            except BaseException:
                self._stop()  # the logs stay
                raise
            started = bool(missing) or not self.env_file.exists() or self._state_changed(real)
            if started:
                self._write(found, real)
            return started

    def down(self) -> bool:
        """End everything, also after a crash, and remove every file; return whether there was anything."""
        if not self.directory.exists():
            return False
        with locked(self._lock):
            there = bool(self._recorded()) or self.env_file.exists() or self.plane.directory.exists()
            self._stop()
            self.plane.down()
            for pattern in ("*.log", "*.ready.json", "env", "kubeconfig", "ca.crt", "*.real"):
                for path in self.directory.glob(pattern):
                    path.unlink()
            shutil.rmtree(self.directory / "samples", ignore_errors=True)
            self._lock.unlink()
        if not any(self.directory.iterdir()):
            self.directory.rmdir()
        return there

    def seed(self) -> str:
        """Add samples to a running lab; return what to tell the user."""
        # Imported late: it takes a second, which the other commands need not wait for.
        from tests.lab.samples import add_samples

        return add_samples(self.directory, self.directory / "kubeconfig", self.secret_manager())

    def add_namespaces(self, names: list[str]) -> None:
        """Make namespaces in mgmt-1 of a running lab."""
        from tests.lab.samples import add_namespace

        self.secret_manager()
        for name in names:
            add_namespace(self.directory / "kubeconfig", name)

    def secret_manager(self) -> str:
        """Return the REST address of the running Secret Manager; LabError when the lab is not up."""
        if not self.env_file.exists() or not self.supervisor.running("secret-manager"):
            raise LabError("it is not up; `make lab-up` starts it")
        return str(self._ready("secret-manager")["rest"])

    def status(self) -> dict[str, bool]:
        """Return what should run and whether it does; empty when the lab is down."""
        out: dict[str, bool] = {}
        for name in self._recorded():
            if name == "kubernetes.real":
                out["control-plane"] = self.plane.state() is not None
            else:
                out[name] = self.supervisor.running(name)
        return out

    @property
    def env_file(self) -> Path:
        return self.directory / "env"

    def _recorded(self) -> list[str]:
        real = ["kubernetes.real"] if (self.directory / "kubernetes.real").exists() else []
        return self.supervisor.names() + real

    def _up_real(self) -> None:
        self.plane.up()
        keep(self.plane)
        (self.directory / "kubernetes.real").touch()

    def _start(self, name: str) -> None:
        ready = self._ready_file(name)
        ready.unlink(missing_ok=True)
        command = stand_in_command(ready, *STAND_INS[name].split())
        env = SECOND_CLUSTER if name == "kubernetes-2" else None
        self.supervisor.start(name, command, env=env, cwd=ROOT)

    def _ready_file(self, name: str) -> Path:
        return self.directory / f"{name}.ready.json"

    def _ready(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(wait_for_file(self._ready_file(name), self.supervisor, name))
        return found

    def _stop(self) -> None:
        for name in self.supervisor.names():
            self.supervisor.stop(name)

    def _state_changed(self, real: bool) -> bool:
        """Whether the control plane was started again after the file was written."""
        state = self.plane.state() if real else None
        return state is not None and state.token not in self.env_file.read_text()

    def _write(self, found: dict[str, dict[str, Any]], real: bool) -> None:
        if real:
            state = self.plane.state()
            if state is None:
                raise LabError("the control plane ended at once: see its logs")
            first, viewer = Cluster("mgmt-1", state.url, state.token, state.ca), state.viewer_token
        else:
            first, viewer = _stand_in("mgmt-1", found["kubernetes"]), found["kubernetes"]["viewer_token"]
        assert first.ca
        ca_file = write_private(self.directory / "ca.crt", first.ca)
        clusters = [first, _stand_in("mgmt-2", found["kubernetes-2"])]
        kubeconfig = write_kubeconfig(self.directory / "kubeconfig", clusters)
        grpc = found["secret-manager"]["grpc"]
        values = {
            "KUBECONFIG": str(kubeconfig),
            "K8S_URL": first.url,
            "K8S_TOKEN": first.token,
            "K8S_VIEWER_TOKEN": viewer,
            "K8S_CA_FILE": str(ca_file),
            "SECRET_MANAGER_GRPC": grpc,
            "SECRET_MANAGER_REST": found["secret-manager"]["rest"],
            "SECRET_MANAGER_EMULATOR_HOST": grpc,
            "HYPERFLEET_API_URL": found["hyperfleet"]["url"],
        }
        lines = [f"export {name}={shlex.quote(value)}\n" for name, value in values.items()]
        write_private(self.env_file, "".join(lines))


def _stand_in(context: str, found: dict[str, Any]) -> Cluster:
    return Cluster(context, found["url"], found["token"], found["ca"].encode())
