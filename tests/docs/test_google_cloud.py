# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The numbers of API calls on the page *Set up Google Cloud* match the measured ones."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import (
    gcp_pull_secret,
    k8s_pull_secret,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.options import with_targets
from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.provision import (
    gcp_targets,
    kubernetes_targets,
)
from tests.stand_ins.kubeconfig import Cluster, write_kubeconfig
from tests.stand_ins.kubernetes import KubernetesLab
from tests.stand_ins.kubernetes.resources import RESOURCES
from tests.stand_ins.secret_manager import SecretManagerLab
from tests.support import doc_tables as tables

ROWS = tables.table(tables.page("google_cloud"), "What happens", "Writes", "Reads", "Accesses")
NUMBER = 3


def _run(task: Any, targets: list[dict[str, Any]], **connections: Any) -> dict[str, Any]:
    validator = ArgumentSpecValidator(with_targets(task.target_options()))
    checked = validator.validate({"targets": targets, **connections})
    assert not checked.error_messages, checked.error_messages
    done: dict[str, Any] = task.run(dict(checked.validated_parameters), check_mode=False, diff=False)
    assert done["summary"]["failed"] == 0, done
    return done


def test_calls_of_a_cluster_are_those_of_the_page(tmp_path: Path) -> None:
    source = tmp_path / "pull-secret.json"
    clusters = [
        {
            "cluster_id": f"cls-{number}",
            "gcp_project_id": "customer-prod-12345",
            "management_namespace": f"clusters-cls-{number}",
            "source": {"file": str(source)},
        }
        for number in range(NUMBER)
    ]
    found = []
    with SecretManagerLab() as manager, KubernetesLab() as api:
        for cluster in clusters:
            api.store.create(RESOURCES["namespaces"], {"metadata": {"name": cluster["management_namespace"]}})
        kubeconfig = write_kubeconfig(tmp_path / "kubeconfig", [Cluster("mgmt-1", api.url, api.admin_token)])
        connections: dict[str, Any] = {
            "gcp": {"endpoint": f"http://{manager.grpc}"},
            "kubernetes": {"kubeconfig": str(kubeconfig)},
        }
        for what, word in (("a new secret", "one"), ("nothing to do", "one"), ("a rotation", "two")):
            entry = {"username": "example-user", "password": word}
            source.write_text(json.dumps({"auths": {"quay.io": entry}}))
            manager.calls.clear()
            stored = _run(gcp_pull_secret, gcp_targets(clusters), **connections)
            _run(k8s_pull_secret, kubernetes_targets(clusters, stored), **connections)
            calls = Counter(call.method for call in manager.calls.matching())
            # The page says: "Each project of the list adds one read."
            assert calls.pop("ListSecrets") == 1
            accesses = calls.pop("AccessSecretVersion")
            reads = sum(
                calls.pop(name, 0) for name in ("GetSecret", "GetSecretVersion", "ListSecretVersions")
            )
            counts = (sum(calls.values()), reads, accesses)
            found.append([what, *(str(count // NUMBER) for count in counts)])
    assert found == ROWS
