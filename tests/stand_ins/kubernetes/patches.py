# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PATCH: JSON merge patch (RFC 7386) and strategic merge patch."""

from __future__ import annotations

from typing import Any

from tests.stand_ins.kubernetes.status import ApiError

MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
PATCH_TYPES = (MERGE_PATCH, STRATEGIC_PATCH)

# Lists that a strategic merge patch merges, with their merge key (None: a list of plain values).
# ServiceAccount.imagePullSecrets is not among them: it has no merge key, a patch replaces it.
MERGED_LISTS: dict[tuple[str, str], str | None] = {
    ("ServiceAccount", "secrets"): "name",
    ("", "metadata.ownerReferences"): "uid",
    ("", "metadata.finalizers"): None,
}


def apply_patch(content_type: str, kind: str, target: dict[str, Any], patch: Any) -> dict[str, Any]:
    """Return a new object: ``target`` with ``patch`` applied (400 when it cannot be)."""
    if not isinstance(patch, dict):
        what = "array" if isinstance(patch, list) else "value"
        wanted = "map[string]interface {}"
        raise ApiError(
            400, f"error decoding patch: json: cannot unmarshal {what} into Go value of type {wanted}"
        )
    merged: Any = (
        _merge(target, patch) if content_type == MERGE_PATCH else _strategic(kind, "", target, patch)
    )
    return merged if isinstance(merged, dict) else {}


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
