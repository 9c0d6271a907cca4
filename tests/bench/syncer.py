# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""``python -m tests.bench.syncer``: the syncer's memory, and the time from a change to the file.

The program runs from the image's files in its own process, and uses TLS. Its replacement of systemd performs each
request at once. So each change includes a complete restart, with the modules for D-Bus loaded.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from tests.bench.figures import Goal, conclude, spread, stamp
from tests.bench.lab import connect
from tests.lab.session import REAL, STAND_IN, kubernetes
from tests.stand_ins.kubeconfig import Cluster
from tests.support.login import TlsFront
from tests.support.syncer_tree import build_tree

ROOT = Path(__file__).resolve().parents[2]
NAMESPACE = "kube-system"
BASE = f"/api/v1/namespaces/{NAMESPACE}"
LEASES = f"/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases"
GOAL_RSS = 22 * 1024
GOAL_P99 = 50.0
REGISTRIES = 6
LIMIT = 30

# A file next to main.py in the image's tree: the same program with a replacement of systemd.
DRIVER = """
import os, sys
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.programs.syncer import program

def systemd():
    import jeepney.auth, jeepney.bus, jeepney.io.blocking, jeepney.wrappers
    from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.systemd import dbus
    UnitState = dbus.UnitState

    class Systemd(dbus.OverDBus):
        restarts = 0
        def __init__(self):
            pass
        def state(self, unit):
            number = Systemd.restarts
            return UnitState("loaded", "active", "running", "success", f"{number:032x}", 0, True, "simple")
        def reset_failed(self, unit):
            pass
        def restart(self, unit, timeout):
            Systemd.restarts += 1
            return "done"
        def close(self):
            pass
    return Systemd()

make = program.Node
program.Node = lambda settings: make(settings, systemd)
sys.exit(program.main())
"""


class Api:
    """A connection to the API server as its admin."""

    def __init__(self, url: str, token: str, ca: bytes | None) -> None:
        self._connection = connect(Cluster("", url, token, ca))
        self._token = token

    def call(self, method: str, path: str, body: Any = None, *, may_fail: bool = False) -> dict[str, Any]:
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": kind}
        self._connection.request(method, path, json.dumps(body) if body is not None else None, headers)
        answer = self._connection.getresponse()
        found: dict[str, Any] = json.loads(answer.read())
        if answer.status >= 300 and not may_fail:
            raise RuntimeError(f"{method} {path}: HTTP {answer.status}")
        return found


def content(number: int) -> bytes:
    """Return a docker config that differs from the previous one in one registry."""
    auths = {}
    for place in range(REGISTRIES):
        text = f"robot:example-password-{number + 1000 if place == number % REGISTRIES else place}"
        auths[f"registry-{place}.example.com"] = {"auth": base64.b64encode(text.encode()).decode()}
    return json.dumps({"auths": auths}).encode()


def data(document: bytes) -> dict[str, Any]:
    return {"data": {".dockerconfigjson": base64.b64encode(document).decode()}}


class Running:
    """The syncer's process, its log and its node's file."""

    def __init__(self, python: str, directory: Path, server: dict[str, str], token: str, ca: bytes) -> None:
        self.kubelet = directory / "kubelet"
        account = directory / "account"
        for path in (self.kubelet, account):
            path.mkdir()
        (account / "token").write_text(token)
        (account / "ca.crt").write_bytes(ca)
        tree = build_tree(directory / "image", python)
        # Compile it like the program itself, because Python does not cache the compiled main file.
        driver = tree.program.with_name("driver.py")
        driver.write_text(DRIVER)
        compiled = str(driver.with_suffix(".pyc"))
        make = "import py_compile, sys; py_compile.compile(sys.argv[1], sys.argv[2], doraise=True)"
        subprocess.run([*tree.command[:-1], "-c", make, str(driver), compiled], check=True)
        self.path = self.kubelet / "config.json"
        self._log = directory / "log"
        environ = {
            "PATH": os.environ["PATH"],
            **tree.environ,
            "NODE_NAME": "node-1",
            "SYNCER_LEASES": "bench-restart-0",
            "SYNCER_STATUS": "bench-status",
            "SYNCER_SECRET": "bench-secret",
            "SYNCER_KUBELET_DIR": str(self.kubelet),
            "SYNCER_ACCOUNT_DIR": str(account),
            "SYNCER_HEALTHZ": "",
            "SYNCER_HEALTH_WINDOW": "0",
            **server,
        }
        with self._log.open("wb") as stream:
            self._process = subprocess.Popen(
                [*tree.command[:-1], compiled],
                env=environ,
                stdin=subprocess.DEVNULL,
                stdout=stream,
            )

    def lines(self, event: str) -> list[dict[str, Any]]:
        lines = self._log.read_text().splitlines(keepends=True)
        found = [json.loads(line) for line in lines if line.endswith("\n")]
        return [line for line in found if line["event"] == event]

    @property
    def tail(self) -> str:
        return self._log.read_text()[-1000:]

    def wait(self, event: str, version: str) -> None:
        end = time.monotonic() + LIMIT
        while not any(line.get("resourceVersion") == version for line in self.lines(event)):
            if time.monotonic() > end or self._process.poll() is not None:
                raise RuntimeError(f"no {event} of {version}: {self.tail}")
            time.sleep(0.002)

    def memory(self) -> dict[str, int]:
        """Return the resident memory in KiB, and the part of it that the process does not share."""
        found = {}
        for line in Path(f"/proc/{self._process.pid}/status").read_text().splitlines():
            name, _colon, value = line.partition(":")
            if name in ("VmRSS", "RssAnon", "VmHWM"):
                found[name] = int(value.split()[0])
        return found

    def stop(self) -> None:
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
        self._process.wait(LIMIT)


