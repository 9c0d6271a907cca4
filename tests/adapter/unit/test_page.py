# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The page *adapter_config* describes every field."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.adapter.cel.preconditions import (
    DEFAULT_PRECONDITIONS,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.adapter.cel.view import ROOTS
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.adapter.config.config import (
    OVERRIDES,
    load_adapter_config,
    parse_adapter_config,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.adapter.config.schema import (
    SCHEMA,
)
from tests.support import doc_tables
from tests.support.adapter_jobs.documents import document

_PAGE = doc_tables.page("adapter_config")
_SHOWN_WITHOUT_DEFAULT: dict[str, Any] = {
    "preconditions": DEFAULT_PRECONDITIONS,
    "dependencies": (),
    "image_pull_secrets": (),
    "tolerations": (),
    "env": {},
    "labels": {},
    "annotations": {},
    "node_selector": {},
    "priority_class": None,
}


def _example(tmp_path: Path) -> Any:
    (text,) = (one for one in doc_tables.yaml_blocks(_PAGE) if one.startswith("apiVersion: "))
    file = tmp_path / "config.yaml"
    file.write_text(text)
    return load_adapter_config(str(file))


def test_the_example_is_a_configuration(tmp_path: Path) -> None:
    config = _example(tmp_path)
    assert config.adapter == "pullsecret"
    assert config.broker.queue == "hyperfleet-clusters-pullsecret"
    assert len(config.preconditions) == 6


def test_the_example_shows_the_defaults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HYPERFLEET_API_URL", raising=False)
    config, plain = _example(tmp_path), parse_adapter_config(document())
    for part in ("execution", "deletion", "batch", "logging", "metrics", "namespace", "adapter", "name"):
        assert getattr(config, part) == getattr(plain, part), part
    assert config.broker.prefetch == 2 * plain.batch.size
    for field in ("timeout", "flavour", "validate_certs"):
        assert getattr(config.hyperfleet, field) == getattr(plain.hyperfleet, field), field
    for field, value in vars(plain.job).items():
        if field in _SHOWN_WITHOUT_DEFAULT:
            assert value == _SHOWN_WITHOUT_DEFAULT[field], field
        elif field != "image":
            assert getattr(config.job, field) == value, field


def _fields(schema: Any) -> set[str]:
    found = set()
    for name, field in schema.get("properties", {}).items():
        found |= {name} | _fields(field) | _fields(field.get("items", {}))
    return found


def test_every_field_and_every_name_is_on_the_page() -> None:
    names = _fields(SCHEMA["properties"]["spec"]) | set(OVERRIDES) | set(ROOTS)
    # fields of Kubernetes objects
    names -= {"cpu", "memory", "ephemeral-storage", "tolerationSeconds", "key", "value", "operator", "effect"}
    assert [name for name in sorted(names) if not re.search(rf"\b{re.escape(name)}\b", _PAGE)] == []
