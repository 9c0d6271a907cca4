# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Names of Jobs and Secrets: short enough, and unique."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.adapter import names

LABEL = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?\Z")
VALUE = re.compile(r"([A-Za-z0-9][A-Za-z0-9_.-]*)?[A-Za-z0-9]\Z")
UUID = "0198c1f2-7c1e-7b52-9d4e-2f6f3a1b4c5d"
ODD = st.text(min_size=1, max_size=80)


def test_names_are_those_of_the_contract() -> None:
    assert names.job_name("cls-123", 1) == "pullsecret-cls-123-gen1"
    assert names.data_secret_name("cls-123") == "cluster-cls-123-pullsecret-data"
    assert names.job_name(UUID, 12) == f"pullsecret-{UUID}-gen12"
    assert names.data_secret_name(UUID) == f"cluster-{UUID}-pullsecret-data"


def test_what_is_too_long_is_shortened_the_same_way_each_time() -> None:
    made = names.job_name("a" * 63, 7)
    assert made == names.job_name("a" * 63, 7)
    assert len(made) == 63
    assert made.startswith("pullsecret-aaaa")
    assert made.endswith("-gen7")


@settings(deadline=None)
@given(ODD, ODD, st.integers(1, 10**12))
def test_any_id_gives_names_that_are_its_own(one: str, other: str, generation: int) -> None:
    for name_of in (lambda text: names.job_name(text, generation), names.data_secret_name):
        assert len(name_of(one)) <= 63
        assert LABEL.match(name_of(one))
        assert (name_of(one) == name_of(other)) == (one == other)
    assert (names.label_value(one) == names.label_value(other)) == (one == other)
    assert VALUE.match(names.label_value(one))
    assert len(names.label_value(one)) <= 63


@given(ODD)
def test_the_key_of_any_adapter_has_a_name(adapter: str) -> None:
    assert LABEL.match(names.digest_key_name(adapter))
    assert len(names.digest_key_name(adapter)) <= 63


@pytest.mark.parametrize(
    ("annotations", "name", "generation"),
    [
        ({names.GENERATION: "7"}, "pullsecret-a-gen3", 7),
        ({}, "pullsecret-a-gen3", 3),
        ({names.GENERATION: "-1"}, "pullsecret-a-gen3", 3),
        ({names.GENERATION: "9" * 5000}, "pullsecret-a-gen3", 3),
        ({names.GENERATION: "²"}, "a", 0),
    ],
)
def test_the_generation_of_a_job(annotations: dict[str, str], name: str, generation: int) -> None:
    assert names.generation_from_annotations(annotations, name) == generation


@pytest.mark.parametrize("missing", ["managed-by", "adapter", "cluster-id", "resource-type"])
def test_whose_an_object_is(missing: str) -> None:
    labels = names.object_labels("pullsecret", "c-1", "my cluster", names.JOB)
    assert labels == {
        "managed-by": "hyperfleet",
        "adapter": "pullsecret",
        "hyperfleet-version": "v1",
        "cluster-id": "c-1",
        "cluster-name": "my-cluster",
        "resource-type": "pull-secret-job",
    }
    assert names.is_ours(labels, "pullsecret", "c-1", names.JOB)
    assert not names.is_ours({**labels, missing: "other"}, "pullsecret", "c-1", names.JOB)
    assert not names.is_ours(
        {k: v for k, v in labels.items() if k != missing}, "pullsecret", "c-1", names.JOB
    )
