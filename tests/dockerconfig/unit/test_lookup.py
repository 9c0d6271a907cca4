# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How both readers look up a credential; ``tests/dockerconfig/oracle`` compares with the readers' own code."""

from __future__ import annotations

import base64
import json

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.dockerconfig import (
    DockerConfigError,
    load,
    lookup_containers_image,
    lookup_kubelet,
    normalise_registry,
    registry_identity,
)
from tests.dockerconfig.unit.samples import GOOD
from tests.support.docker_configs import encoded


def document(*keys: str) -> str:
    """Each key has its own name as its password."""
    return json.dumps({"auths": {key: {"auth": encoded(f"user:{key}")} for key in keys}})


def kubelet(text: str, image: str) -> list[str]:
    return [match.registry for match in lookup_kubelet(text, image)]


def containers_image(text: str, image: str) -> str | None:
    match = lookup_containers_image(text, image)
    return match.registry if match else None


@pytest.mark.parametrize(
    ("keys", "image", "by_kubelet", "by_containers_image"),
    [
        (["quay.io", "quay.io/team", "quay.io/team/app"], "quay.io/team/app:1",
         ["quay.io/team/app", "quay.io/team", "quay.io"], "quay.io/team/app"),
        (["quay.io/team"], "quay.io/team-evil/app", ["quay.io/team"], None),
        (["quay.io/team/"], "quay.io/team/app", ["quay.io/team/"], None),
        (["https://quay.io"], "quay.io/app", ["https://quay.io"], "https://quay.io"),
        (["quay.io/v1/"], "quay.io/app", ["quay.io/v1/"], None),
        (["quay.io/v2/team"], "quay.io/team/app", ["quay.io/v2/team"], None),
        (["https://quay.io/team"], "quay.io/other", [], "https://quay.io/team"),
        (["quay.io:443"], "quay.io/app", [], None),
        (["quay.io:443"], "quay.io:443/app", ["quay.io:443"], "quay.io:443"),
        (["*.quay.io"], "a.quay.io/app", ["*.quay.io"], None),
        (["*.quay.io"], "a.b.quay.io/app", [], None),
        (["quay.*"], "quay.io/app", ["quay.*"], None),
        (["quay.io/*"], "quay.io/app", [], None),
        (["Quay.io"], "quay.io/app", [], None),
        (["docker.io"], "nginx", ["docker.io"], "docker.io"),
        (["index.docker.io"], "nginx", ["index.docker.io"], "index.docker.io"),
        (["index.docker.io/v1/"], "nginx", ["index.docker.io/v1/"], None),
        (["https://index.docker.io/v1/"], "nginx", ["https://index.docker.io/v1/"], "https://index.docker.io/v1/"),
        (["registry-1.docker.io"], "nginx", [], "registry-1.docker.io"),
        (["docker.io", "index.docker.io"], "nginx", ["docker.io"], "docker.io"),
        (["docker.io/library"], "nginx:latest", ["docker.io/library"], "docker.io/library"),
        (["quay.io"], "localhost:5000/app", [], None),
        (["localhost:5000"], "localhost:5000/app", ["localhost:5000"], "localhost:5000"),
        (["[2001:db8::1]:5000"], "[2001:db8::1]:5000/app", ["[2001:db8::1]:5000"], "refused"),
    ],
)  # fmt: skip
def test_which_entry_is_used(
    keys: list[str], image: str, by_kubelet: list[str], by_containers_image: str | None
) -> None:
    assert kubelet(document(*keys), image) == by_kubelet
    if by_containers_image == "refused":
        with pytest.raises(DockerConfigError, match="image-name"):
            containers_image(document(*keys), image)
    else:
        assert containers_image(document(*keys), image) == by_containers_image


def test_kubelet_loses_every_credential_to_one_bad_entry() -> None:
    bad = {"auths": {"quay.io": {"auth": GOOD}, "a.io": {"auth": encoded("no colon")}}}
    with pytest.raises(DockerConfigError) as caught:
        lookup_kubelet(bad, "quay.io/app")
    assert (caught.value.rule, caught.value.registry) == ("auth-no-colon", "a.io")
    assert lookup_containers_image(bad, "quay.io/app") is not None
    assert lookup_containers_image(bad, "a.io/app") is None


