# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Starting and ending the servers of one state directory."""

from __future__ import annotations

import contextlib
import json
import secrets
import ssl
import urllib.error
import urllib.request
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tests.lab.control_plane import files
from tests.lab.control_plane.build import build
from tests.lab.supervisor import LabError, Supervisor, free_ports, locked, write_private
from tests.stand_ins.kubeconfig import Cluster, write_kubeconfig

SERVERS = ("etcd", "kube-apiserver", "kube-controller-manager")
# A server is stopped before those it depends on.
STOP_ORDER = ("kube-scheduler", *reversed(SERVERS))
# There is one scheduler, so it needs no leader election. Its port, which a second lab would find in use, is off.
SCHEDULER = ("--leader-elect=false", "--secure-port=0")
TRIES = 3
# The one that `make lab-up LAB=real` starts and tests use.
SHARED = Path(__file__).resolve().parents[3] / ".lab" / "control-plane"


@dataclass(frozen=True)
class Serving:
    """Where a control plane serves, and whom: by default loopback, any free port, no nodes.

    With nodes there is a scheduler too. Pods then reach the API server at the first address of the service
    range, without kube-proxy, when ``address`` is that one and ``port`` 443.

    With ``etcd_port`` there is only an API server, without controllers. It stores its data in the etcd of
    another control plane, below ``etcd_prefix``.
    """

    name: str = "mgmt-1"  # the kubeconfig's context
    address: str = "127.0.0.1"
    port: int | None = None
    service_range: str = "10.96.0.0/24"
    nodes: tuple[str, ...] = ()
    etcd_port: int | None = None
    etcd_prefix: str = "/registry"

    @property
    def servers(self) -> tuple[str, ...]:
        if self.etcd_port:
            return ("kube-apiserver",)
        return (*SERVERS, "kube-scheduler") if self.nodes else SERVERS


@dataclass(frozen=True)
class State:
    """A running control plane, as written to ``state.json`` (mode 0600)."""

    url: str
    token: str
    viewer_token: str
    ca_file: str
    kubeconfig: str
    audit_log: str
    node_tokens: dict[str, str] = field(default_factory=dict)
    etcd_port: int = 0

    @property
    def ca(self) -> bytes:
        return Path(self.ca_file).read_bytes()


