# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Merging by example: precedence, what is kept, what is refused, and which warnings are given."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.dockerconfig import (
    DockerConfigError,
    Layer,
    Merged,
    load,
    lookup_containers_image,
    lookup_kubelet,
    merge,
)
from tests.support.docker_configs import encoded

PASSWORDS = {name: f"example-password-{name}" for name in ("original", "additional", "third")}


def layer(name: str, *registries: str, **extra: Any) -> Layer:
    """A layer whose entries all have the layer's own password."""
    auth = encoded(f"user:{PASSWORDS[name]}")
    auths = {registry: {"auth": auth} for registry in registries}
    return Layer(name, load({"auths": auths, **extra}, allow_empty=True))


def passwords(merged: Merged) -> dict[str, str]:
    """Maps each registry to the layer whose password is in the result."""
    by_auth = {encoded(f"user:{password}"): name for name, password in PASSWORDS.items()}
    return {registry: by_auth[entry["auth"]] for registry, entry in merged.config.auths.items()}


@pytest.mark.parametrize(("precedence", "winner"), [("additional", "third"), ("original", "original")])
def test_precedence_decides_and_provenance_tells(precedence: str, winner: str) -> None:
    layers = [
        layer("original", "quay.io", "a.io"),
        layer("additional", "quay.io", "b.io"),
        layer("third", "quay.io"),
    ]
    merged = merge(layers, precedence=precedence)
    assert passwords(merged) == {"quay.io": winner, "a.io": "original", "b.io": "additional"}
    assert merged.provenance == passwords(merged)
    losers = sorted({"original", "additional", "third"} - {winner})
    assert merged.conflicts == [{"registry": "quay.io", "winner": winner, "losers": losers}]


def test_the_additional_layer_wins_by_default() -> None:
    merged = merge([layer("original", "quay.io"), layer("additional", "quay.io")])
    assert passwords(merged) == {"quay.io": "additional"}


def test_the_policy_decides_registry_by_registry_whatever_the_spelling() -> None:
    layers = [layer("original", "https://quay.io/v1/", "a.io"), layer("additional", "quay.io", "a.io")]
    merged = merge(layers, policy={"quay.io": "original"})
    assert passwords(merged) == {"https://quay.io/v1/": "original", "a.io": "additional"}
    merged = merge(
        layers, precedence="original", policy={"http://quay.io": "additional", "x.io": "additional"}
    )
    assert passwords(merged) == {"quay.io": "additional", "a.io": "original"}


@pytest.mark.parametrize(
    ("first", "second", "image"),
    [
        ("quay.io", "https://quay.io", "quay.io/team/app"),
        ("https://quay.io/v1/", "quay.io", "quay.io/team/app"),
        ("docker.io", "https://index.docker.io/v1/", "nginx"),
        ("https://index.docker.io/v1/", "docker.io", "nginx"),
        ("registry-1.docker.io", "docker.io", "nginx"),
        ("docker.io", "registry-1.docker.io", "nginx"),
    ],
)
@pytest.mark.parametrize("precedence", ["additional", "original"])
def test_no_reader_gets_the_losing_credential_under_another_spelling(
    first: str, second: str, image: str, precedence: str
) -> None:
    merged = merge([layer("original", first), layer("additional", second)], precedence=precedence)
    expected = PASSWORDS[precedence].encode()
    assert [match.secret.password for match in lookup_kubelet(merged.config, image)] == [expected]
    match = lookup_containers_image(merged.config, image)
    assert match is not None
    assert match.secret.password == expected


def test_a_path_is_a_registry_of_its_own() -> None:
    merged = merge([layer("original", "quay.io/team", "quay.io"), layer("additional", "quay.io/other")])
    assert passwords(merged) == {
        "quay.io": "original",
        "quay.io/team": "original",
        "quay.io/other": "additional",
    }
    assert merged.conflicts == []


