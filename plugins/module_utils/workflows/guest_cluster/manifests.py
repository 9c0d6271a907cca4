# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reads manifests of further objects for the guests from files, with the values of Secrets of the host.

A manifest may have ``{{ namespace }}`` and ``{{ cluster }}``, the host's namespace and the name of the Cluster. In
a Secret's ``data``, ``valueFrom.secretKeyRef`` names a Secret of the host and a key, as in a pod's environment.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from ...clients.kubernetes.client import KubernetesClient
from ...model.errors import InvalidDocument, NotFound
from ...model.guest_cluster import ObjectAddress
from ...model.naming import LAST_APPLIED
from ...model.shown import shown, shown_path
from ...places.kubernetes_secret.target import secret_value
from ...places.local import FileSource
from ...runtime.retry import Deadline
from ...runtime.yaml_text import NotYAML, load_yaml, repeated_key
from .desired import PLACEHOLDER

__all__ = ["read_manifests"]

_Manifest = Mapping[str, Any]

_DOCUMENTS = re.compile(r"^---(?=\s|\Z)", re.MULTILINE)
_PLACEHOLDERS = ("cluster", "namespace")
_REFERENCE = ("key", "name", "namespace")
_REVISION = "deployment.kubernetes.io/revision"
_OF_THE_SERVER = (
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "generation",
    "managedFields",
    "resourceVersion",
    "selfLink",
    "uid",
)


def read_manifests(
    paths: Iterable[str],
    files: FileSource,
    host: KubernetesClient,
    deadline: Deadline,
    seen: list[bytes],
) -> tuple[_Manifest, ...]:
    """Return the manifests of all files, whose Secrets have their values in base64.

    :param seen: receives every value of a Secret.
    :raises InvalidDocument: a file has no manifests, or two of the same object; names the file and the document.
    :raises NotFound: a file, a Secret or a key does not exist.
    """
    secrets: dict[tuple[str, str], _Manifest] = {}

    def value_of(where: str, reference: Mapping[str, str]) -> bytes:
        address = reference["namespace"], reference["name"]
        place = host.place(address[0], "secrets", address[1])
        if address not in secrets:
            secret = host.get(address[0], "secrets", address[1], deadline)
            if secret is None:
                raise NotFound(
                    f"{where}: {place} does not exist", "correct the reference, or create the Secret"
                )
            secrets[address] = secret
        return secret_value(secrets[address], reference["key"], place)

    identities: set[tuple[str, ...]] = set()
    manifests = []
    for path in paths:
        for where, manifest in _documents(path, files, deadline):
            address = ObjectAddress.of(manifest)
            if address.identity in identities:
                raise InvalidDocument(f"{where}: {shown(str(address))} occurs twice", "remove one of them")
            identities.add(address.identity)
            manifests.append(_with_values(where, manifest, value_of, seen) if address.is_secret else manifest)
    return tuple(manifests)


