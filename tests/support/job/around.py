# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a pod of the job has around its program: files, the service account, and TLS with the API server.

In a pod the service account is in a directory that only root can write. So a few lines start the program here:
they let it read the account from elsewhere, and do the rest as the image's own start does.
"""

from __future__ import annotations

import base64
import json
import shutil
import sys
from pathlib import Path

import google_crc32c

from tests.stand_ins.kubernetes import KubernetesLab
from tests.support.login import TlsFront
from tests.tools.env import ROOT

# What the job contract requires.
DOCUMENT = {"auths": {"quay.io": {"auth": base64.b64encode(b"example-user:example-password").decode()}}}
REQUIRED = {
    "CLUSTER_ID": "cls-abc123",
    "CLUSTER_NAME": "production-cluster",
    "GCP_PROJECT_ID": "customer-prod-12345",
    "PULL_SECRET_DATA": json.dumps(DOCUMENT),
    "MANAGEMENT_NAMESPACE": "clusters-cls-abc123",
}

_START = """
import os
import sys

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, here)

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.kubernetes import pod

pod.ACCOUNT = os.path.join(os.path.dirname(here), "account")

import main

sys.exit(main.main())
"""


class Pod:
    """Lays it out in a directory; ``environment``: what the kubelet tells containers of the API server."""

    def __init__(self, directory: Path, management: KubernetesLab) -> None:
        account = directory / "account"
        account.mkdir()
        self._front = TlsFront(management.url.removeprefix("http://"), directory)
        shutil.copy(self._front.authority, account / "ca.crt")
        (account / "token").write_text(management.admin_token + "\n")
        port = str(self._front.port)
        self.environment = {"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": port}
        link = directory / "opt" / "ansible_collections" / "hyperfleet" / "pull_secret"
        link.parent.mkdir(parents=True)
        link.symlink_to(ROOT, target_is_directory=True)
        give_packages(directory / "opt")
        self.start = start(directory / "opt")
        self.command = [sys.executable, "-I", "-S", "-B", str(self.start)]

    def stop(self) -> None:
        """No more connections are taken."""
        self._front.stop()


def give_packages(directory: Path) -> None:
    """Put what the image has of its wheel beside the program, as it is installed here."""
    package = Path(google_crc32c.__file__).parent
    for path in (package, package.with_name(f"{package.name}.libs")):
        if path.is_dir():
            shutil.copytree(path, directory / path.name, ignore=shutil.ignore_patterns("__pycache__"))


def start(directory: Path) -> Path:
    """The program's start, beside the image's own, in a directory beside that of the account."""
    shutil.copy(ROOT / "extensions" / "job" / "main.py", directory)
    path = directory / "start.py"
    path.write_text(_START)
    return path
