# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reading a docker config from a Kubernetes Secret: ``kubernetes: {namespace, name, key}``."""

from __future__ import annotations

import re
from typing import Any, ClassVar

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.errors import (
    ConfigurationError,
    NotFound,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.naming import (
    KUBERNETES_NAME,
    KUBERNETES_NAMESPACE,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.base import Settings, Source
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.kubernetes.client import (
    KubernetesClients,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.kubernetes.target import (
    KEY,
    secret_value,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.retry import Deadline

__all__ = ["KubernetesSource"]

# The API server's own rules.
_RULES = (
    ("namespace", KUBERNETES_NAMESPACE, "lower case letters, digits and dashes, 63 at most"),
    ("name", KUBERNETES_NAME, "lower case letters, digits, dashes and dots"),
    ("key", re.compile(r"[A-Za-z0-9._-]{1,253}\Z"), "letters, digits, dashes, dots and underscores"),
)


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

    def __init__(self, settings: Settings, clients: KubernetesClients | None = None) -> None:
        super().__init__(settings)
        self._clients = clients or KubernetesClients(settings)

    @classmethod
    def check(cls, reference: Any) -> None:
        """The names are parts of the address that is asked."""
        for option, rule, takes in _RULES:
            text = str(reference.get(option) or "")
            if option == "key" and not text:
                continue
            if not rule.match(text):
                shape = f"is not {takes}" if text else "is empty"
                raise ConfigurationError(f"source.kubernetes.{option} {shape}")

    def read(self, reference: Any, deadline: Deadline) -> bytes:
        """The key's bytes."""
        client = self._clients.get(deadline, reference.get("context"), reference.get("kubeconfig"))
        secret = client.get(reference["namespace"], "secrets", reference["name"], deadline)
        if secret is None:
            raise NotFound(f"{self.describe(reference)}: the secret does not exist")
        return secret_value(secret, reference.get("key") or KEY, self.describe(reference))

    def describe(self, reference: Any) -> str:
        """``kubernetes:CONTEXT:NAMESPACE/NAME``."""
        context = f"{reference['context']}:" if reference.get("context") else ""
        return f"kubernetes:{context}{reference['namespace']}/{reference['name']}"
