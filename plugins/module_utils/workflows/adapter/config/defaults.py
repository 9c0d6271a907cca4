# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Fills in all defaults of a valid document, and returns the parts of a configuration.

Also checks what a schema cannot express, with the same kind of message.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

from ....model.adapter_settings import BrokerSettings
from ....model.duration import seconds
from ....model.errors import ConfigurationError
from ....model.shown import is_name
from ...provision.environment import VARIABLES
from .parts import HyperFleetSettings, JobTemplate, PlacementSettings

__all__ = [
    "fill_broker",
    "fill_hyperfleet",
    "fill_job",
    "fill_placement",
    "parse_duration_field",
    "snake_case",
]

_LONGEST = 86400.0
# The resources of the job contract.
_RESOURCES = {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"cpu": "500m", "memory": "512Mi"}}
_FACTORS = {
    "": 1.0, "m": 1e-3, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18,
    "Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40, "Pi": 2.0**50, "Ei": 2.0**60,
}  # fmt: skip
# Set by the adapter itself or by kubelet: a configuration must not choose where a pod's token goes.
_RESERVED_ENV = frozenset({*VARIABLES, "GENERATION", "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"})
_RESERVED_LABELS = frozenset(
    {
        "managed-by",
        "adapter",
        "cluster-id",
        "cluster-name",
        "resource-type",
        "hyperfleet-version",
        "generation",
        "job-name",
        "controller-uid",
    }
)
_RESERVED_PREFIXES = ("hyperfleet.io/", "batch.kubernetes.io/")
_LOOPBACK = re.compile(r"localhost\Z|127\.[0-9.]+\Z|::1\Z")


def snake_case(name: str) -> str:
    """Return ``ca_cert`` for ``caCert``."""
    return re.sub(r"(?<=[a-z0-9])([A-Z])", lambda found: "_" + found.group(1).lower(), name)


def parse_duration_field(given: Mapping[str, Any], name: str, default: str, path: str) -> float:
    """Return a duration in seconds; a number is seconds.

    :raises ConfigurationError: it is 0, or longer than a day.
    """
    value = given.get(name, default)
    try:
        found = seconds(value) if isinstance(value, str) else float(value)
    except ValueError:
        found = 0.0
    if not 0 < found <= _LONGEST:
        raise ConfigurationError(f"{path}.{name} must be a duration above 0s and up to 24h")
    return found


def fill_placement(given: Mapping[str, Any]) -> PlacementSettings:
    """Fill in ``spec.placement``."""
    allowed = given.get("allowedNamespaces")
    return PlacementSettings(None if allowed is None else tuple(allowed), given.get("managementCluster"))


def fill_hyperfleet(given: Mapping[str, Any]) -> HyperFleetSettings:
    """Fill in ``spec.hyperfleetAPI``, with HYPERFLEET_API_URL if it has no URL."""
    path = "spec.hyperfleetAPI"
    url = given.get("url") or os.environ.get("HYPERFLEET_API_URL", "").strip()
    if not url:
        raise ConfigurationError(f"{path}.url is missing", "set it or HYPERFLEET_API_URL")
    made = HyperFleetSettings(
        url=url,
        timeout=parse_duration_field(given, "timeout", "10s", path),
        flavour=given.get("flavour", "current"),
        token_file=given.get("tokenFile"),
        headers=dict(given.get("headers", {})),
        ca_cert=given.get("caCert"),
        validate_certs=given.get("validateCerts", True),
    )
    try:
        made.connection()
    except ConfigurationError as error:
        text = str(error).replace("hyperfleet.token_file", f"{path}.tokenFile")
        raise ConfigurationError(re.sub(r"\bhyperfleet\.(?=url|headers)", f"{path}.", text)) from None
    return made


