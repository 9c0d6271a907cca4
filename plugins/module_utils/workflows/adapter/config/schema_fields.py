# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Building blocks for the fields of the AdapterConfig's schema.

A field's ``description`` ends the sentence "… is not" of an error, and editors show it.
"""

from __future__ import annotations

from typing import Any

from ....model.duration import DURATION

__all__ = [
    "ANNOTATIONS",
    "DNS_LABEL",
    "LABELS",
    "LABEL_NAME",
    "QUANTITIES",
    "SUBDOMAIN",
    "Schema",
    "boolean_field",
    "choice_field",
    "duration_field",
    "integer_field",
    "kubernetes_name_field",
    "list_field",
    "map_field",
    "object_field",
    "path_field",
    "text_field",
]

Schema = dict[str, Any]

LABEL_NAME = r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?"
DNS_LABEL = r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$"
SUBDOMAIN = r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?){0,8}$"
_QUANTITY = r"^([0-9]{1,15}(\.[0-9]{0,9})?|\.[0-9]{1,9})(m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei|e[0-9]{1,2})?$"


def text_field(description: str, pattern: str = r"^\S(.*\S)?$", longest: int = 1024) -> Schema:
    """A string with a pattern."""
    return {
        "type": "string",
        "description": description,
        "minLength": 1,
        "maxLength": longest,
        "pattern": pattern,
    }


def choice_field(choices: list[str], default: str | None = None) -> Schema:
    """One of some strings."""
    made: Schema = {"enum": choices, "description": "one of " + ", ".join(choices)}
    return made if default is None else {**made, "default": default}


def integer_field(lowest: int, highest: int, default: int | None = None) -> Schema:
    """An integer, both bounds included."""
    made: Schema = {
        "type": "integer",
        "description": f"a whole number from {lowest} to {highest}",
        "minimum": lowest,
        "maximum": highest,
    }
    return made if default is None else {**made, "default": default}


def boolean_field(default: bool) -> Schema:
    """``true`` or ``false``."""
    return {"type": "boolean", "description": "true or false", "default": default}


def duration_field(default: str) -> Schema:
    """A duration in Go's notation or in seconds, at most a day."""
    return {
        "type": ["string", "number"],
        "description": "a duration such as 10s or 1m30s",
        "maxLength": 64,
        "pattern": DURATION,
        "exclusiveMinimum": 0,
        "maximum": 86400,
        "default": default,
    }


def object_field(properties: dict[str, Any], required: list[str] | None = None) -> Schema:
    """A mapping with exactly these fields."""
    made: Schema = {
        "type": "object",
        "description": "a mapping",
        "additionalProperties": False,
        "properties": properties,
    }
    return {**made, "required": required} if required else made


def list_field(items: Schema, most: int = 64) -> Schema:
    """A list with a maximum length."""
    return {"type": "array", "description": "a list", "items": items, "maxItems": most}


def map_field(keys: str, key_description: str, values: Schema, most: int = 64) -> Schema:
    """A mapping from any keys to values of one kind."""
    return {
        "type": "object",
        "description": "a mapping",
        "maxProperties": most,
        "propertyNames": {"description": key_description, "pattern": keys},
        "additionalProperties": values,
    }


def path_field() -> Schema:
    """The path of a file."""
    return text_field("the path of a file", r"^[^\u0000-\u001f]+$", 4096)


def kubernetes_name_field(what: str) -> Schema:
    """The name of most kinds of Kubernetes objects."""
    rule = "lower case letters, digits, dashes and dots, with a letter or digit at both ends of each part"
    return text_field(f"the name of {what}: at most 253 {rule}", SUBDOMAIN, 253)


_NAME = "at most 63 letters, digits, dashes, dots and underscores, with a letter or digit at both ends"
_KEY = f"NAME or DOMAIN/NAME, where DOMAIN is in lower case and NAME has {_NAME}"
LABELS = map_field(
    rf"^([a-z0-9]([a-z0-9.-]{{0,251}}[a-z0-9])?/)?{LABEL_NAME}$",
    _KEY,
    text_field(_NAME, rf"^({LABEL_NAME})?$", 63) | {"minLength": 0},
)
ANNOTATIONS = map_field(
    rf"^([a-z0-9]([a-z0-9.-]{{0,251}}[a-z0-9])?/)?{LABEL_NAME}$",
    _KEY,
    {"type": "string", "description": "text", "maxLength": 65536},
)
QUANTITIES = object_field(
    {
        name: {
            "type": ["string", "number"],
            "description": f"a quantity such as {example}",
            "maxLength": 32,
            "pattern": _QUANTITY,
            "minimum": 0,
            "maximum": 1e15,
        }
        for name, example in (("cpu", "100m"), ("memory", "128Mi"), ("ephemeral-storage", "1Gi"))
    }
)
