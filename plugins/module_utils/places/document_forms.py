# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Other forms in which people keep a docker config: the legacy format of ``.dockercfg`` and the manifest of a
Secret, which say what they are, are read, and the others are named with the remedy.
"""

from __future__ import annotations

import base64
import codecs
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from ..dockerconfig.entries import FIELDS
from ..model.encoded import decodings
from ..model.errors import InvalidDocument, NotFound
from ..model.shown import first_few, is_name, shown
from ..runtime.yaml_text import NotYAML, load_yaml, repeated_key
from .recognise import begins_as_docker_config, has_auths

__all__ = [
    "MISSING",
    "docker_config_of",
    "json_error",
    "readable_secret",
    "value_at",
    "value_bytes",
    "with_auths",
]

MISSING = object()
_LEGACY_KEY = ".dockercfg"
_SECRET_KEYS = (".dockerconfigjson", _LEGACY_KEY)
# In the API server, stringData overrides data.
_MEMBERS = ("stringData", "data")
_CREDENTIALS = FIELDS - {"email"}
# Base64 of the largest Secret, twice.
_LARGEST_YAML = 4 << 20
# spec.pullSecret.data of an API's answer that has the cluster in a field.
_LEVELS = 6
# What json says without what it quotes, except a comma and a colon.
_REASON = re.compile(r"[A-Za-z \\]+(?:'[,:]' [a-z]+)?")
# Without a second document after it.
_END_OF_DOCUMENT = re.compile(rb"\n---[ \t]*(?:\n\s*(?:#[^\n]*(?:\n\s*|\Z))*)?\Z")
_ALONE = "name a docker config, or a file with the manifest of one secret"


def docker_config_of(data: bytes, where: str, seen: list[bytes], prefix: str | None = None) -> bytes:
    """Return the docker config that ``data`` is, or has in a form that is read.

    :param where: the printable name of the source.
    :param seen: receives everything in ``data`` that may be secret.
    :param prefix: of a path inside ``data`` in ``source.field``; None if no path leads there.
    :raises InvalidDocument: another form, which it names, never with a value.
    :raises NotFound: the manifest has no docker config.
    """
    if begins_as_docker_config(data):
        # As nearly all sources do. The rules name what is wrong with it, and it is parsed only once.
        seen.append(data)
        return data
    document, is_yaml, problem = _parsed(data)
    if _is_secret(document):
        has_field, prefix, where = prefix is not None, None, f"{where}: the secret's manifest"
        # Not the whole manifest: messages need the names around the docker config.
        for member in _MEMBERS:
            seen.extend(value_bytes(value) for value in _mapping(document.get(member)).values())
        _check_repeated_keys(data, where)
        data = _of_manifest(readable_secret(document), where, has_field=has_field)
        document, is_yaml, problem = _parsed(data)
    seen.append(data)
    problem = problem or _problem(document, is_yaml, prefix)
    if problem is not None:
        raise InvalidDocument(f"{where}: {problem[0]}", problem[1])
    return _wrapped(data) if _is_legacy(document) else data


def with_auths(data: bytes) -> bytes:
    """Return the value of a Secret's key ``.dockercfg`` with ``auths`` around it, unless it has them.

    The key says what the format is, so any name is a registry.
    """
    document = _json(data)[0]
    return _wrapped(data) if isinstance(document, dict) and not has_auths(document) else data


def json_error(data: bytes, rule: str | None) -> str:
    """Return what is not JSON in a text that breaks the rule ``not-json``, for the end of a message.

    It has line and column, and quotes nothing.
    """
    is_like_json = rule == "not-json" and data.lstrip()[:1] in (b"{", b"[", b'"')
    error = _json(data)[1] if is_like_json else None
    return f" ({error})" if error else ""


def value_bytes(value: Any) -> bytes:
    """Return a value of a document as bytes; what ``readable_secret`` decoded has its own bytes again."""
    try:
        text = value if isinstance(value, str) else json.dumps(value, default=str)
    except TypeError:
        # YAML has other keys than strings.
        text = str(value)
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def value_at(document: Any, path: str) -> Any:
    """Return the value at a dotted path, or ``MISSING``.

    At each level the longest key counts under which the rest of the path exists.
    """
    name = path
    while name:
        if name in _mapping(document):
            value = document[name] if name == path else value_at(document[name], path[len(name) + 1 :])
            if value is not MISSING:
                return value
        name = name.rpartition(".")[0]
    return MISSING


def readable_secret(document: Any) -> Any:
    """Return a Secret's manifest with ``data`` decoded (None: not base64), and anything else unchanged."""
    if not _is_secret(document):
        return document
    return {**document, "data": {key: _decoded(text) for key, text in _mapping(document.get("data")).items()}}


def _parsed(data: bytes) -> tuple[Any, bool, tuple[str, str] | None]:
    """Return the document, whether it is YAML, and what it is if it cannot be parsed."""
    encoding = json.detect_encoding(data)[:6].upper()
    if encoding in ("UTF-16", "UTF-32"):
        return None, False, (f"it is {encoding}", "save it as UTF-8")
    document, error = _json(data)
    if error is None or data.removeprefix(codecs.BOM_UTF8).lstrip()[:1] in (b"", b"{", b"["):
        return document, False, None
    try:
        return load_yaml(_END_OF_DOCUMENT.sub(b"\n", data), largest=_LARGEST_YAML), True, None
    except ImportError:
        is_yaml = b"auths:" in data or b"kind: Secret" in data
        return None, False, ("it is YAML, and PyYAML is not installed", "convert it") if is_yaml else None
    except NotYAML as not_yaml:
        several = re.search(rb"\n---(\s|$)", data.strip())
        problem = "it has several YAML documents" if several else f"it is not JSON and {not_yaml}"
        return None, True, (problem, _ALONE)