def fill_broker(given: Mapping[str, Any] | None, batch_size: int) -> BrokerSettings:
    """Fill in ``spec.broker``. The project may come from the environment, because the adapter contract has a
    subscription only.
    """
    if given is None:
        return BrokerSettings()
    kind, subscription = given["type"], given.get("subscription")
    project, endpoint = given.get("projectId"), given.get("endpoint")
    if kind == "gcp-pubsub":
        parts = str(subscription).split("/")
        if len(parts) == 4:
            if project not in (None, parts[1]):
                raise ConfigurationError(
                    "spec.broker.projectId is not the project of spec.broker.subscription"
                )
            project, subscription = parts[1], parts[3]
        project = project or os.environ.get("GOOGLE_CLOUD_PROJECT") or None
        endpoint = endpoint or os.environ.get("PUBSUB_EMULATOR_HOST") or None
    _check_url(given.get("url"))
    listen = given.get("listen", {})
    address = listen.get("address", "127.0.0.1")
    if kind == "webhook" and not given.get("tokenFile") and not _LOOPBACK.match(address):
        raise ConfigurationError(
            "spec.broker.tokenFile is required unless spec.broker.listen is a loopback address"
        )
    topic = given.get("topic")
    exchange = given.get("exchange") or topic
    return BrokerSettings(
        type=kind,
        subscription=subscription,
        project=project,
        endpoint=endpoint,
        url=given.get("url"),
        url_file=given.get("urlFile"),
        topic=topic,
        exchange=exchange,
        exchange_type=given.get("exchangeType", "topic"),
        # The name that HyperFleet's own programs use.
        queue=given.get("queue") or (f"{topic or exchange}-{subscription}" if kind == "rabbitmq" else None),
        ca_cert=given.get("caCert"),
        prefetch=given.get("prefetch", 2 * batch_size),
        listen_address=address,
        listen_port=listen.get("port", 8081),
        token_file=given.get("tokenFile"),
    )


def _check_url(url: str | None) -> None:
    if url is None:
        return
    try:
        parts = urlsplit(url)
        usable = bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise ConfigurationError("spec.broker.url must be an amqp or amqps address")
    # A password without a user name, or in another encoding, is also a password.
    if parts.password is not None or ":" in unquote(parts.netloc.rpartition("@")[0]) or parts.query:
        raise ConfigurationError(
            "spec.broker.url holds a password or parameters", "use spec.broker.urlFile or BROKER_RABBITMQ_URL"
        )


def fill_job(given: Mapping[str, Any]) -> JobTemplate:
    """Fill in ``spec.jobTemplate``."""
    path = "spec.jobTemplate"
    return JobTemplate(
        image=given.get("image"),
        service_account=given.get("serviceAccountName", "pullsecret-adapter-job"),
        resources=_resources(given.get("resources", _RESOURCES), f"{path}.resources"),
        ttl=given.get("ttlSecondsAfterFinished", 3600),
        backoff_limit=given.get("backoffLimit", 3),
        deadline=given.get("activeDeadlineSeconds", 600),
        keep_generations=given.get("keepGenerations", 1),
        image_pull_secrets=tuple(each["name"] for each in given.get("imagePullSecrets", ())),
        env=_env(given.get("env", ()), f"{path}.env"),
        node_selector=dict(given.get("nodeSelector", {})),
        tolerations=tuple(dict(each) for each in given.get("tolerations", ())),
        labels=_not_ours(given.get("labels", {}), f"{path}.labels"),
        annotations=_not_ours(given.get("annotations", {}), f"{path}.annotations"),
        priority_class=given.get("priorityClassName"),
        log_level=given.get("logLevel", "info"),
        log_format=given.get("logFormat", "json"),
        gcp_api_timeout=parse_duration_field(given, "gcpApiTimeout", "30s", path),
    )


def _resources(given: Mapping[str, Mapping[str, Any]], path: str) -> dict[str, dict[str, str]]:
    limits = given.get("limits", {})
    for name, value in given.get("requests", {}).items():
        if name in limits and _amount(value) > _amount(limits[name]):
            raise ConfigurationError(f"{path}.requests.{name} is more than {path}.limits.{name}")
    return {kind: {name: str(value) for name, value in held.items()} for kind, held in given.items()}


def _amount(quantity: str | float) -> float:
    if not isinstance(quantity, str):
        return float(quantity)
    number = re.match(r"[0-9.]+", quantity)
    amount, unit = (number.group(), quantity[number.end() :]) if number else ("0", "")
    return float(amount) * (_FACTORS[unit] if unit in _FACTORS else float(f"1{unit}"))


def _env(given: Any, path: str) -> dict[str, str]:
    made: dict[str, str] = {}
    for index, each in enumerate(given):
        name = each["name"]
        if name in _RESERVED_ENV:
            raise ConfigurationError(f"{path}[{index}]: the adapter sets {name} itself; remove this entry")
        if name in made:
            raise ConfigurationError(f"{path}[{index}].name is given twice")
        made[name] = each["value"]
    return made


def _not_ours(given: Mapping[str, str], path: str) -> dict[str, str]:
    for key in given:
        if key in _RESERVED_LABELS or key.startswith(_RESERVED_PREFIXES):
            shown = key if is_name(key) else "(a key that is not shown)"
            raise ConfigurationError(f"{path}.{shown} is reserved for this collection")
    return dict(given)