@contextmanager
def world(kind: str, python: str) -> Iterator[tuple[Running, Api]]:
    """Start an API server with the objects, and the syncer."""
    with ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pull-secret-syncer-")))
        env = stack.enter_context(kubernetes(kind))
        if env.ca_file:
            ca = Path(env.ca_file).read_bytes()
            host, _colon, port = env.url.removeprefix("https://").rpartition(":")
        else:
            front = TlsFront(env.url.removeprefix("http://"), directory)
            stack.callback(front.stop)
            ca = front.authority.read_bytes()
            host, port = "127.0.0.1", front.url.rpartition(":")[2]
        api = Api(env.url, env.token, Path(env.ca_file).read_bytes() if env.ca_file else None)
        made = {
            LEASES: {"metadata": {"name": "bench-restart-0"}, "spec": {}},
            f"{BASE}/configmaps": {"metadata": {"name": "bench-status"}},
            f"{BASE}/secrets": {
                "metadata": {"name": "bench-secret"},
                "type": "kubernetes.io/dockerconfigjson",
                **data(content(0)),
            },
        }
        for path, body in made.items():
            stack.callback(api.call, "DELETE", f"{path}/{body['metadata']['name']}", may_fail=True)
            api.call("POST", path, body)
        server = {"KUBERNETES_SERVICE_HOST": host, "KUBERNETES_SERVICE_PORT": port}
        running = Running(python, directory, server, env.token, ca)
        stack.callback(running.stop)
        yield running, api


def change(running: Running, api: Api, document: bytes) -> float:
    """Return the milliseconds from the beginning of the call to the API server until the file exists."""
    before = stamp(running.path)
    started = time.perf_counter()
    version = api.call("PATCH", f"{BASE}/secrets/bench-secret", data(document))["metadata"]["resourceVersion"]
    while stamp(running.path) == before:
        if time.perf_counter() - started > LIMIT:
            raise RuntimeError(f"the file was not written: {running.tail}")
        time.sleep(0.0002)
    took = (time.perf_counter() - started) * 1000
    running.wait("restarted", version)
    # Wait for the remaining reports of this change, so that the next one is not delayed.
    end = time.monotonic() + LIMIT
    while api.call("GET", f"{LEASES}/bench-restart-0")["spec"].get("holderIdentity"):
        if time.monotonic() > end:
            raise RuntimeError("the slot was not given back")
    return took


def measure(kind: str, changes: int, python: str) -> dict[str, Any]:
    with world(kind, python) as (running, api):
        first = api.call("GET", f"{BASE}/secrets/bench-secret")["metadata"]["resourceVersion"]
        running.wait("restarted", first)
        fresh = running.memory()
        outside = [change(running, api, content(number)) for number in range(1, changes + 1)]
        inside = [line["ms"] for line in running.lines("written")][1:]
        after = running.memory()
        restarts = len(running.lines("restarting"))
        version = first
        for number in range(100):
            spaced = json.dumps(json.loads(content(changes)), indent=number % 5).encode() + b"\n" * (
                number + 1
            )
            patched = api.call("PATCH", f"{BASE}/secrets/bench-secret", data(spaced))
            version = patched["metadata"]["resourceVersion"]
        running.wait("unchanged", version)
        return {
            "api_server": kind,
            "python": running.lines("started")[0]["python"],
            "changes": changes,
            "rss_kib_after_first": fresh,
            "rss_kib_after_changes": after,
            "event_to_file_ms": spread(inside),
            "api_call_to_file_ms": spread(outside),
            "restarts_per_100_equal_rewrites": len(running.lines("restarting")) - restarts,
        }


def system_python() -> str:
    """Return the distribution's Python, as in the image. A Python that was built here has another size."""
    return "/usr/bin/python3" if Path("/usr/bin/python3").exists() else sys.executable


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.syncer", description=__doc__)
    parser.add_argument("--changes", type=int, default=200)
    parser.add_argument("--lab", choices=[STAND_IN, REAL], default=STAND_IN, help="which API server")
    parser.add_argument("--python", default=system_python(), help="what runs the syncer")
    parser.add_argument("--results", type=Path, default=ROOT / "bench-results")
    options = parser.parse_args()
    found = measure(options.lab, options.changes, options.python)
    goals = [
        Goal("event to file, p99", found["event_to_file_ms"]["p99"], GOAL_P99, "ms"),
        Goal("memory", found["rss_kib_after_changes"]["VmRSS"], GOAL_RSS, "KiB"),
        Goal("restarts per 100 rewrites of equal meaning", found["restarts_per_100_equal_rewrites"], 0),
    ]
    conclude(options.results, "syncer", found, goals)
    return 0


if __name__ == "__main__":
    sys.exit(main())
