# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Runs the watches of the controller as the Ansible Operator does: one ansible-runner a run, behind its proxy.

What it imitates was measured on the real one: the runner's directory and command line, the extra variables, the
finalizer, the owner of what a run creates, the operator's conditions, and when a run counts as failed. It neither
watches nor repeats, and has no cache: every kind that a run reads has to be in the watch's blacklist.
"""

from __future__ import annotations

import base64
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import requests
import yaml

from tests.lab.nodes.api import Api, ApiError
from tests.tools import env

__all__ = ["Controller", "Proxy", "RunnerRun", "proxy"]

OPERATOR = env.ROOT / "extensions" / "operator"
GROUP, VERSION = "pullsecret.hyperfleet.io", "v1alpha1"
# The operator writes these of each condition.
_CONDITION = ("type", "status", "reason", "message", "lastTransitionTime")
_INSTALLED = "/opt/ansible/collections/ansible_collections/hyperfleet/pull_secret"
_PATH = re.compile(r"/(?:api|apis/(?P<group>[^/]+))/[^/]+(?:/namespaces/[^/]+)?/(?P<plural>[a-z]+)")


@dataclass
class Proxy:
    """The operator's proxy: a client has the operator's rights without a password.

    :param read: the kinds that were read, as ``plural.group``; those that are not in the watch's blacklist would be
        listed and watched as a whole.
    """

    url: str
    read: set[str] = field(default_factory=set)


@contextmanager
def proxy(api: Api, token: str, ca_file: str) -> Iterator[Proxy]:
    """Serve on a free port of loopback."""
    session = requests.Session()
    session.trust_env, session.verify = False, ca_file

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def forward(self) -> None:
            match = _PATH.match(self.path)
            if match and self.command == "GET":
                served.read.add(".".join(filter(None, (match["plural"], match["group"]))))
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if self.command == "POST" and "--inject-owner-ref=false" not in deployment():
                body = _owned(body, self.headers["Authorization"])
            headers = {
                name: self.headers[name] for name in ("Content-Type", "Accept") if name in self.headers
            }
            answer = session.request(
                self.command,
                api.url + self.path,
                data=body,
                headers={**headers, "Authorization": f"Bearer {token}"},
                timeout=60,
            )
            self.send_response(answer.status_code)
            self.send_header("Content-Type", answer.headers.get("Content-Type", ""))
            self.send_header("Content-Length", str(len(answer.content)))
            self.end_headers()
            self.wfile.write(answer.content)

        do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = forward  # noqa: N815

        def log_message(self, *_arguments: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    served = Proxy(f"localhost:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def deployment() -> str:
    """Return the text of the controller's Deployment, which has the operator's arguments."""
    return (OPERATOR / "config" / "manager" / "manager.yaml").read_text()


def _owned(body: bytes, authorization: str) -> bytes:
    user = base64.b64decode(authorization.removeprefix("Basic ")).decode().partition(":")[0]
    owner = json.loads(base64.b64decode(user))
    item = json.loads(body)
    if owner.pop("Namespace") == item["metadata"].get("namespace"):
        item["metadata"]["ownerReferences"] = [owner]
    return json.dumps(item).encode()


@dataclass(frozen=True)
class RunnerRun:
    """A finished run.

    :param failures: the messages of the tasks that failed, without those whose errors are ignored.
    :param has_stats: whether the playbook reached its end.
    """

    directory: Path
    rc: int
    failures: list[str]
    has_stats: bool
    output: str

    @property
    def is_successful(self) -> bool:
        """As the operator judges, which does not look at the exit code."""
        return self.has_stats and not self.failures


class Controller:
    """Runs the watch of a custom resource."""

    def __init__(self, api: Api, served: Proxy, directory: Path, **variables: str) -> None:
        self.api, self.proxy, self._directory = api, served, directory
        watches = yaml.safe_load((OPERATOR / "watches.yaml").read_text())
        self.watches = {watch["kind"]: watch for watch in watches}
        self._variables = variables
        self._runs = itertools.count(1)
        (level,) = re.findall(r"--ansible-verbosity=(\d)", deployment())
        self._verbosity = ["-" + "v" * int(level)] if int(level) else []
        self._binaries = env.ROOT / env.make("rulebook", sys.executable) / "bin"

    def path(self, kind: str, namespace: str, name: str = "") -> str:
        path = f"/apis/{GROUP}/{VERSION}/namespaces/{namespace}/{kind.lower()}s"
        return f"{path}/{name}" if name else path

    def reconcile(
        self, kind: str, namespace: str, name: str, meanwhile: Callable[[], bool] | None = None
    ) -> RunnerRun:
        """Run the playbook of a custom resource once; end its deletion if the run of its finalizer succeeded.

        :param meanwhile: called while the run goes on; when it returns True, all processes of the run are killed.
        """
        watch, path = self.watches[kind], self.path(kind, namespace, name)
        item = self.api.get(path)
        finalizer, finalizers = watch["finalizer"]["name"], item["metadata"].get("finalizers") or []
        is_deleted = "deletionTimestamp" in item["metadata"]
        if not is_deleted and finalizer not in finalizers:
            item = self.api.merge(path, {"metadata": {"finalizers": [*finalizers, finalizer]}})
        # Otherwise the operator ends at its start.
        assert watch["finalizer"].get("vars") or watch["finalizer"].get("playbook")
        self._say(path, Running="True")
        run = self._run(watch, self.api.get(path), is_deleted, meanwhile)
        if run.has_stats:
            success = "True" if run.is_successful else "False"
            self._say(path, Running=success, Successful=success, Failure=str(not run.is_successful))
        if is_deleted and run.is_successful:
            self.api.merge(
                path, {"metadata": {"finalizers": [each for each in finalizers if each != finalizer]}}
            )
        return run

    def _say(self, path: str, **conditions: str) -> None:
        """Write the operator's own conditions, and the others as it does; again, if another run has written."""
        item = self.api.get(path)
        status = item.setdefault("status", {})
        others = [each for each in status.get("conditions") or () if each["type"] not in conditions]
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        status["conditions"] = [
            *({name: each[name] for name in _CONDITION if name in each} for each in others),
            *(
                {"type": name, "status": value, "reason": "", "message": "", "lastTransitionTime": now}
                for name, value in conditions.items()
            ),
        ]
        try:
            self.api.replace(f"{path}/status", item)
        except ApiError as error:
            if error.code != 409:
                raise
            self._say(path, **conditions)

    def _run(
        self,
        watch: dict[str, Any],
        item: dict[str, Any],
        is_deleted: bool,
        meanwhile: Callable[[], bool] | None,
    ) -> RunnerRun:
        identity = str(next(self._runs))
        metadata = item["metadata"]
        directory = self._directory / "runner" / watch["kind"] / metadata["namespace"] / metadata["name"]
        for part in ("env", "inventory", "project"):
            (directory / part).mkdir(parents=True, exist_ok=True)
        kubeconfig = self._kubeconfig(item, identity)
        variables = {"K8S_AUTH_KUBECONFIG": str(kubeconfig), "KUBECONFIG": str(kubeconfig)}
        (directory / "env" / "envvars").write_text(json.dumps(variables))
        (directory / "env" / "settings").write_text("{}")
        extra = json.dumps(_extra_variables(watch, item, is_deleted))
        (directory / "env" / "extravars").write_text(extra)
        hosts = "localhost ansible_connection=local ansible_python_interpreter={{ansible_playbook_python}}"
        (directory / "inventory" / "hosts").write_text(hosts)
        playbook = watch["playbook"].replace(_INSTALLED, str(env.ROOT))
        keep = str(watch["maxRunnerArtifacts"])
        process = subprocess.Popen(
            [
                *(str(self._binaries / "ansible-runner"), "run", str(directory), "--rotate-artifacts", keep),
                *("-p", playbook, "-i", identity, *self._verbosity),
            ],
            cwd=self._directory,
            env={
                "ANSIBLE_COLLECTIONS_PATH": str(env.COLLECTIONS),
                "ANSIBLE_GATHERING": "explicit",
                "HOME": str(self._directory),
                "LANG": "C.UTF-8",
                "PATH": f"{self._binaries}{os.pathsep}{os.environ['PATH']}",
                **variables,
                **self._variables,
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        while meanwhile is not None and process.poll() is None:
            if meanwhile():
                os.killpg(process.pid, signal.SIGKILL)
                break
            time.sleep(0.01)
        output, _errors = process.communicate()
        kubeconfig.unlink()
        return _verdict(directory, identity, process.returncode, output)

    def _kubeconfig(self, item: dict[str, Any], identity: str) -> Path:
        metadata = item["metadata"]
        owner = {"apiVersion": item["apiVersion"], "kind": item["kind"], "name": metadata["name"]}
        owner.update(uid=metadata["uid"], Namespace=metadata["namespace"])
        user = base64.b64encode(json.dumps(owner).encode()).decode()
        path = self._directory / f"kubeconfig-{identity}"
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [
                {
                    "name": "proxy-server",
                    "cluster": {
                        "insecure-skip-tls-verify": True,
                        "server": f"http://{user}@{self.proxy.url}",
                    },
                }
            ],
            "contexts": [
                {"name": "proxy", "context": {"cluster": "proxy-server", "user": "admin/proxy-server"}}
            ],
            "current-context": "proxy",
            "users": [{"name": "admin/proxy-server", "user": {"username": user, "password": "unused"}}],
        }
        path.touch(mode=0o600)
        path.write_text(json.dumps(config))
        return path


def _verdict(directory: Path, identity: str, code: int, output: str) -> RunnerRun:
    events = []
    for path in (directory / "artifacts" / identity / "job_events").glob("*.json"):
        events.append(json.loads(path.read_text()))
    events.sort(key=lambda event: event["counter"])
    failures = [
        str((event["event_data"].get("res") or {}).get("msg"))
        for event in events
        if event["event"] == "runner_on_failed" and event["event_data"].get("ignore_errors") is not True
    ]
    has_stats = any(event["event"] == "playbook_on_stats" for event in events)
    return RunnerRun(directory, code, failures, has_stats, output)


def _extra_variables(watch: dict[str, Any], item: dict[str, Any], is_deleted: bool) -> dict[str, Any]:
    spec = item.get("spec") or {}
    name = re.sub(r"[.-]", "_", f"_{watch['group']}_{watch['kind'].lower()}")
    metadata = item["metadata"]
    extra = {
        **_unsafe(_snake(spec)),
        "ansible_operator_meta": {"name": metadata["name"], "namespace": metadata["namespace"]},
        name: _unsafe({**item, "spec": spec}),
        f"{name}_spec": _unsafe(spec),
        **(watch.get("vars") or {}),
    }
    return {**extra, **(watch["finalizer"].get("vars") or {})} if is_deleted else extra


def _snake(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", key).lower(): _snake(inner)
            for key, inner in value.items()
        }
    return [_snake(entry) for entry in value] if isinstance(value, list) else value


def _unsafe(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _unsafe(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_unsafe(entry) for entry in value]
    return {"__ansible_unsafe": value} if isinstance(value, str) else value
