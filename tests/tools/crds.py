# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""``python -m tests.tools.crds`` writes the CRDs of the controller, from the modules' specs and documentation.

The limits of lengths and numbers are there because the API server counts the cost of each rule in advance.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

import conftest  # noqa: F401 - makes the collection importable
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.cluster import words_of
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.managed_object import (
    GROUP,
    VERSION,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks.custom_resources import (
    KINDS,
    Kind,
    camel_case,
)
from tests.tools.env import ROOT

__all__ = ["crd", "files"]

TARGET = ROOT / "extensions" / "operator" / "config" / "crd" / "bases"
_PLUGINS = "ansible_collections.hyperfleet.pull_secret.plugins"
_HEADER = "---\n# SPDX-License-Identifier: GPL-3.0-or-later\n# Written by: make crds\n"
_TYPES = {"str": "string", "path": "string", "int": "integer", "float": "number", "bool": "boolean"}
_MOST, _MOST_CLUSTERS = 64, 1000
_MARKUP = re.compile(r"\b([CEIMOPRV])\(([^)]*)\)")
_NO_EMPTY_KEY = {"rule": "self.all(key, key != '')", "message": "a key must not be empty"}

Schema = dict[str, Any]


class _Dumper(yaml.SafeDumper):
    """Writes everything out."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)


_TEXT: Schema = {"type": "string", "maxLength": 1024}
_QUANTITIES: Schema = {
    "type": "object",
    "additionalProperties": {
        "x-kubernetes-int-or-string": True,
        "anyOf": [{"type": "integer"}, {"type": "string"}],
    },
}
_DELETION: Schema = {
    "deletionPolicy": {
        "type": "string",
        "enum": ["Retain", "Delete"],
        "default": "Retain",
        "description": "Whether the deletion of this object deletes the pull secrets that it keeps. With Retain "
        "they stay where they are.",
    },
    "deletionTimeout": {
        "type": "integer",
        "minimum": 0,
        "maximum": 86400,
        "default": 900,
        "description": "Seconds after which an object that is being deleted goes, although not everything could be "
        "deleted. An Event says what is left where.",
    },
}
_WORDS: Schema = {"type": "string"}
_STATUS: Schema = {
    "type": "object",
    # The operator adds to its own conditions.
    "x-kubernetes-preserve-unknown-fields": True,
    "properties": {
        "conditions": {
            "type": "array",
            # Each writer has conditions of its own.
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["type"],
            "items": {
                "type": "object",
                "required": ["type"],
                "x-kubernetes-preserve-unknown-fields": True,
                "properties": dict.fromkeys(
                    ("type", "status", "reason", "message", "lastTransitionTime"), _WORDS
                ),
            },
        },
        "observedGeneration": {"type": "integer"},
        "nextAttempt": _WORDS,
        "attempts": {"type": "integer"},
        "summary": {
            "type": "object",
            "properties": {name: {"type": "integer"} for name in ("total", "changed", "failed")},
        },
        "targets": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": dict.fromkeys(("id", "state", "version", "digest", "reason"), _WORDS),
            },
        },
    },
}
_COLUMNS = [
    {"name": "Ready", "type": "string", "jsonPath": ".status.conditions[?(@.type=='Ready')].status"},
    {"name": "Reason", "type": "string", "jsonPath": ".status.conditions[?(@.type=='Ready')].reason"},
    {"name": "Targets", "type": "integer", "jsonPath": ".status.summary.total"},
    {"name": "Failed", "type": "integer", "jsonPath": ".status.summary.failed"},
    {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
]


def _plain(description: Any, words: Mapping[str, str]) -> str:
    """Return a description without Ansible's markup, with the names that the options have in the spec."""

    def name(match: re.Match[str]) -> str:
        markup, text = match.groups()
        if markup == "O":
            option, equals, value = text.partition("=")
            parts = [camel_case(words.get(part, part)) for part in option.split(".")]
            return f"{'.'.join(parts)}{equals}{value}"
        if markup == "R":
            return text.partition(",")[0]
        return text.rpartition(".")[2] if markup == "M" else text.partition("#")[0]

    sentences = description if isinstance(description, list) else [description]
    return " ".join(_MARKUP.sub(name, " ".join(str(sentence).split())) for sentence in sentences)


def _documented(module: str) -> dict[str, Any]:
    """Return the documentation of a module's options, with that of its fragments."""
    documented = yaml.safe_load(importlib.import_module(f"{_PLUGINS}.modules.{module}").DOCUMENTATION)
    options: dict[str, Any] = {}
    for fragment in documented["extends_documentation_fragment"]:
        name, _dot, part = fragment.removeprefix("hyperfleet.pull_secret.").partition(".")
        texts = importlib.import_module(f"{_PLUGINS}.doc_fragments.{name}").ModuleDocFragment
        options |= yaml.safe_load(getattr(texts, (part or "documentation").upper())).get("options") or {}
    return {**options, **(documented.get("options") or {})}


class _Writer:
    """Makes the schema of one kind's spec."""

    def __init__(self, kind: Kind) -> None:
        self._kind = kind
        self._words = words_of("name") if kind.modules[0] == "gcp_pull_secret" else {}
        self._documented: dict[str, Any] = {}
        for module in reversed(kind.modules):
            options = _documented(module)
            self._documented |= {self._words.get(option, option): text for option, text in options.items()}

    def spec(self) -> Schema:
        """Return the schema of ``spec``."""
        options = self._kind.options()
        schema = self._object("", options, self._documented)
        schema["required"] = sorted(map(camel_case, self._kind.required))
        rules = []
        if "layers" in options:
            both = {"rule": "!(has(self.source) && has(self.layers))", "message": "source excludes layers"}
            rules.append(both)
        schema["x-kubernetes-validations"] = rules
        if not self._kind.is_fleet:
            schema["properties"] |= _DELETION
            return schema
        clusters = {
            "type": "array",
            "description": "The clusters. One run serves all of them.",
            "maxItems": _MOST_CLUSTERS,
            "items": schema,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["clusterId"],
        }
        return {"type": "object", "required": ["clusters"], "properties": {"clusters": clusters, **_DELETION}}

    def _schema(self, name: str, spec: Mapping[str, Any], documented: Mapping[str, Any]) -> Schema:
        schema = self._typed(name, spec, documented)
        schema["description"] = _plain(documented.get("description") or "", self._words)
        if spec.get("default") not in (None, {}, []):
            schema["default"] = spec["default"]
        if spec.get("choices"):
            schema["enum"] = list(spec["choices"])
        return schema

    def _typed(self, name: str, spec: Mapping[str, Any], documented: Mapping[str, Any]) -> Schema:
        kind = spec.get("type", "str")
        if kind == "list":
            elements = {**spec, "type": spec.get("elements", "str")}
            return {"type": "array", "maxItems": _MOST, "items": self._typed(name, elements, documented)}
        if kind == "dict" and spec.get("options"):
            return self._object(name, spec["options"], documented.get("suboptions") or {})
        if kind == "dict":
            return {
                "type": "object",
                "maxProperties": _MOST,
                "additionalProperties": _QUANTITIES if name == "syncer_resources" else _TEXT,
                "x-kubernetes-validations": [_NO_EMPTY_KEY],
            }
        return dict(_TEXT) if _TYPES[kind] == "string" else {"type": _TYPES[kind]}

    def _object(self, name: str, options: Mapping[str, Any], documented: Mapping[str, Any]) -> Schema:
        schema: Schema = {
            "type": "object",
            "properties": {
                camel_case(option): self._schema(option, spec, documented.get(option) or {})
                for option, spec in sorted(options.items())
            },
        }
        required = sorted(camel_case(option) for option, spec in options.items() if spec.get("required"))
        if required:
            schema["required"] = required
        if name == "source":
            places = [camel_case(option) for option in options if option != "field"]
            count = " + ".join(f"(has(self.{place}) ? 1 : 0)" for place in places)
            message = f"exactly one of {', '.join(places)} is required"
            schema["x-kubernetes-validations"] = [{"rule": f"{count} == 1", "message": message}]
        return schema


def crd(kind: Kind) -> Schema:
    """Return the CustomResourceDefinition of a kind."""
    version = {
        "name": VERSION,
        "served": True,
        "storage": True,
        "subresources": {"status": {}},
        "additionalPrinterColumns": _COLUMNS,
        "schema": {
            "openAPIV3Schema": {
                "type": "object",
                "required": ["spec"],
                "properties": {
                    "apiVersion": {"type": "string"},
                    "kind": {"type": "string"},
                    "metadata": {"type": "object"},
                    "spec": _Writer(kind).spec(),
                    "status": _STATUS,
                },
            }
        },
    }
    names = {
        "kind": kind.name,
        "listKind": f"{kind.name}List",
        "plural": kind.plural,
        "singular": kind.name.lower(),
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{kind.plural}.{GROUP}"},
        "spec": {"group": GROUP, "scope": "Namespaced", "names": names, "versions": [version]},
    }


def files() -> dict[Path, str]:
    """Return the path and the content of each CRD."""
    return {
        TARGET / f"{GROUP}_{kind.plural}.yaml": _HEADER
        + yaml.dump(crd(kind), Dumper=_Dumper, sort_keys=False, width=110)
        for kind in KINDS.values()
    }


def main() -> int:
    """Write the CRDs."""
    for path, text in files().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        print(path.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
