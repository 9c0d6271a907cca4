# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reads a docker config from a Kubernetes Secret: ``kubernetes: {namespace, name, key}``."""

from __future__ import annotations

from typing import Any, ClassVar

from ...clients.kubernetes.client import KubernetesClients
from ...model.errors import NotFound
from ...runtime.retry import Deadline
from ...runtime.run_settings import RunSettings
from ..base import Source
from .target import KEY, secret_value

__all__ = ["KubernetesSource"]


class KubernetesSource(Source):
    """A key of a Secret, of any type."""

    NAME: ClassVar[str] = "kubernetes"
    SPEC: ClassVar[dict[str, Any]] = {
        "type": "dict",
        "options": {
            "namespace": {"type": "str", "required": True},
            "name": {"type": "str", "required": True},
            "key": {"type": "str", "default": ".dockerconfigjson", "no_log": False},
            "context": {"type": "str"},
            "kubeconfig": {"type": "path"},
        },
    }
    RULES: ClassVar[tuple[str, ...]] = ("namespace", "name", "key")
    CONNECTION: ClassVar[dict[str, Any] | None] = {
        "type": "dict",
        "options": {
            "kubeconfig": {"type": "path"},
            "context": {"type": "str"},
            "host": {"type": "str"},
            "api_key": {"type": "str", "no_log": True},
            "ca_cert": {"type": "path"},
            # No default, which could not be told from K8S_AUTH_VERIFY_SSL.
            "validate_certs": {"type": "bool"},
        },
    }

    def __init__(self, settings: RunSettings) -> None:
        super().__init__(settings)
        self.clients = KubernetesClients(settings)
        """The connections of the run, which also write Secrets."""

    def read(self, reference: Any, deadline: Deadline) -> bytes:
        """Return the key's bytes."""
        client = self.clients.get(deadline, reference.get("context"), reference.get("kubeconfig"))
        secret = client.get(reference["namespace"], "secrets", reference["name"], deadline)
        if secret is None:
            raise NotFound(
                f"{self.describe(reference)}: the secret does not exist",
                "check the namespace, the name and the context of source.kubernetes, or create the secret",
            )
        return secret_value(secret, reference.get("key") or KEY, self.describe(reference))

    def describe(self, reference: Any) -> str:
        """``kubernetes:CONTEXT:NAMESPACE/NAME``."""
        context = f"{reference['context']}:" if reference.get("context") else ""
        return f"kubernetes:{context}{reference['namespace']}/{reference['name']}"