def test_an_entry_without_credential_hides_the_parent_from_containers_image_only() -> None:
    data = {"auths": {"quay.io": {"auth": GOOD}, "quay.io/team": {"username": "user", "password": "other"}}}
    raw = json.dumps(data)
    assert lookup_containers_image(raw, "quay.io/team/app") is None
    assert [match.source for match in lookup_kubelet(raw, "quay.io/team/app")] == [
        "username/password",
        "auth",
    ]
    # The repair adds the auth that containers/image reads.
    assert lookup_containers_image(load(data), "quay.io/team/app") is not None


def test_the_sources_of_a_credential() -> None:
    token = {
        "auths": {"quay.io": {"auth": GOOD, "identitytoken": "example-token"}},
        "credHelpers": {"a.io": "pass"},
    }
    match = lookup_containers_image(token, "quay.io/app")
    assert match is not None
    assert (match.secret.username, match.secret.identity_token) == (b"user", b"example-token")
    assert lookup_kubelet(token, "quay.io/app")[0].secret.identity_token == b""
    helped = lookup_containers_image(token, "a.io/app")
    assert helped is not None
    assert (helped.source, helped.helper) == ("credHelpers", "pass")
    empty = lookup_kubelet({"auths": {"quay.io": {"identitytoken": "example-token"}}}, "quay.io/app")
    assert [(item.source, item.is_empty) for item in empty] == [("nothing", True)]


def test_bytes_are_kept_as_they_are() -> None:
    auth = base64.b64encode(b"us\xffer:pa\xfess\x00").decode()
    (match,) = lookup_kubelet({"auths": {"quay.io": {"auth": auth}}}, "quay.io/app")
    assert (match.secret.username, match.secret.password) == (b"us\xffer", b"pa\xfess\x00")


def test_where_chance_decides_the_alternatives_are_named() -> None:
    match = lookup_containers_image(document("https://quay.io", "http://quay.io"), "quay.io/app")
    assert match is not None
    assert (match.registry, match.alternatives) == ("http://quay.io", ("https://quay.io",))


@pytest.mark.parametrize(
    "image", ["", "UPPER", "quay.io/", "a" * 64, "quay.io/app@sha256:0", "quay.io/a b", "x" * 9999]
)
def test_an_invalid_image_is_refused(image: str) -> None:
    for lookup in (lookup_kubelet, lookup_containers_image):
        with pytest.raises(DockerConfigError, match="image-name"):
            lookup(document("quay.io"), image)


@pytest.mark.parametrize(
    ("key", "registry", "identity"),
    [
        ("quay.io", "quay.io", "quay.io"),
        ("https://quay.io", "quay.io", "quay.io"),
        ("http://quay.io/v1/", "quay.io", "quay.io"),
        ("quay.io/v2/", "quay.io", "quay.io"),
        ("quay.io/v1", "quay.io/v1", "quay.io/v1"),
        ("quay.io/v2/team", "quay.io/team", "quay.io/team"),
        ("quay.io/team", "quay.io/team", "quay.io/team"),
        ("quay.io:5000", "quay.io:5000", "quay.io:5000"),
        ("Quay.io", "Quay.io", "Quay.io"),
        ("index.docker.io/v1/", "index.docker.io", "docker.io"),
        ("registry-1.docker.io/team", "registry-1.docker.io/team", "docker.io/team"),
        ("docker.io", "docker.io", "docker.io"),
        ("not a registry", "not a registry", "not a registry"),
    ],
)
def test_normalised_registries(key: str, registry: str, identity: str) -> None:
    assert normalise_registry(key) == registry
    assert registry_identity(key) == identity


def test_a_glob_with_many_stars_takes_no_time() -> None:
    key = "*a" * 100 + "b.io"
    assert kubelet(document(key), "a" * 200 + ".io/app") == []