class ControlPlane:
    """The control plane whose data lie in ``directory``."""

    def __init__(self, directory: Path, *, serving: Serving | None = None) -> None:
        self.directory = directory.resolve()
        self.supervisor = Supervisor(self.directory)
        self.serving = serving or Serving()
        self._lock = self.directory.with_name(f".{self.directory.name}.lock")

    def state(self) -> State | None:
        """Return the state when all servers run and the API server is ready."""
        try:
            state = State(**json.loads((self.directory / "state.json").read_text()))
        except (OSError, ValueError, TypeError):
            return None
        if all(map(self.supervisor.running, self.serving.servers)) and _is_ready(state):
            return state
        return None

    def locked(self) -> contextlib.AbstractContextManager[None]:
        """Keep other processes from starting or ending this control plane."""
        return locked(self._lock)

    def up(self) -> State:
        """Start what does not run; harmless when it does. LabError when it cannot."""
        build()  # outside the lock: it may take minutes
        with self.locked():
            return self.state() or self.restart()

    def restart(self) -> State:
        """Start afresh, whatever an earlier run left. Call with the lock held."""
        programs = build()
        for number in range(1, TRIES + 1):
            self._wipe()
            try:
                return self._start(programs)
            except LabError:
                # A port that was free may be taken by now: others are tried.
                if number == TRIES:
                    self._stop()  # the logs stay
                    raise
            except BaseException:
                self._wipe()
                raise
        raise AssertionError("unreachable")

    def down(self) -> bool:
        """End the servers, also after a crash, and remove all data; return whether there was anything."""
        there = self.directory.exists()
        with self.locked():
            self.remove()
        return there

    def remove(self) -> None:
        """End the servers and remove all data, the lock's file too. Call with the lock held."""
        self._wipe()
        self._lock.unlink(missing_ok=True)

    def stop_api_server(self) -> None:
        """Stop only the API server. Its data and its port stay. It is killed if its watches go on."""
        self.supervisor.stop("kube-apiserver", 1)

    def start_api_server(self) -> State:
        """Start the API server again, with the same port, tokens, certificate and data."""
        state = State(**json.loads((self.directory / "state.json").read_text()))
        self._start_api_server(build(), state)
        return state

    def _wipe(self) -> None:
        self._stop()
        self.supervisor.clear()

    def _stop(self) -> None:
        for name in STOP_ORDER:
            self.supervisor.stop(name)

    def _start(self, programs: Path) -> State:
        directory = self.directory
        directory.mkdir(parents=True)
        directory.chmod(0o700)
        client, peer, free = free_ports(3)
        serving = self.serving
        port = serving.port or free
        state = State(
            url=f"https://{serving.address}:{port}",
            token=secrets.token_hex(16),
            viewer_token=secrets.token_hex(16),
            ca_file=str(directory / "certs" / "apiserver.crt"),
            kubeconfig=str(directory / "kubeconfig"),
            audit_log=str(directory / "audit.log"),
            node_tokens={name: secrets.token_hex(16) for name in serving.nodes},
            etcd_port=serving.etcd_port or client,
        )
        files.write_signing_key(self._key)
        if "etcd" in serving.servers:
            self.supervisor.start("etcd", [str(programs / "etcd"), *self._etcd(client, peer)])
        self._start_api_server(programs, state)
        cluster = Cluster(serving.name, state.url, state.token, state.ca)
        write_kubeconfig(state.kubeconfig, [cluster])
        if "kube-controller-manager" in serving.servers:
            arguments = self._controller_manager(state)
            self.supervisor.start(
                "kube-controller-manager", [str(programs / "kube-controller-manager"), *arguments]
            )
        if serving.nodes:
            self.supervisor.start(
                "kube-scheduler",
                [str(programs / "kube-scheduler"), *SCHEDULER, f"--kubeconfig={state.kubeconfig}"],
            )
        self._wait_for_first_objects(state)
        write_private(directory / "state.json", json.dumps(asdict(state)))
        return state

    @property
    def _key(self) -> Path:
        return self.directory / "service-account.key"

    def _start_api_server(self, programs: Path, state: State) -> None:
        command = [str(programs / "kube-apiserver"), *self._apiserver(state)]
        self.supervisor.start("kube-apiserver", command)
        self._wait_ready(state)

    def _etcd(self, client: int, peer: int) -> list[str]:
        return [
            f"--data-dir={self.directory / 'etcd'}",
            f"--listen-client-urls=http://127.0.0.1:{client}",
            f"--advertise-client-urls=http://127.0.0.1:{client}",
            f"--listen-peer-urls=http://127.0.0.1:{peer}",
            f"--initial-advertise-peer-urls=http://127.0.0.1:{peer}",
            f"--initial-cluster=default=http://127.0.0.1:{peer}",
            "--unsafe-no-fsync",  # the data of a lab need not survive a power cut
            "--log-level=warn",
        ]

    def _apiserver(self, state: State) -> list[str]:
        directory = self.directory
        tokens = files.write_tokens(
            directory / "tokens.csv", state.token, state.viewer_token, state.node_tokens
        )
        authentication = files.write_authentication(directory / "authentication.json")
        policy = files.write_audit_policy(directory / "audit-policy.json")
        return [
            f"--etcd-servers=http://127.0.0.1:{state.etcd_port}",
            f"--etcd-prefix={self.serving.etcd_prefix}",
            f"--bind-address={self.serving.address}",
            f"--advertise-address={self.serving.address}",
            "--endpoint-reconciler-type=none",  # nothing proxies services
            "--kubelet-preferred-address-types=InternalIP",  # a node's name means nothing here
            f"--secure-port={state.url.rpartition(':')[2]}",
            f"--cert-dir={directory / 'certs'}",
            f"--token-auth-file={tokens}",
            f"--authentication-config={authentication}",
            "--authorization-mode=Node,RBAC",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={self._key}",
            f"--service-account-signing-key-file={self._key}",
            f"--service-cluster-ip-range={self.serving.service_range}",
            f"--audit-policy-file={policy}",
            f"--audit-log-path={state.audit_log}",
        ]

    def _controller_manager(self, state: State) -> list[str]:
        return [
            f"--kubeconfig={state.kubeconfig}",
            "--leader-elect=false",
            "--use-service-account-credentials",
            f"--service-account-private-key-file={self._key}",
            f"--root-ca-file={state.ca_file}",
            "--secure-port=0",
            # The default of 20 requests a second makes the removal of many namespaces take minutes.
            "--kube-api-qps=1000",
            "--kube-api-burst=1000",
        ]

    def _wait_ready(self, state: State, seconds: float = 180) -> None:
        servers = self.serving.servers[: self.serving.servers.index("kube-apiserver") + 1]
        self.supervisor.wait(lambda: _is_ready(state), *servers, until="answer /readyz", seconds=seconds)

    def _wait_for_first_objects(self, state: State, seconds: float = 180) -> None:
        """Wait for what the last server creates at its start.

        The default service account shows that the controllers work. An API server without controllers only
        creates the system's namespaces.
        """
        servers = self.serving.servers[:3]
        has_controllers = "kube-controller-manager" in servers
        path = "default/serviceaccounts/default" if has_controllers else "kube-system"
        until = f"create {path}"
        path = f"/api/v1/namespaces/{path}"
        self.supervisor.wait(lambda: _get(state, path), *servers, until=until, seconds=seconds)


def _get(state: State, path: str) -> bool:
    """Whether the API server answers 200."""
    try:
        context = ssl.create_default_context(cafile=state.ca_file)
        request = urllib.request.Request(state.url + path, headers={"Authorization": f"Bearer {state.token}"})
        with urllib.request.urlopen(request, timeout=5, context=context) as answer:
            return bool(answer.status == 200)
    except (OSError, urllib.error.URLError):
        return False


def _is_ready(state: State) -> bool:
    return _get(state, "/readyz")
