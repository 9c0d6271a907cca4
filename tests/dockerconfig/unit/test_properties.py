# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Properties that hold for every docker config and every merge."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.dockerconfig import (
    Layer,
    changes,
    digest,
    lint,
    load,
    lookup_containers_image,
    lookup_kubelet,
    merge,
    registry_identity,
    rules,
)
from tests.dockerconfig.unit.strategies import IMAGES, PROFILE, configs, documents, layers, spellings

KEY = b"0123456789abcdef"
PRECEDENCES = st.sampled_from(["additional", "original"])


def identities(config: Any) -> set[str]:
    return {registry_identity(key) for key in config.registries}


@PROFILE
@given(configs)
def test_the_canonical_form_is_a_fixed_point(config: Any) -> None:
    again = load(config.canonical(), allow_empty=True)
    assert again.canonical() == config.canonical()
    assert again == config


@PROFILE
@given(st.data(), documents)
def test_spelling_is_no_difference_in_meaning(data: st.DataObject, document: dict[str, Any]) -> None:
    one = load(document, allow_empty=True)
    other = load(data.draw(spellings(document)), allow_empty=True)
    assert one.same_meaning(other)
    assert digest(one, KEY) == digest(other, KEY)
    assert not changes(one, other)


@PROFILE
@given(configs, configs)
def test_digest_changes_and_meaning_agree(one: Any, other: Any) -> None:
    same = one.same_meaning(other)
    assert bool(changes(one, other)) is not same
    assert (digest(one, KEY) == digest(other, KEY)) is same


@PROFILE
@given(configs, PRECEDENCES)
def test_merging_a_config_with_itself_changes_nothing(config: Any, precedence: str) -> None:
    merged = merge([Layer("one", config), Layer("two", config)], precedence=precedence)
    assert merged.config == config
    assert merged.conflicts == []
    assert merge([Layer("one", config)], precedence=precedence).config == config


@PROFILE
@given(layers(), PRECEDENCES)
def test_no_registry_is_lost_and_none_appears(found: list[Layer], precedence: str) -> None:
    merged = merge(found, precedence=precedence)
    assert identities(merged.config) == set().union(*(identities(layer.config) for layer in found))
    assert set(merged.provenance) == set(merged.config.registries)


@PROFILE
@given(layers(), PRECEDENCES)
def test_the_strongest_layer_that_has_a_registry_wins_it_whole(found: list[Layer], precedence: str) -> None:
    merged = merge(found, precedence=precedence)
    ranked = found if precedence == "original" else found[::-1]
    for key, name in merged.provenance.items():
        strongest = next(layer for layer in ranked if registry_identity(key) in identities(layer.config))
        assert name == strongest.name
        assert merged.config.auths[key] == strongest.config.auths[key]


@PROFILE
@given(layers(), PRECEDENCES)
def test_precedence_is_the_order_read_backwards(found: list[Layer], precedence: str) -> None:
    other = "original" if precedence == "additional" else "additional"
    one = merge(found, precedence=precedence, drop=["cloud.openshift.com"])
    two = merge(found[::-1], precedence=other, drop=["cloud.openshift.com"])
    assert (one.config, one.provenance, one.conflicts) == (two.config, two.provenance, two.conflicts)


@PROFILE
@given(layers(min_size=3, max_size=3), PRECEDENCES)
def test_merging_in_two_steps_gives_the_same(found: list[Layer], precedence: str) -> None:
    first, second, third = found
    whole = merge(found, precedence=precedence)
    left = merge(
        [Layer("left", merge([first, second], precedence=precedence).config), third], precedence=precedence
    )
    right = merge(
        [first, Layer("right", merge([second, third], precedence=precedence).config)], precedence=precedence
    )
    assert whole.config == left.config == right.config
    assert set(whole.provenance) == set(left.provenance) == set(right.provenance)
    # The layers agree, except where the two-step merge names its intermediate layer.
    assert {key: name for key, name in left.provenance.items() if name != "left"} == {
        key: name for key, name in whole.provenance.items() if name == third.name
    }


@PROFILE
@given(layers(min_size=2), PRECEDENCES)
def test_an_empty_layer_changes_nothing(found: list[Layer], precedence: str) -> None:
    empty = Layer("empty", load(b"", allow_empty=True))
    one = merge(found, precedence=precedence)
    two = merge([found[0], empty, *found[1:]], precedence=precedence)
    assert (one.config, one.provenance, one.conflicts) == (two.config, two.provenance, two.conflicts)


@PROFILE
@given(st.data(), layers(min_size=2))
def test_a_policy_wins_over_every_precedence(data: st.DataObject, found: list[Layer]) -> None:
    registries = sorted(set().union(*(identities(layer.config) for layer in found)))
    if not registries:
        return
    policy = data.draw(
        st.dictionaries(st.sampled_from(registries), st.sampled_from([layer.name for layer in found]))
    )
    merged = merge(found, precedence=data.draw(PRECEDENCES), policy=policy)
    holders = {layer.name: identities(layer.config) for layer in found}
    for key, name in merged.provenance.items():
        wanted = policy.get(registry_identity(key))
        assert wanted is None or name == wanted or registry_identity(key) not in holders[wanted]


@PROFILE
@given(st.data(), layers(), PRECEDENCES)
def test_what_is_dropped_is_gone_and_nothing_else(
    data: st.DataObject, found: list[Layer], precedence: str
) -> None:
    everything = identities(merge(found, precedence=precedence).config)
    drop = data.draw(st.sets(st.sampled_from(sorted(everything)))) if everything else set()
    merged = merge(found, precedence=precedence, drop=[*drop, "cloud.openshift.com"])
    assert identities(merged.config) == everything - drop - {"cloud.openshift.com"}


@PROFILE
@given(layers(min_size=2), PRECEDENCES, st.sampled_from(IMAGES))
def test_readers_get_credentials_of_winning_entries_only(
    found: list[Layer], precedence: str, image: str
) -> None:
    merged = merge(found, precedence=precedence)
    by_name = {layer.name: layer.config for layer in found}
    matches = lookup_kubelet(merged.config, image)
    one = lookup_containers_image(merged.config, image)
    for match in [*matches, *([one] if one else [])]:
        winner = by_name[merged.provenance[match.registry]]
        same = [item for item in lookup_kubelet(winner, image) if item.registry == match.registry]
        same += [
            item
            for item in [lookup_containers_image(winner, image)]
            if item and item.registry == match.registry
        ]
        assert all(item.secret.password == match.secret.password for item in same)
        auth = winner.auths[match.registry]["auth"]
        assert merged.config.auths[match.registry]["auth"] == auth


@PROFILE
@given(configs, st.sampled_from(IMAGES))
def test_the_repaired_config_never_makes_a_reader_fail(config: Any, image: str) -> None:
    assert not any(match.is_empty for match in lookup_kubelet(config, image))
    lookup_containers_image(config, image)


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.binary(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.text(max_size=6) | st.sampled_from(["auths", "auth", "quay.io"]), inner, max_size=4
        )
        | st.dictionaries(st.integers(), inner, max_size=2)
    ),
    max_leaves=10,
)


@PROFILE
@given(
    st.binary(max_size=60) | st.text(max_size=60) | anything | anything.map(lambda value: {"auths": value})
)
def test_lint_survives_anything(data: Any) -> None:
    known = {rule.id: rule.severity for rule in rules()}
    for finding in lint(data):
        assert known[finding.rule] == finding.severity
        assert json.dumps(finding.as_dict())