def _documents(path: str, files: FileSource, deadline: Deadline) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the printable name and the content of each manifest of a file."""
    file = f"objects: file:{shown_path(path)}"
    try:
        text = files.read(path, deadline).decode("utf-8")
    except UnicodeDecodeError:
        raise InvalidDocument(f"{file} is not UTF-8") from None
    number = 0
    for part in _DOCUMENTS.split(text):
        where = f"{file}: document {number + 1}"
        try:
            # As the API server reads it: a number as a key becomes a string.
            manifest = json.loads(json.dumps(load_yaml(part), allow_nan=False))
            twice = repeated_key(part)
        except NotYAML as error:
            raise InvalidDocument(f"{where}: {error}") from None
        except (TypeError, ValueError):
            raise InvalidDocument(
                f"{where} has a value that JSON does not have, such as a date", "put it in quotes"
            ) from None
        if twice is not None:
            key = shown(".".join(map(str, twice[0])))
            raise InvalidDocument(
                f"{where}: {key} occurs twice (line {twice[1]} of it)", "remove one of them"
            )
        if manifest is not None:
            number += 1
            _check(where, manifest)
            yield where, _without_state(manifest)
    if not number:
        raise InvalidDocument(f"{file} has no manifest")


def _check(where: str, manifest: Any) -> None:
    """:raises InvalidDocument: it is not the manifest of one object."""
    metadata: Any = manifest.get("metadata") if isinstance(manifest, dict) else None
    metadata = metadata if isinstance(metadata, dict) else {}
    required = (
        [manifest.get("apiVersion"), manifest.get("kind"), metadata.get("name")] if metadata else [None]
    )
    if not all(isinstance(text, str) and text for text in required):
        raise InvalidDocument(
            f"{where}: apiVersion, kind and metadata.name of one Kubernetes object are required",
            "write each object as a document of its own",
        )
    if not isinstance(metadata.get("namespace") or "", str) or not all(
        isinstance(metadata.get(part) or {}, dict) for part in ("annotations", "labels")
    ):
        raise InvalidDocument(f"{where}: metadata has a value of the wrong type")
    if metadata.get("ownerReferences"):
        # The garbage collector of a guest would delete the object.
        raise InvalidDocument(f"{where}: metadata.ownerReferences is of another cluster", "remove it")
    for match in PLACEHOLDER.finditer(json.dumps(manifest, ensure_ascii=False)):
        if match[1] and match[1] not in _PLACEHOLDERS:
            raise InvalidDocument(
                f"{where}: unknown placeholder {shown(match[1])}",
                f"it may have {' and '.join(_PLACEHOLDERS)}; write {{{{ '{match[0]}' }}}} for braces that stay",
            )


def _without_state(manifest: dict[str, Any]) -> dict[str, Any]:
    """Return a manifest without what only an API server writes, as in what ``kubectl get -o yaml`` prints."""
    metadata = {name: value for name, value in manifest["metadata"].items() if name not in _OF_THE_SERVER}
    if metadata.get("annotations"):
        # A controller's, and what may hold former values of a Secret.
        own = metadata["annotations"].items()
        metadata["annotations"] = {
            name: value for name, value in own if name not in (LAST_APPLIED, _REVISION)
        }
    return {**{name: value for name, value in manifest.items() if name != "status"}, "metadata": metadata}


def _with_values(
    where: str, secret: _Manifest, value_of: Callable[[str, Mapping[str, str]], bytes], seen: list[bytes]
) -> dict[str, Any]:
    """Return a Secret with the values of its references. ``stringData`` stays, since it may have placeholders."""
    data: dict[str, str] = {}
    for name, value in _members(where, secret, "stringData"):
        if not isinstance(value, str):
            raise InvalidDocument(
                f"{where}: stringData.{shown(name)} is not a string", "write references to data"
            )
        seen.append(value.encode())
    for name, value in _members(where, secret, "data"):
        place, reference = f"{where}: data.{shown(name)}", _reference(value)
        if reference is None and not isinstance(value, str):
            raise InvalidDocument(
                f"{place} is not a string", "or valueFrom.secretKeyRef with namespace, name and key"
            )
        if reference is not None and PLACEHOLDER.search(json.dumps(reference)):
            raise InvalidDocument(
                f"{place}: the reference has a placeholder", "name one Secret of the host for all guests"
            )
        raw = value_of(place, reference) if reference is not None else _decoded(place, value)
        seen.append(raw)
        data[name] = base64.b64encode(raw).decode("ascii")
    return {**secret, "type": secret.get("type") or "Opaque", "data": data}


def _members(where: str, secret: _Manifest, member: str) -> Iterable[tuple[str, Any]]:
    values = secret.get(member) or {}
    if not isinstance(values, dict):
        raise InvalidDocument(f"{where}: {member} is not a mapping")
    return values.items()


def _reference(value: Any) -> Mapping[str, str] | None:
    inner = value.get("valueFrom") if isinstance(value, dict) else None
    reference = inner.get("secretKeyRef") if isinstance(inner, dict) else None
    if not isinstance(reference, dict) or sorted(reference) != list(_REFERENCE):
        return None
    return reference if all(isinstance(text, str) and text for text in reference.values()) else None


def _decoded(where: str, value: str) -> bytes:
    try:
        return base64.b64decode("".join(value.split()), validate=True)
    except ValueError:
        raise InvalidDocument(f"{where} is not base64", "write plain text to stringData") from None
