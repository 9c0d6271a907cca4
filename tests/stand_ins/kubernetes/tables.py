# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Answers as tables, which kubectl and the event source ask for: one row an object.

The columns are those of the real server for a kind of which it knows no others.
"""

from __future__ import annotations

import json
from typing import Any

from tests.stand_ins.http_server import Request


def is_asked_for(request: Request) -> bool:
    """Whether the Accept header prefers a table."""
    return "as=Table" in request.headers.get("accept", "").partition(",")[0]


def as_table(document: dict[str, Any], request: Request) -> bytes:
    """Return the table of an object or a list."""
    metadata = document["metadata"]
    with_object = request.query.get("includeObject") != "None"
    table = {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": metadata if "items" in document else {"resourceVersion": metadata["resourceVersion"]},
        "columnDefinitions": [
            {"name": "Name", "type": "string", "format": "name"},
            {"name": "Created At", "type": "date"},
        ],
        "rows": [_row(one["metadata"], with_object) for one in document.get("items", [document])],
    }
    return json.dumps(table).encode()


def _row(metadata: dict[str, Any], with_object: bool) -> dict[str, Any]:
    shown = {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": metadata}
    return {
        "cells": [metadata["name"], metadata["creationTimestamp"]],
        "object": shown if with_object else None,
    }
