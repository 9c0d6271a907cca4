# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Answers as tables, which kubectl and the event source ask for: one row an object.

The columns are those of the real server, but a kind that ``_COLUMNS`` does not name has a name and an age only.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable
from typing import Any

from tests.stand_ins.http_server import Request

Object = dict[str, Any]

# What is shown between the name and the age.
_COLUMNS: dict[str, dict[str, Callable[[Object], str]]] = {
    "ConfigMap": {"Data": lambda obj: str(len(obj.get("data", ())) + len(obj.get("binaryData", ())))},
    "Namespace": {"Status": lambda obj: str(obj["status"]["phase"])},
    "Secret": {"Type": lambda obj: str(obj["type"]), "Data": lambda obj: str(len(obj.get("data", ())))},
    "ServiceAccount": {"Secrets": lambda obj: str(len(obj.get("secrets", ())))},
}


def is_asked_for(request: Request) -> bool:
    """Whether the Accept header prefers a table."""
    return "as=Table" in request.headers.get("accept", "").partition(",")[0]


def as_table(document: Object, request: Request) -> bytes:
    """Return the table of an object or a list."""
    metadata = document["metadata"]
    columns = {
        "Name": lambda obj: obj["metadata"]["name"],
        **_COLUMNS.get(document["kind"].removesuffix("List"), {}),
        "Age": _age,
    }
    with_object = request.query.get("includeObject") != "None"
    table = {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": metadata if "items" in document else {"resourceVersion": metadata["resourceVersion"]},
        "columnDefinitions": [
            {"name": name, "type": "string", "format": "name" if name == "Name" else "", "priority": 0}
            for name in columns
        ],
        "rows": [
            {
                "cells": [cell(one) for cell in columns.values()],
                "object": _shown(one["metadata"]) if with_object else None,
            }
            for one in document.get("items", [document])
        ],
    }
    return json.dumps(table).encode()


def _shown(metadata: Object) -> Object:
    return {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": metadata}


def _age(obj: Object) -> str:
    """How long ago the object was created, in its largest unit."""
    created = datetime.datetime.fromisoformat(obj["metadata"]["creationTimestamp"])
    seconds = max(0, int((datetime.datetime.now(datetime.UTC) - created).total_seconds()))
    for unit, length in (("d", 86400), ("h", 3600), ("m", 60)):
        if seconds >= 2 * length:
            return f"{seconds // length}{unit}"
    return f"{seconds}s"
