# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The accepted document: repairs, immutability, hidden values, canonical form, digest and changes."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.dockerconfig import (
    Changes,
    DockerConfig,
    DockerConfigError,
    changes,
    digest,
    lint,
    load,
)
from tests.dockerconfig.unit.samples import GOOD
from tests.support.docker_configs import encoded

KEY = b"0123456789abcdef"


def config(**auths: str) -> DockerConfig:
    """``quay_io="secret"`` adds the registry quay.io with that password."""
    entries = {
        name.replace("_", "."): {"auth": encoded(f"user:{password}")} for name, password in auths.items()
    }
    return load({"auths": entries}, allow_empty=True)


@pytest.mark.parametrize(
    ("entry", "repaired"),
    [
        ({"username": "user", "password": "example-password"}, GOOD),
        ({"username": "user", "password": "example-password", "auth": ""}, GOOD),
        ({"username": "user", "password": "example-password", "auth": None}, GOOD),
        ({"username": "\u00fcser", "password": "p\u00e4ss"}, encoded("\u00fcser:p\u00e4ss")),
        ({"auth": encoded("user:pw").rstrip("=")}, encoded("user:pw")),
        ({"auth": GOOD[:8] + "\r\n" + GOOD[8:] + "\n"}, GOOD),
        ({"auth": encoded("user:pass:word:")}, encoded("user:pass:word:")),
    ],
)
def test_repairs(entry: dict[str, Any], repaired: str) -> None:
    written = json.loads(load({"auths": {"quay.io": entry}}).canonical())
    assert written == {"auths": {"quay.io": {**entry, "auth": repaired}}}
    again = load(written)
    assert not [item for item in again.warnings if item.rule != "auth-overrides-fields"]


def test_docker_hub_is_written_for_kubelet_too() -> None:
    only = load({"auths": {"registry-1.docker.io": {"auth": GOOD}}})
    assert only.registries == ("docker.io", "registry-1.docker.io")
    for hub in ("docker.io", "https://index.docker.io/v1/"):
        both = {"auths": {"registry-1.docker.io": {"auth": GOOD}, hub: {"auth": encoded("other:password")}}}
        assert load(both).registries == tuple(sorted(["registry-1.docker.io", hub]))


def test_the_canonical_form_is_compact_sorted_and_stable() -> None:
    data = {"x": 1.50, "auths": {"b.io": {"email": "\u00e9", "auth": GOOD}, "a.io": {"auth": GOOD}}}
    expected = (
        f'{{"auths":{{"a.io":{{"auth":"{GOOD}"}},"b.io":{{"auth":"{GOOD}","email":"\u00e9"}}}},"x":1.5}}'
    )
    assert load(data).canonical() == expected.encode()
    assert load(json.dumps(data, indent=4)).canonical() == expected.encode()


@pytest.mark.parametrize("nothing", [b"", "", " \n", "{}", "null", '{"auths": {}}', '{"auths": null}', {}])
def test_an_empty_document_is_accepted_only_if_asked_for(nothing: Any) -> None:
    assert load(nothing, allow_empty=True).registries == ()
    assert load(nothing, allow_empty=True).canonical() == b'{"auths":{}}'
    with pytest.raises(DockerConfigError):
        load(nothing)


@pytest.mark.parametrize("bad", ["[]", "{", '{"auths": []}', '{"auths": {"quay.io": {}}}', '{"Auths": {}}'])
def test_allow_empty_allows_nothing_else(bad: str) -> None:
    with pytest.raises(DockerConfigError):
        load(bad, allow_empty=True)


def test_a_config_cannot_be_changed_or_carried_off() -> None:
    accepted = load({"auths": {"quay.io": {"auth": GOOD, "x": [1]}}, "credHelpers": {"a.io": "x"}})
    with pytest.raises(AttributeError):
        accepted.warnings = ()
    with pytest.raises(AttributeError):
        del accepted.warnings
    with pytest.raises(TypeError):
        accepted.auths["quay.io"]["auth"] = "other"  # type: ignore[index]
    with pytest.raises(TypeError):
        accepted.extra["credHelpers"]["a.io"] = "other"
    with pytest.raises(TypeError):
        pickle.dumps(accepted)
    assert copy.deepcopy(accepted) is accepted


def test_what_is_given_is_not_changed() -> None:
    data = {"auths": {"quay.io": {"username": "user", "password": "example-password"}}}
    before = copy.deepcopy(data)
    accepted = load(data)
    lint(data)
    assert data == before
    data["auths"]["quay.io"]["password"] = "another"
    assert json.loads(accepted.canonical())["auths"]["quay.io"]["password"] == "example-password"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({"auth": GOOD}, {"auth": GOOD + "\r\n"}, True),
        ({"auth": encoded("user:pw")}, {"auth": encoded("user:pw").rstrip("=")}, True),
        ({"auth": GOOD, "x": 1}, {"x": 1, "auth": GOOD}, True),
        ({"auth": GOOD}, {"auth": encoded("user:another")}, False),
        ({"auth": GOOD}, {"auth": GOOD, "email": "a@example.com"}, False),
    ],
)
def test_meaning(one: dict[str, Any], other: dict[str, Any], same: bool) -> None:
    first, second = (load({"auths": {"quay.io": entry}}) for entry in (one, other))
    assert first.same_meaning(second) is same
    assert (first == second) is same
    assert (digest(first, KEY) == digest(second, KEY)) is same
    assert bool(changes(first, second)) is not same


def test_the_digest_is_keyed_and_of_a_known_form() -> None:
    accepted = config(quay_io="example-password")
    assert digest(accepted, KEY) == digest(accepted.canonical(), KEY)
    assert digest(accepted, KEY) != digest(accepted, KEY + b"x")
    algorithm, _colon, digits = digest(accepted, KEY).partition(":")
    assert algorithm == "hmac-sha256"
    assert len(digits) == 32
    assert set(digits) <= set("0123456789abcdef")
    with pytest.raises(ValueError, match="empty"):
        digest(accepted, b"")


def test_changes_name_registries() -> None:
    before = config(a_io="one", b_io="one", c_io="one")
    after = config(b_io="two", c_io="one", d_io="one")
    assert changes(before, after) == Changes(added=("d.io",), removed=("a.io",), changed=("b.io",))
    assert changes(None, after) == Changes(added=("b.io", "c.io", "d.io"))
    assert not changes(after, after)


def test_another_spelling_is_a_change_of_the_registry() -> None:
    before = load({"auths": {"https://quay.io/v1/": {"auth": GOOD}}})
    after = load({"auths": {"quay.io": {"auth": GOOD}}})
    assert changes(before, after) == Changes(changed=("quay.io",))


def test_a_change_outside_auths_is_a_change() -> None:
    before = load({"auths": {"quay.io": {"auth": GOOD}}})
    after = load({"auths": {"quay.io": {"auth": GOOD}}, "credHelpers": {"a.io": "x"}})
    assert changes(before, after) == Changes(outside=True)
    assert bool(changes(before, after)) is True
