# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reads one docker config from ``source`` or ``layers``: read, select a field, lint, merge."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..dockerconfig import DockerConfig, DockerConfigError, Layer, load, merge, registry_identity
from ..dockerconfig.display import display
from ..model.errors import ConfigurationError, InvalidDocument, NotFound, WrongOption
from ..model.naming import registries
from ..model.shown import is_name
from ..model.stored_version import StoredVersion
from ..runtime.retry import Deadline
from ..runtime.yaml_text import NotYAML, load_json_or_yaml
from .base import ReadValue, Source
from .document_forms import MISSING, docker_config_of, json_error, readable_secret, value_at, value_bytes
from .hyperfleet_spec import HyperFleetSource
from .local import InlineSource
from .sources import SOURCES, OpenSources

__all__ = ["Document", "DocumentReader", "check_references"]

_SHARED_SECONDS, _MAX_SHARED_READINGS = 1.0, 100
# The task has it, and each cluster has its own.
_NOT_SHARED = (InlineSource.NAME, HyperFleetSource.NAME)


@dataclass(frozen=True)
class Document:
    """What was read, ready to be written.

    :param provenance: registry to layer.
    :param conflicts: registries that several layers have: ``{registry, winner, losers}``.
    :param version: the stored version that it comes from; None without one.
    """

    config: DockerConfig
    provenance: Mapping[str, str]
    conflicts: Sequence[Mapping[str, Any]] = ()
    warnings: Sequence[str] = ()
    version: StoredVersion | None = None


@dataclass
class _Reading:
    config: DockerConfig
    name: str
    warnings: list[str] = field(default_factory=list)
    version: StoredVersion | None = None


class DocumentReader:
    """Reads the documents of one run's many targets. Thread-safe.

    Targets with one source share a reading for a second: a fleet has one pull secret, and thousands of clusters.
    """

    def __init__(self, sources: OpenSources) -> None:
        self._sources = sources
        self._readings: dict[tuple[str, str], tuple[float, ReadValue]] = {}

    def prepare(self, targets: Sequence[Mapping[str, Any]]) -> None:
        """Let each place read ahead for all references to it."""
        references: dict[str, list[Any]] = {}
        for target in targets:
            for source in _sources_of(target):
                try:
                    name, reference = _checked(source)
                except ConfigurationError:
                    # It fails alone, when it is handled.
                    continue
                references.setdefault(name, []).append(reference)
        for name, found in references.items():
            self._sources.named(name).prepare(found)

    def read(self, target: Mapping[str, Any], deadline: Deadline, seen: list[bytes]) -> Document:
        """Return the target's one docker config.

        :param target: ``source``, or ``layers`` with ``precedence``, ``policy``, ``drop`` and ``strict``.
        :param seen: receives every raw document, so that the caller can mask its forms in messages.
        :raises InvalidDocument: names the source, the registry and the rule.
        """
        layers = target.get("layers")
        if not layers:
            return self._read_source(target, deadline, seen)
        check_references(target)
        policy = registries(target.get("policy"))
        _check_layers(layers, policy)
        readings: list[tuple[str, _Reading]] = []
        skipped: list[str] = []
        for layer in layers:
            try:
                reading = self._read_one(layer["source"], target, deadline, seen, allow_empty=True)
            except NotFound as error:
                if not layer.get("optional"):
                    raise
                skipped.append(f"layer {layer['name']} left out: {error}")
            except InvalidDocument as error:
                # An invalid optional layer must not stop the others' rotation.
                if not layer.get("optional"):
                    raise
                skipped.append(f"layer {layer['name']} left out: {error}")
            else:
                # Nothing was added, or nothing yet. This is no mistake, but the outcome reports it.
                if not reading.config.registries:
                    skipped.append(f"layer {layer['name']} is empty")
                readings.append((layer["name"], reading))
        if not readings:
            raise NotFound("every layer is missing or invalid", "at least one must be usable")
        there = {name for name, _reading in readings}
        try:
            merged = merge(
                [Layer(name, reading.config) for name, reading in readings],
                precedence=target.get("precedence") or "additional",
                # A layer that was left out cannot win.
                policy={registry: name for registry, name in policy.items() if name in there},
                drop=target.get("drop") or (),
            )
        except DockerConfigError as error:
            raise InvalidDocument(
                f"merge of {', '.join(name for name, _reading in readings)}: {error}"
            ) from None
        if not merged.config.registries:
            raise InvalidDocument("the merged docker config has no registry")
        of_layers = [text for _name, reading in readings for text in reading.warnings]
        warnings = skipped + [
            f"layer {name}: {text}" for name, reading in readings for text in reading.warnings
        ]
        # The merge repeats the layers' warnings about entries that won.
        warnings += [text for text in map(str, merged.warnings) if text not in of_layers]
        warnings += _not_met(target.get("drop") or (), [reading for _name, reading in readings])
        return Document(
            merged.config, merged.provenance, tuple(merged.conflicts), list(dict.fromkeys(warnings))
        )

    def _read_source(self, target: Mapping[str, Any], deadline: Deadline, seen: list[bytes]) -> Document:
        """Read one document; ``drop`` applies to it as to layers."""
        reading = self._read_one(target["source"], target, deadline, seen)
        config, warnings = reading.config, reading.warnings
        if target.get("policy"):
            warnings.append("policy has no effect without layers")
        if not config.registries:
            raise InvalidDocument("drop removes every registry", "at least one must remain")
        warnings += _not_met(target.get("drop") or (), [reading])
        provenance = dict.fromkeys(config.registries, reading.name)
        return Document(config, provenance, warnings=warnings, version=reading.version)

    def _read_one(
        self,
        source: Mapping[str, Any],
        target: Mapping[str, Any],
        deadline: Deadline,
        seen: list[bytes],
        *,
        allow_empty: bool = False,
    ) -> _Reading:
        name, reference = _checked(source)
        place = self._sources.named(name)
        value = self._read_shared(place, reference, deadline)
        data = value.data
        where = place.describe(reference)
        prefix: str | None = ""
        if source.get("field"):
            # Only the docker config is secret: messages need the names around it.
            data, is_text = _pick(data, source["field"], where)
            prefix = None if is_text else f"{source['field']}."
        may_differ = place.has_other_forms(reference)
        if may_differ:
            data = docker_config_of(data, where, seen, prefix)
        else:
            seen.append(data)
        try:
            config = load(
                data,
                allow_empty=allow_empty,
                drop=target.get("drop") or (),
                strict=bool(target.get("strict")),
            )
        except DockerConfigError as error:
            at = json_error(data, error.rule) if may_differ else ""
            raise InvalidDocument(f"{where}: {error}{at}", "ask the document's owner to correct it") from None
        return _Reading(config, name, list(map(str, config.warnings)), value.version)

    def _read_shared(self, place: Source, reference: Any, deadline: Deadline) -> ReadValue:
        if place.NAME in _NOT_SHARED:
            return place.get(reference, deadline)
        key = (place.NAME, json.dumps(reference, sort_keys=True, default=str))
        read_at, value = self._readings.get(key, (0.0, None))
        now = time.monotonic()
        # An older one might replace what another run has written since. Time counts from before the request.
        if value is None or now - read_at > _SHARED_SECONDS:
            value = place.get(reference, deadline)
            if len(self._readings) >= _MAX_SHARED_READINGS:
                self._readings.clear()
            self._readings[key] = (now, value)
        return value