def test_equal_credentials_are_no_conflict() -> None:
    same = {"auths": {"quay.io": {"auth": encoded("user:example-password")}}}
    fields = {"auths": {"https://quay.io": {"username": "user", "password": "example-password"}}}
    assert merge([Layer("a", load(same)), Layer("b", load(fields))]).conflicts == []


def test_entries_keep_unknown_fields_and_the_document_keeps_what_is_beside_auths() -> None:
    auth = encoded("user:example-password")
    original = {
        "auths": {"quay.io": {"auth": auth, "email": "a@example.com", "x": [1, {"y": None}]}},
        "credHelpers": {"a.io": "one", "b.io": "one"},
        "HttpHeaders": {"X-A": "1"},
        "unknown": {"kept": True},
    }
    additional = {
        "auths": {"b.io": {"auth": auth}},
        "credHelpers": {"a.io": "two"},
        "HttpHeaders": {"X-B": "2"},
    }
    merged = merge([Layer("original", load(original)), Layer("additional", load(additional))]).config
    assert merged.auths["quay.io"] == {"auth": auth, "email": "a@example.com", "x": (1, {"y": None})}
    assert merged.extra["HttpHeaders"] == {"X-A": "1", "X-B": "2"}
    assert merged.extra["unknown"] == {"kept": True}
    # With the original's helper for b.io, containers/image would ignore the entry that took precedence.
    assert merged.extra["credHelpers"] == {"a.io": "two"}


def test_a_helper_of_the_winning_layer_stays() -> None:
    auth = encoded("user:example-password")
    original = Layer("original", load({"auths": {"b.io": {"auth": auth}}}))
    additional = Layer("additional", load({"auths": {"c.io": {"auth": auth}}, "credHelpers": {"b.io": "x"}}))
    merged = merge([original, additional])
    assert merged.config.extra["credHelpers"] == {"b.io": "x"}
    assert "helper-shadows-auth" in {item.rule for item in merged.warnings}


def test_a_helper_stays_beside_a_later_entry_without_a_password() -> None:
    original = Layer("original", load({"auths": {}, "credHelpers": {"b.io": "x"}}, allow_empty=True))
    for password, helpers in (("", {"b.io": "x"}), ("example-password", {})):
        entry = {"auth": encoded(f"user:{password}")}
        merged = merge([original, Layer("additional", load({"auths": {"b.io": entry}}))]).config
        assert merged.extra["credHelpers"] == helpers


def test_the_telemetry_entry_is_kept_unless_it_is_dropped() -> None:
    layers = [layer("original", "cloud.openshift.com", "quay.io"), layer("additional", "quay.io")]
    assert "cloud.openshift.com" in merge(layers).config.registries
    assert merge(layers, drop=["cloud.openshift.com"]).config.registries == ("quay.io",)


def test_dropping_goes_by_registry_not_by_spelling() -> None:
    layers = [layer("original", "https://quay.io/v1/", "a.io"), layer("additional", "quay.io")]
    merged = merge(layers, drop=["http://quay.io"])
    assert merged.config.registries == ("a.io",)
    assert merged.provenance == {"a.io": "original"}
    assert merged.conflicts == []


@pytest.mark.parametrize(
    ("options", "rule", "registry"),
    [
        ({"precedence": "latest"}, "merge-option", None),
        ({"policy": {"quay.io": "nobody"}}, "merge-option", "quay.io"),
        (
            {"policy": {"quay.io": "original", "https://quay.io": "additional"}},
            "merge-option",
            "https://quay.io",
        ),
    ],
)
def test_what_cannot_be_done_is_refused(options: dict[str, Any], rule: str, registry: str | None) -> None:
    with pytest.raises(DockerConfigError) as caught:
        merge([layer("original", "quay.io"), layer("additional", "quay.io")], **options)
    assert (caught.value.rule, caught.value.registry) == (rule, registry)


def test_layers_need_names_of_their_own_and_there_must_be_one() -> None:
    with pytest.raises(DockerConfigError, match="two layers are named original"):
        merge([layer("original"), layer("original")])
    with pytest.raises(DockerConfigError, match="no layer"):
        merge([])


