# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The adapter's configuration: the AdapterConfig of the adapter contract, checked, with all defaults.

Errors name paths of the file and rules, never a value.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ....model.adapter_settings import (
    BatchSettings,
    BrokerSettings,
    LoggingSettings,
    MetricsSettings,
)
from ....model.errors import ConfigurationError, missing_package
from ....model.shown import shown_path
from ....runtime.atomic_file import read_regular
from ....runtime.yaml_text import NotYAML, load_yaml, repeated_key
from ..cel.preconditions import DEFAULT_PRECONDITIONS, Preconditions
from .defaults import fill_broker, fill_hyperfleet, fill_job, fill_placement, parse_duration_field, snake_case
from .parts import DeletionSettings, HyperFleetSettings, JobTemplate, PlacementSettings
from .validation import path_of, validate_document

__all__ = ["OVERRIDES", "AdapterConfig", "load_adapter_config", "override_options", "parse_adapter_config"]

_LARGEST = 1024 * 1024
OVERRIDES = {
    "adapter_name": "spec.adapterType",
    "api_flavour": "spec.hyperfleetAPI.flavour",
    "batch_size": "spec.batch.size",
    "batch_window": "spec.batch.window",
    "deletion": "spec.deletion.store",
    "execution": "spec.execution",
    "headers": "spec.hyperfleetAPI.headers",
    "token_file": "spec.hyperfleetAPI.tokenFile",
}
"""The overrides that a role's variables may set, and the field that each replaces."""


def override_options() -> dict[str, dict[str, Any]]:
    """Return the overrides as an argument spec, for the values in them that are secret."""
    return {name: {"type": "dict", "no_log": True} if name == "headers" else {} for name in OVERRIDES}


@dataclass(frozen=True)
class AdapterConfig:
    """The configuration of one adapter.

    :param name: ``metadata.name``; ``adapter`` is its name in reports.
    :param preconditions: expressions; by default the adapter contract's.
    :param kubernetes: in the form of the module's option of that name, as is ``gcp``.
    """

    name: str
    namespace: str
    adapter: str
    preconditions: tuple[str, ...]
    dependencies: tuple[str, ...]
    placement: PlacementSettings
    hyperfleet: HyperFleetSettings
    broker: BrokerSettings
    job: JobTemplate
    execution: str
    deletion: DeletionSettings
    batch: BatchSettings
    kubernetes: Mapping[str, Any]
    gcp: Mapping[str, Any]
    logging: LoggingSettings
    metrics: MetricsSettings
    _document: Mapping[str, Any] = field(repr=False, compare=False)

    def criteria(self) -> Preconditions:
        """Return the compiled preconditions, compiled once in a process."""
        return Preconditions(self.preconditions, self.dependencies)

    def replaced(self, overrides: Mapping[str, Any]) -> AdapterConfig:
        """Return the configuration with overrides applied.

        The keys are names of ``OVERRIDES``; empty values are ignored. Numbers may be strings, as from
        Ansible's templates.

        :raises ConfigurationError: names the variable.
        """
        given = {name: value for name, value in overrides.items() if value is not None and value != ""}
        unknown = sorted(str(name) for name in given if name not in OVERRIDES)
        if unknown:
            raise ConfigurationError(
                f"{len(unknown)} of the given overrides are unknown (names not shown); "
                f"the known ones are {', '.join(OVERRIDES)}"
            )
        document = copy.deepcopy(dict(self._document))
        for name, value in given.items():
            *parents, last = OVERRIDES[name].split(".")
            held = document
            for parent in parents:
                held = held.setdefault(parent, {})
            held[last] = _from_ansible(name, value)
        try:
            return parse_adapter_config(document)
        except ConfigurationError as error:
            text = str(error)
            for name in given:
                text = re.sub(rf"{re.escape(OVERRIDES[name])}(?![A-Za-z])", name, text)
            raise ConfigurationError(text) from None


