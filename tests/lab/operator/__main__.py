# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""``make operator-up``: a real API server with the controller, and runs as the Ansible Operator starts them.

It runs in the foreground until it is interrupted, one run at a time. The operator itself is not there.
"""

from __future__ import annotations

import base64
import os
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from ansible_collections.hyperfleet.pull_secret.extensions.eda.watching import custom_resources
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks.custom_resources import KINDS
from tests.lab.control_plane.build import build
from tests.lab.nodes.api import Api, ApiError
from tests.lab.operator import Controller, installed, proxy
from tests.lab.session import REAL, kubernetes
from tests.stand_ins.secret_manager import SecretManagerLab
from tests.tools.env import COLLECTIONS, ROOT

_SAMPLE = ROOT / "extensions" / "operator" / "config" / "samples" / "pull_secret.yaml"
_NAMESPACES = ("hyperfleet-system", "clusters-cls-123")


def main() -> int:
    """Serve until Ctrl-C."""
    with ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        server: Any = stack.enter_context(kubernetes(REAL))
        manager = stack.enter_context(SecretManagerLab())
        api = Api(server)
        admin = server.kubeconfig(directory / "kubeconfig")
        token = stack.enter_context(installed(api, admin))
        account = server.kubeconfig(directory / "account", token=token)
        served = stack.enter_context(proxy(api, token, server.ca_file))
        controller = Controller(api, served, directory, SECRET_MANAGER_EMULATOR_HOST=manager.grpc)
        for namespace in _NAMESPACES:
            body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
            api.apply(f"/api/v1/namespaces/{namespace}", body)
        sources = subprocess.Popen(
            [sys.executable, "-m", custom_resources.__name__],
            env={**os.environ, "PYTHONPATH": str(COLLECTIONS), "KUBECONFIG": str(account)},
        )
        stack.callback(sources.wait)
        stack.callback(sources.terminate)
        _put_source(api)
        print(f"export KUBECONFIG={admin} PATH={build()}:$PATH")
        print(
            f"kubectl apply -f {_SAMPLE.relative_to(ROOT)}; kubectl -n hyperfleet-system get pullsecrets -w"
        )
        try:
            _serve(api, controller)
        except KeyboardInterrupt:
            return 0
    return 0


def _put_source(api: Api) -> None:
    document = base64.b64encode(
        b'{"auths":{"registry.example.com":{"username":"example","password":"example"}}}'
    )
    metadata = {"name": "cls-123-pull-secret", "namespace": "hyperfleet-system"}
    body: dict[str, Any] = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata}
    body.update(type="kubernetes.io/dockerconfigjson", data={".dockerconfigjson": document.decode()})
    api.apply("/api/v1/namespaces/hyperfleet-system/secrets/cls-123-pull-secret", body)


def _serve(api: Api, controller: Controller) -> None:
    done: dict[str, tuple[Any, ...]] = {}
    while True:
        for kind in KINDS.values():
            for item in api.items(f"/apis/pullsecret.hyperfleet.io/v1alpha1/{kind.plural}"):
                metadata = item["metadata"]
                annotations, deletion = metadata.get("annotations"), metadata.get("deletionTimestamp")
                state = (metadata["generation"], deletion, str(annotations))
                if done.get(metadata["uid"]) == state:
                    continue
                try:
                    run = controller.reconcile(kind.name, metadata["namespace"], metadata["name"])
                except ApiError as error:
                    print(f"{kind.name} {metadata['namespace']}/{metadata['name']}: {error}", flush=True)
                    continue
                if run.is_successful:
                    done[metadata["uid"]] = state
                result = (
                    "Successful" if run.is_successful else f"Failure: {'; '.join(run.failures) or run.output}"
                )
                print(f"{kind.name} {metadata['namespace']}/{metadata['name']}: {result}", flush=True)
        time.sleep(0.5)


if __name__ == "__main__":
    sys.exit(main())