def check_references(target: Mapping[str, Any]) -> None:
    """Check that each reference of a target can name a document, also of optional layers.

    :param target: ``source``, or ``layers``.
    :raises ConfigurationError: names the option, as ``layers[1].source.kubernetes.namespace``.
    """
    if not target.get("layers"):
        if target.get("source"):
            _checked(target["source"])
        return
    for index, layer in enumerate(target["layers"]):
        try:
            _checked(layer["source"])
        except ConfigurationError as error:
            raise ConfigurationError(f"layers[{index}].{error.message}") from None


def _check_layers(layers: Sequence[Mapping[str, Any]], policy: Mapping[str, Any]) -> None:
    """Find problems of the task, not of a document.

    :raises ConfigurationError: names the layer.
    """
    names: list[str] = []
    for position, layer in enumerate(layers, start=1):
        name = layer["name"]
        if not is_name(name):
            raise ConfigurationError(f"layers[{position - 1}].name is not a valid name")
        if name in names:
            raise ConfigurationError(f"two layers are named {name}")
        names.append(name)
    for position, (registry, name) in enumerate(policy.items()):
        if name not in names:
            raise ConfigurationError(
                f"policy of {display(registry, position)} must be one of the layers {', '.join(names)}"
            )


def _not_met(drop: Sequence[str], readings: Sequence[_Reading]) -> list[str]:
    """A misspelt registry would keep what should be dropped."""
    dropped = {registry for reading in readings for registry in reading.config.dropped}
    return [
        f"drop: no document has the registry {display(key, position)}; check its spelling"
        for position, key in enumerate(drop)
        if registry_identity(key) not in dropped
    ]


def _sources_of(target: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    if target.get("layers"):
        return [layer["source"] for layer in target["layers"]]
    return [target["source"]] if target.get("source") else []


def _reference(source: Mapping[str, Any]) -> tuple[str, Any]:
    for kind in SOURCES:
        if source.get(kind.NAME) is not None:
            return kind.NAME, source[kind.NAME]
    raise ConfigurationError(f"source needs one of {', '.join(kind.NAME for kind in SOURCES)}")


def _checked(source: Mapping[str, Any]) -> tuple[str, Any]:
    """Return the reference if its names are valid: otherwise they may be values, and servers log requests."""
    place, reference = _reference(source)
    named = {"field": source.get("field")}
    if place != InlineSource.NAME and isinstance(reference, dict):
        named.update({f"{place}.{option}": text for option, text in reference.items()})
    for option, text in named.items():
        if isinstance(text, str) and text and not is_name(text):
            raise WrongOption(f"source.{option}", "is not a valid name")
    next(kind for kind in SOURCES if place == kind.NAME).check(reference)
    return place, reference


def _pick(data: bytes, path: str, where: str) -> tuple[bytes, bool]:
    """Return the docker config at a dotted path of a JSON or YAML document, and whether it is a string."""
    document = value_at(readable_secret(_structure(data, where)), path)
    if document is MISSING:
        raise NotFound(f"{where}: it has no field {path}", "add it to the document, or correct source.field")
    if isinstance(document, str):
        return value_bytes(document), True
    if isinstance(document, dict):
        try:
            return json.dumps(document, sort_keys=True).encode("utf-8"), False
        except (TypeError, ValueError):
            raise InvalidDocument(f"{where}: field {path} holds something that JSON cannot express") from None
    raise InvalidDocument(f"{where}: field {path} must be a string or an object")


def _structure(data: bytes, where: str) -> Any | None:
    try:
        return load_json_or_yaml(data)
    except ImportError:
        raise InvalidDocument(f"{where}: not JSON, and PyYAML is not installed to read it as YAML") from None
    except NotYAML as error:
        raise InvalidDocument(f"{where} {error}") from None