def load_adapter_config(path: str) -> AdapterConfig:
    """Read the configuration from a YAML file.

    :raises ConfigurationError: it cannot be read, or as ``parse_adapter_config``; names the file.
    """
    where = f"the adapter's configuration {shown_path(path)}"
    try:
        content = read_regular(path)[0]
    except (OSError, ValueError) as error:
        raise ConfigurationError(
            f"{where} cannot be read: {getattr(error, 'strerror', None) or error.args[0]}"
        ) from None
    if len(content) > _LARGEST:
        raise ConfigurationError(f"{where} is larger than 1 MiB")
    try:
        document = load_yaml(content)
        twice = repeated_key(content)
    except ImportError as error:
        raise missing_package(error, "PyYAML") from None
    except NotYAML as error:
        raise ConfigurationError(f"{where} {error}") from None
    if twice is not None:
        raise ConfigurationError(f"{where}: {path_of(twice[0])} is given twice (line {twice[1]})")
    try:
        return parse_adapter_config(document)
    except ConfigurationError as error:
        raise ConfigurationError(f"{where}: {error.message}", error.hint) from None


def parse_adapter_config(document: Any) -> AdapterConfig:
    """Parse a configuration document.

    :raises ConfigurationError: names the problem's path: ``spec.jobTemplate.image is missing``.
    """
    validate_document(document)
    metadata, spec = document["metadata"], document["spec"]
    batch, logging, metrics = (spec.get(name, {}) for name in ("batch", "logging", "metrics"))
    size = batch.get("size", 1000)
    adapter = spec.get("adapterType", "pullsecret")
    preconditions, dependencies = _criteria(spec.get("criteria", {}), adapter)
    return AdapterConfig(
        name=metadata["name"],
        namespace=metadata.get("namespace", "hyperfleet-system"),
        adapter=adapter,
        preconditions=preconditions,
        dependencies=dependencies,
        placement=fill_placement(spec.get("placement", {})),
        hyperfleet=fill_hyperfleet(spec.get("hyperfleetAPI", {})),
        broker=fill_broker(spec.get("broker"), size),
        job=fill_job(spec.get("jobTemplate", {})),
        execution=spec.get("execution", "job"),
        deletion=DeletionSettings(spec.get("deletion", {}).get("store", "delete")),
        batch=BatchSettings(size, parse_duration_field(batch, "window", "1s", "spec.batch")),
        kubernetes={snake_case(name): value for name, value in spec.get("kubernetes", {}).items()},
        gcp={snake_case(name): value for name, value in spec.get("gcp", {}).items()},
        logging=LoggingSettings(logging.get("level", "info"), logging.get("format", "json")),
        metrics=MetricsSettings(
            metrics.get("port", 8080),
            metrics.get("address", "0.0.0.0"),  # noqa: S104 - a pod's address, which Prometheus scrapes
            metrics.get("perCluster", False),
        ),
        _document=document,
    )


def _criteria(given: Mapping[str, Any], adapter: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    own = given.get("preconditions")
    preconditions = DEFAULT_PRECONDITIONS if own is None else tuple(each["expression"] for each in own)
    dependencies = tuple(given.get("dependencies", ()))
    if adapter in dependencies:
        raise ConfigurationError(
            f"spec.criteria.dependencies[{dependencies.index(adapter)}] is this adapter itself"
        )
    try:
        Preconditions(preconditions, dependencies)
    except ConfigurationError as error:
        if error.hint:
            raise
        raise ConfigurationError(f"spec.criteria.{error.message}") from None
    return preconditions, dependencies


def _from_ansible(name: str, value: Any) -> Any:
    if name == "batch_size" and isinstance(value, str) and value.strip().isdecimal():
        return int(value)
    if name == "batch_window" and isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            return value.strip()
    if name == "headers" and isinstance(value, Mapping):
        return {str(key): _header(item) for key, item in value.items()}
    # Ansible 2.19 has its own types of strings, lists and mappings.
    return str(value) if isinstance(value, str) else value


def _header(value: Any) -> Any:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, (str, int, float)) else value
