# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The part of ``make install-test`` that uses the installed tarball: it provisions clusters twice, and runs the
job.
"""

from __future__ import annotations

import json

from tests.stand_ins.kubernetes.lab import KubernetesLab
from tests.stand_ins.secret_manager.lab import SecretManagerLab
from tests.tools.install_test import Installed

PLAYBOOK = "hyperfleet.pull_secret.provision"
DOCUMENT = {"auths": {"quay.io": {"username": "example-user", "password": "example-password"}}}


def provision(installed: Installed) -> None:
    """Provision two clusters, check that a second run changes nothing, and run the job for a third cluster."""
    with SecretManagerLab() as store, KubernetesLab() as management:
        clusters = [cluster(installed, number) for number in (1, 2)]
        for number in (1, 2, 3):
            management.store.create_namespace(f"clusters-cls-{number}")
        variables = installed.home / "clusters.yml"
        variables.write_text(json.dumps({"clusters": clusters}))
        world = {
            "SECRET_MANAGER_EMULATOR_HOST": store.grpc,
            "KUBECONFIG": str(management.kubeconfig(installed.home / "kubeconfig")),
        }
        for expected in ("2 changed, 0 failed", "0 changed, 0 failed"):
            reply = installed.run("ansible-playbook", PLAYBOOK, "-e", f"@{variables}", **world)
            if f"2 clusters: {expected}" not in reply.stdout:
                raise SystemExit(
                    f"the installed collection said otherwise than {expected!r}:\n{reply.stdout}"
                )
        job = {
            "CLUSTER_ID": "cls-3",
            "CLUSTER_NAME": "Example",
            "GCP_PROJECT_ID": "example-project",
            "MANAGEMENT_NAMESPACE": "clusters-cls-3",
            "PULL_SECRET_DATA": json.dumps(DOCUMENT),
            "ANSIBLE_STDOUT_CALLBACK": "hyperfleet.pull_secret.job_log",
        }
        reply = installed.run("ansible-playbook", "hyperfleet.pull_secret.job", **world, **job)
        last = json.loads(reply.stdout.strip().splitlines()[-1])
        if last["message"] != "Success: Pull secret provisioned":
            raise SystemExit(f"the installed job said otherwise:\n{reply.stdout}")


def cluster(installed: Installed, number: int) -> dict[str, object]:
    """Return a cluster whose pull secret is in a file."""
    path = installed.home / f"pull-secret-{number}.json"
    path.write_text(json.dumps(DOCUMENT))
    return {
        "cluster_id": f"cls-{number}",
        "gcp_project_id": "example-project",
        "management_namespace": f"clusters-cls-{number}",
        "source": {"file": str(path)},
    }