def _json(data: bytes | str) -> tuple[Any, str | None]:
    """Return the document, or why it is not JSON. The parser's exception holds the text: it stays here."""
    try:
        return json.loads(data if isinstance(data, str) else data.decode("utf-8")), None
    except json.JSONDecodeError as error:
        match = _REASON.match(error.msg)
        reason = re.sub("( starting)? at$", "", match.group().strip().lower() if match else "")
        remedy = ': in a string, write a line feed as \\n and a quote as \\"' if "control" in reason else ""
        return None, f"{reason} at line {error.lineno} column {error.colno}{remedy}"
    except (ValueError, RecursionError):
        return None, ""


def _problem(document: Any, is_yaml: bool, prefix: str | None) -> tuple[str, str] | None:
    """Return what the document is instead of a docker config, and the remedy."""
    if isinstance(document, str) and not is_yaml and has_auths(_json(document)[0]):
        return "it is a JSON string that contains a docker config", "write the docker config itself (jq -r .)"
    if not isinstance(document, dict):
        return None
    if has_auths(document) or _is_legacy(document):
        return ("it is YAML", "convert it to JSON, for example with yq -o json") if is_yaml else None
    for path, value, is_base64 in _inside(document):
        name = f"{prefix}{path}"
        if prefix is None or not is_name(name) or value_at(document, path) is not value:
            return "a docker config is inside of it", "write the docker config alone"
        if is_base64:
            return f"its field {name} holds a docker config in base64", "decode it, and write it alone"
        remedy = f"set `field` to {name}" if prefix else f"add `field: {name}` to the source"
        return f"the docker config is in its field {name}", remedy
    if any(_CREDENTIALS.intersection(_mapping(entry)) for entry in document.values()):
        # Without this, a layer would count as empty.
        return "it has registries, but no auths around them [auths-missing]", "write them under auths"
    if isinstance(document.get("kind"), str) and document.get("apiVersion"):
        return "it is a Kubernetes object or a list of them, and no secret", _ALONE
    return None


def _inside(parent: Any, path: str = "") -> Iterator[tuple[str, Any, bool]]:
    """Yield the path and the value of each docker config inside, and whether it is in base64."""
    for name, value in _mapping(parent).items() if path.count(".") < _LEVELS else ():
        texts: tuple[bytes | str, ...] = (value, *decodings(value)) if isinstance(value, str) else ()
        if has_auths(value) or any(has_auths(_json(text)[0]) for text in texts):
            yield f"{path}{name}", value, bool(texts) and not has_auths(_json(value)[0])
        yield from _inside(value, f"{path}{name}.")


def _check_repeated_keys(manifest: bytes, where: str) -> None:
    """:raises InvalidDocument: the last of two values would be used silently."""
    try:
        twice = repeated_key(manifest)
    except (ImportError, NotYAML):
        return
    if twice is not None:
        key = shown(".".join(map(str, twice[0])))
        raise InvalidDocument(f"{where}: {key} occurs twice (line {twice[1]})", "remove one of them")


def _of_manifest(secret: Mapping[str, Any], where: str, *, has_field: bool) -> bytes:
    for member in _MEMBERS:
        values = _mapping(secret.get(member))
        for key in filter(values.__contains__, _SECRET_KEYS):
            if isinstance(values[key], str):
                data = value_bytes(values[key])
                return with_auths(data) if key == _LEGACY_KEY else data
            raise InvalidDocument(
                f"{where}: {member}.{key} is not {'base64' if member == 'data' else 'a string'}",
                "write the docker config as a string to stringData, or its base64 to data",
            )
    keys = sorted({shown(str(key)) for member in _MEMBERS for key in _mapping(secret.get(member))})
    raise NotFound(
        f"{where} has no key {_SECRET_KEYS[0]}; its keys: {first_few(keys)}",
        "name another key with `field`, for example `field: data.config.json`"
        if has_field
        else "add the key",
    )


def _decoded(value: Any) -> str | None:
    """Return what the API server decodes from base64; None if it is not base64."""
    try:
        raw = base64.b64decode(re.sub(r"[\r\n]", "", value), validate=True)
    except (TypeError, ValueError):
        return None
    return raw.decode("utf-8", "surrogateescape")


def _wrapped(data: bytes) -> bytes:
    return b'{"auths":' + data + b"}"


def _is_legacy(document: Any) -> bool:
    """Return whether the document of a file maps host names to entries, without ``auths``."""
    return (
        isinstance(document, dict)
        and all(isinstance(entry, dict) for entry in document.values())
        and all("." in str(name) or ":" in str(name) for name in document)
        and any(_CREDENTIALS.intersection(entry) for entry in document.values())
    )


def _is_secret(document: Any) -> bool:
    return isinstance(document, dict) and document.get("kind") == "Secret" and "apiVersion" in document


def _mapping(value: Any) -> Mapping[Any, Any]:
    return value if isinstance(value, dict) else {}
