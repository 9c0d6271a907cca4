# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The shipped schema file equals the schema in the code."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.adapter.config.schema import (
    SCHEMA,
)
from tests.support.adapter_jobs.documents import document

_FILE = Path(__file__).parents[3] / "extensions" / "adapter" / "adapter-config.schema.json"


def test_the_file_is_the_value() -> None:
    """To update the file, run ``python -m tests.adapter.unit.test_schema``."""
    assert json.loads(_FILE.read_text(encoding="utf-8")) == SCHEMA


def test_it_is_a_schema_of_the_draft_that_it_names() -> None:
    assert SCHEMA["$schema"] == Draft202012Validator.META_SCHEMA["$id"]
    Draft202012Validator.check_schema(SCHEMA)
    Draft202012Validator(SCHEMA).validate(document())


def _leaves(schema: Any, path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, field in schema.get("properties", {}).items():
        yield f"{path}.{name}", field
        yield from _leaves(field, f"{path}.{name}")
        for inner in ("items", "additionalProperties"):
            if isinstance(field.get(inner), dict):
                yield f"{path}.{name}[]", field[inner]
                yield from _leaves(field[inner], f"{path}.{name}[]")


def test_every_field_says_what_it_is_and_has_an_end() -> None:
    fields = dict(_leaves(SCHEMA, ""))
    assert len(fields) > 80
    for path, field in fields.items():
        assert field.get("description"), path
        kinds = field.get("type", [])
        assert "string" not in kinds or "maxLength" in field, path
        assert kinds != "array" or "maxItems" in field, path
        assert kinds != "object" or field.get("additionalProperties") is False or "maxProperties" in field, (
            path
        )


if __name__ == "__main__":
    _FILE.write_text(json.dumps(SCHEMA, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
