# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PATCH: JSON patch (RFC 6902), JSON merge patch (RFC 7386), strategic merge patch."""

from __future__ import annotations

import copy
from typing import Any

from tests.stand_ins.kubernetes.status import ApiError

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
PATCH_TYPES = (JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH)

# Lists that a strategic merge patch merges, with their merge key (None: a list of plain values).
# ServiceAccount.imagePullSecrets is not among them: it has no merge key, a patch replaces it.
MERGED_LISTS: dict[tuple[str, str], str | None] = {
    ("ServiceAccount", "secrets"): "name",
    ("", "metadata.ownerReferences"): "uid",
    ("", "metadata.finalizers"): None,
}


def apply_patch(content_type: str, kind: str, target: dict[str, Any], patch: Any) -> dict[str, Any]:
    """Return a new object: ``target`` with ``patch`` applied (400 or 422 when it cannot be)."""
    if content_type == JSON_PATCH:
        if not isinstance(patch, list):
            raise _undecodable(patch, "[]handlers.jsonPatchOp")
        return _json_patch(copy.deepcopy(target), patch)
    if not isinstance(patch, dict):
        raise _undecodable(patch, "map[string]interface {}")
    merged: Any = (
        _merge(target, patch) if content_type == MERGE_PATCH else _strategic(kind, "", target, patch)
    )
    return merged if isinstance(merged, dict) else {}


def _undecodable(patch: Any, wanted: str) -> ApiError:
    what = "object" if isinstance(patch, dict) else "array" if isinstance(patch, list) else "value"
    return ApiError(
        400, f"error decoding patch: json: cannot unmarshal {what} into Go value of type {wanted}"
    )


def _merge(target: Any, patch: Any) -> Any:
    if not isinstance(patch, dict):
        return patch
    out = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            out.pop(key, None)
        else:
            out[key] = _merge(out.get(key), value)
    return out


def _strategic(kind: str, path: str, target: Any, patch: Any) -> Any:
    if isinstance(patch, dict):
        directive = patch.get("$patch")
        if directive == "delete":
            return {}
        if directive == "replace":
            return {key: value for key, value in patch.items() if key != "$patch"}
        out = dict(target) if isinstance(target, dict) else {}
        for key, value in patch.items():
            below = f"{path}.{key}" if path else key
            if key.startswith("$"):
                continue
            if value is None:
                out.pop(key, None)
            else:
                out[key] = _strategic(kind, below, out.get(key), value)
        return out
    if isinstance(patch, list) and isinstance(target, list):
        for owner in (kind, ""):
            if (owner, path) in MERGED_LISTS:
                return _merge_lists(kind, target, patch, MERGED_LISTS[owner, path])
    return patch


def _merge_lists(kind: str, target: list[Any], patch: list[Any], key: str | None) -> list[Any]:
    if key is None:
        return [item for item in patch if item not in target] + target
    by_key = {item.get(key): item for item in target}
    for item in patch:
        if item.get("$patch") == "delete":
            by_key.pop(item.get(key), None)
        else:
            by_key[item.get(key)] = _strategic(kind, "-", by_key.get(item.get(key)), item)
    return list(by_key.values())


def _unprocessable() -> ApiError:
    return ApiError(422, "the server rejected our request due to an error in our request", details={})


def _json_patch(document: Any, operations: list[Any]) -> dict[str, Any]:
    for operation in operations:
        try:
            name, path = operation["op"], _pointer(operation["path"])
            if name == "test":
                if _get(document, path) != operation.get("value"):
                    raise _unprocessable()
            elif name in ("add", "replace"):
                document = _set(document, path, operation["value"], insert=name == "add")
            elif name == "remove":
                _remove(document, path)
            elif name in ("move", "copy"):
                source = _pointer(operation["from"])
                value = copy.deepcopy(_get(document, source))
                if name == "move":
                    _remove(document, source)
                document = _set(document, path, value, insert=True)
            else:
                raise _unprocessable()
        except (KeyError, IndexError, TypeError, ValueError):
            raise _unprocessable() from None
    return document if isinstance(document, dict) else {}


def _pointer(text: str) -> list[str]:
    if text == "":
        return []
    if not text.startswith("/"):
        raise ValueError(text)
    return [part.replace("~1", "/").replace("~0", "~") for part in text[1:].split("/")]


def _get(document: Any, path: list[str]) -> Any:
    for step in path:
        document = document[int(step)] if isinstance(document, list) else document[step]
    return document


def _set(document: Any, path: list[str], value: Any, *, insert: bool) -> Any:
    if not path:
        return value
    parent, last = _get(document, path[:-1]), path[-1]
    if isinstance(parent, list):
        if last == "-":
            parent.append(value)
        elif not insert:
            parent[int(last)] = value
        elif 0 <= int(last) <= len(parent):
            parent.insert(int(last), value)
        else:
            raise IndexError(last)
    else:
        parent[last] = value  # "replace" of what is not there adds it, as in the real server
    return document


def _remove(document: Any, path: list[str]) -> None:
    parent, last = _get(document, path[:-1]), path[-1]
    if isinstance(parent, list):
        del parent[int(last)]
    else:
        del parent[last]
