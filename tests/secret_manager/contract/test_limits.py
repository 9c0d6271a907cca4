# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Labels and annotations: character sets, lengths, numbers, sizes."""

from __future__ import annotations

import pytest

from tests.secret_manager.contract.support import Workspace, refused

GOOD_LABELS = [
    {"k": ""},
    {"k" * 63: "v" * 63},
    {"managed-by": "a_b-1"},
    {"é": "é" * 60},
    {f"k{number}": "v" for number in range(64)},
]
BAD_LABELS = [
    {"": "v"},
    {"Upper": "v"},
    {"k": "Upper"},
    {"k" * 64: "v"},
    {"k": "v" * 64},
    {"1k": "v"},
    {"-k": "v"},
    {"k.dot": "v"},
    {"k": "a b"},
    {"k": "中" * 43},  # 129 bytes in UTF-8
    {f"k{number}": "v" for number in range(65)},
]


@pytest.mark.parametrize("labels", GOOD_LABELS, ids=range(len(GOOD_LABELS)))
def test_labels_that_fit(work: Workspace, labels: dict[str, str]) -> None:
    assert dict(work.create(labels=labels).labels) == labels


@pytest.mark.parametrize("labels", BAD_LABELS, ids=range(len(BAD_LABELS)))
def test_labels_that_do_not_fit(work: Workspace, labels: dict[str, str]) -> None:
    with refused("INVALID_ARGUMENT"):
        work.create(labels=labels)


def test_an_update_is_held_to_the_same_rules(work: Workspace) -> None:
    secret = work.create(labels={"a": "b"})
    with refused("INVALID_ARGUMENT"):
        work.client.update_secret(
            secret={"name": secret.name, "labels": {"a": "NO"}}, update_mask={"paths": ["labels"]}
        )
    assert work.client.get_secret(name=secret.name) == secret


GOOD_ANNOTATIONS = [
    {"k": ""},
    {"A.b-c_9": "Any Text: ünicode, {}"},
    {"k" * 63: "v"},
    {"k": "v" * (16 * 1024 - 2)},
]
BAD_ANNOTATIONS = [
    {"": "v"},
    {".k": "v"},
    {"k-": "v"},
    {"a/b": "v"},
    {"k" * 64: "v"},
    {"k": "v" * (16 * 1024 - 1)},  # 16 KiB with its key; the limit is exclusive
    {"k1": "v" * 8192, "k2": "v" * 8192},
]


@pytest.mark.parametrize("annotations", GOOD_ANNOTATIONS, ids=range(len(GOOD_ANNOTATIONS)))
def test_annotations_that_fit(work: Workspace, annotations: dict[str, str]) -> None:
    assert dict(work.create(annotations=annotations).annotations) == annotations


@pytest.mark.parametrize("annotations", BAD_ANNOTATIONS, ids=range(len(BAD_ANNOTATIONS)))
def test_annotations_that_do_not_fit(work: Workspace, annotations: dict[str, str]) -> None:
    with refused("INVALID_ARGUMENT"):
        work.create(annotations=annotations)
