# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Answers as the tables that ``kubectl get`` asks for and prints: one row an object."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable
from typing import Any

Object = dict[str, Any]
Column = tuple[str, Callable[[Object], object]]


def is_asked_for(accept: str) -> bool:
    """Whether the Accept header prefers a table."""
    return "as=Table" in accept.partition(",")[0]


def as_table(document: Object) -> Object:
    """Return the table of an object or a list; a Status stays as it is."""
    if document["kind"] == "Status":
        return document
    many = document["kind"].endswith("List")
    columns = _columns(document["kind"].removesuffix("List"))
    rows = document["items"] if many else [document]
    return {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": document["metadata"]
        if many
        else {"resourceVersion": document["metadata"]["resourceVersion"]},
        "columnDefinitions": [
            {"name": name, "type": "string", "format": "name" * (name == "Name"), "priority": 0}
            for name, _cell in columns
        ],
        "rows": [
            {
                "cells": [cell(row) for _name, cell in columns],
                "object": {
                    "kind": "PartialObjectMetadata",
                    "apiVersion": "meta.k8s.io/v1",
                    "metadata": row["metadata"],
                },
            }
            for row in rows
        ],
    }


def tabled_line(line: bytes) -> bytes:
    """Return the line of a watch with its object as a table."""
    event = json.loads(line)
    return json.dumps({**event, "object": as_table(event["object"])}).encode() + b"\n"


def _columns(kind: str) -> list[Column]:
    return [
        ("Name", lambda obj: obj["metadata"]["name"]),
        *_BETWEEN.get(kind, ()),
        ("Age", lambda obj: _duration(_seconds(obj["metadata"]["creationTimestamp"]))),
    ]


def _seconds(begin: str, end: str | None = None) -> int:
    until = datetime.datetime.fromisoformat(end) if end else datetime.datetime.now(datetime.UTC)
    return max(0, int((until - datetime.datetime.fromisoformat(begin)).total_seconds()))


def _duration(seconds: int) -> str:
    """In kubectl's manner: two units while the first is small, then one."""
    minutes, hours, days = seconds // 60, seconds // 3600, seconds // 86400
    if minutes < 2:
        return f"{seconds}s"
    if hours < 3:
        return f"{minutes}m{seconds % 60}s" if minutes < 10 and seconds % 60 else f"{minutes}m"
    if days < 2:
        return f"{hours}h{minutes % 60}m" if hours < 8 and minutes % 60 else f"{hours}h"
    return f"{days}d{hours % 24}h" if days < 8 and hours % 24 else f"{days}d"


def _job_status(job: Object) -> str:
    """The condition that says how the Job ended; without one, it runs."""
    held = {c["type"] for c in job.get("status", {}).get("conditions", ()) if c["status"] == "True"}
    return next((name for name in ("Complete", "Failed", "Suspended") if name in held), "Running")


def _job_duration(job: Object) -> str:
    status = job.get("status", {})
    begin = status.get("startTime")
    return _duration(_seconds(begin, status.get("completionTime"))) if begin else ""


# The columns between name and age, as kube-apiserver 1.34 has them.
_BETWEEN: dict[str, tuple[Column, ...]] = {
    "ConfigMap": (("Data", lambda obj: str(len(obj.get("data", {})) + len(obj.get("binaryData", {})))),),
    "Job": (
        ("Status", _job_status),
        (
            "Completions",
            lambda obj: f"{obj.get('status', {}).get('succeeded', 0)}/{obj['spec'].get('completions', 1)}",
        ),
        ("Duration", _job_duration),
    ),
    "Namespace": (("Status", lambda obj: obj["status"]["phase"]),),
    "Secret": (("Type", lambda obj: obj["type"]), ("Data", lambda obj: str(len(obj.get("data", {}))))),
    "ServiceAccount": (("Secrets", lambda obj: str(len(obj.get("secrets", ())))),),
}