def test_repairs_are_reported_with_the_result() -> None:
    fields = load({"auths": {"quay.io": {"username": "user", "password": "example-password"}}})
    merged = merge([Layer("original", fields)])
    assert [str(item) for item in merged.warnings] == [
        "quay.io: 'username' and 'password' without 'auth'; 'auth' was added [username-password-only]"
    ]
    # No warning if another layer's entry takes precedence.
    assert merge([Layer("original", fields), layer("additional", "quay.io")]).warnings == ()


EMPTY = {"empty-password": encoded("user:"), "empty-user": encoded(":example-password-x")}


@pytest.mark.parametrize("auth", EMPTY.values(), ids=EMPTY)
@pytest.mark.parametrize("policy", [{}, {"quay.io": "additional"}])
def test_an_entry_that_cannot_work_displaces_none_that_can(auth: str, policy: dict[str, str]) -> None:
    weak = Layer("additional", load({"auths": {"https://quay.io": {"auth": auth}}}))
    merged = merge([layer("original", "quay.io"), weak], policy=policy)
    assert passwords(merged) == {"quay.io": "original"}
    assert merged.conflicts == [{"registry": "quay.io", "winner": "original", "losers": ["additional"]}]


def test_beside_another_layers_entry_only_spellings_that_can_work_are_taken() -> None:
    mixed = {
        "quay.io": {"auth": encoded("user:")},
        **layer("additional", "https://quay.io").config.plain_auths,
    }
    additional = Layer("additional", load({"auths": mixed}))
    assert passwords(merge([layer("original", "quay.io"), additional])) == {"https://quay.io": "additional"}
    assert set(merge([layer("original", "a.io"), additional]).config.registries) == {"a.io", *mixed}


def test_of_entries_that_cannot_work_the_strongest_layer_wins() -> None:
    first, second = (
        Layer(name, load({"auths": {"quay.io": {"auth": auth}}})) for name, auth in EMPTY.items()
    )
    assert merge([first, second]).provenance == {"quay.io": "empty-user"}
    assert [item.rule for item in merge([first, second]).warnings] == ["empty-user"]


@pytest.mark.parametrize("key", ["x@quay.io", "Quay.io", "quay.io:tag", "quay.io ", "HTTPS://quay.io"])
def test_a_key_that_matches_no_image_does_not_displace_the_registry_it_resembles(key: str) -> None:
    merged = merge([layer("original", "quay.io"), layer("additional", key)])
    assert passwords(merged) == {"quay.io": "original", key: "additional"}
    assert merged.conflicts == []
    # Nor does its layer's helper.
    helped = Layer(
        "additional", load({"auths": {key: {"auth": encoded("user:x")}}, "credHelpers": {"quay.io": "h"}})
    )
    assert (
        "quay.io"
        not in merge([layer("original", "quay.io"), helped], precedence="original").config.extra[
            "credHelpers"
        ]
    )
    # It is dropped as it is written.
    assert passwords(merge([layer("original", "quay.io"), layer("additional", key)], drop=[key])) == {
        "quay.io": "original"
    }


def test_dropping_a_registry_drops_what_kubelet_takes_for_it() -> None:
    layers = [layer("original", "a.io"), layer("additional", "x@quay.io", "quay.io:tag")]
    assert passwords(merge(layers, drop=["quay.io"])) == {"a.io": "original", "quay.io:tag": "additional"}
    document = {"auths": {"x@quay.io": 5, "a.io": {"auth": encoded("user:x")}}}
    assert load(document, drop=["quay.io"]).registries == ("a.io",)


def test_a_malformed_key_is_not_copied_to_docker_io() -> None:
    merged = merge([layer("original", "docker.io"), layer("additional", "x@registry-1.docker.io")])
    assert passwords(merged) == {"docker.io": "original", "x@registry-1.docker.io": "additional"}
