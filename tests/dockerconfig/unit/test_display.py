# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Registries are displayed; a credential in the place of a registry is hidden wherever a key is printed."""

from __future__ import annotations

import json
import random
import string
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.dockerconfig import (
    DockerConfigError,
    Layer,
    changes,
    lint,
    load,
    lookup_kubelet,
    merge,
    sensitive_forms,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.outcome import Outcome
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.hosted_cluster.decision import (
    AdditionalSecret,
    decide_merge,
)

GOOD, OTHER = "ZXhhbXBsZTpleGFtcGxl", "ZXhhbXBsZTpvdGhlcg=="
JWT = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJDYW5hcnkifQ.Q2FuYXJ5UGFzc3cwcmQ"
# Key -> how it is displayed.
REFUSED = {
    "robot:CanaryPassw0rd78": "entry 2 (name not shown)",
    "robot@example.com:CanaryPassw0rd77": "entry 2 (example.com, the rest not shown)",
    "robot:Canary@pass.word": "entry 2 (name not shown)",
    "https://robot:CanaryPassw0rd77@quay.io/team": "entry 2 (quay.io, the rest not shown)",
    "quay.io/CanaryPassw0rd77": "entry 2 (quay.io, the rest not shown)",
    "quay.io/team/CanaryPassw0rd77": "entry 2 (quay.io/team, the rest not shown)",
    "quay.io:CanaryPassw0rd77": "entry 2 (quay.io, the rest not shown)",
    "quay.io/app@sha256:" + "0" * 64: "entry 2 (quay.io/app, the rest not shown)",
    "quay.io:123456": "entry 2 (quay.io, the rest not shown)",
    JWT: "entry 2 (name not shown)",
    f"quay.io/{JWT}": "entry 2 (quay.io, the rest not shown)",
    GOOD: "entry 2 (name not shown)",
    "CANARYPASSW0RD77": "entry 2 (name not shown)",
    "Canary.Passw0rd": "entry 2 (name not shown)",
}
# Accepted keys: they obey every rule for the name of a registry.
ACCEPTED = {
    "canary-passw0rd-77": "entry 1 (name not shown)",
    "quay.io/4f0c9a1e77b3d25086a1c4e29bd7f310": "entry 1 (quay.io, the rest not shown)",
    "quay.io/team/x7k2m9q4w1z8p3c6": "entry 1 (quay.io/team, the rest not shown)",
}
REGISTRIES = [
    "quay.io",
    "https://quay.io/v1/",
    "https://index.docker.io/v1/",
    "registry.redhat.io",
    "cloud.openshift.com",
    "*.quay.io",
    "localhost",
    "localhost:5000",
    "registry:5000",
    "127.0.0.1:5000",
    "[::1]:5000",
    "123456789012.dkr.ecr.eu-west-1.amazonaws.com",
    "europe-west1-docker.pkg.dev/customer-prod-12345/images",
    "image-registry.openshift-image-registry.svc:5000",
    "image-registry.openshift-image-registry.svc.cluster.local:5000/openshift",
    "quay.io/openshift-release-dev/ocp-v4.0-art-dev",
    "quay.io/rhel9/ubi9-minimal",
    "registry.dc1/k8s4ever",
    "quay.io/tenant-0f8fad5b-d9cb-469f-a165-70867728950e/app",
    "ghcr.io/org/app__one/two.three_four",
]


def document(key: str, auth: str = GOOD) -> dict[str, Any]:
    return {"auths": {"a.example": {"auth": GOOD}, key: {"auth": auth}}}


def is_silent(text: str, key: str) -> bool:
    """Whether the text contains neither the key nor a secret part of it."""
    parts = [key, *key.replace("@", ":").replace("/", ":").split(":"), *key.split("/")]
    secret = [part for part in parts if len(part) > 9 and part not in ("example.com", "https", "team")]
    return not any(part in text for part in secret)


@pytest.mark.parametrize("key", REFUSED)
def test_a_refused_key_shows_host_and_rule(key: str) -> None:
    with pytest.raises(DockerConfigError) as caught:
        load(document(key), strict=True)
    assert caught.value.registry == REFUSED[key]
    assert caught.value.rule.startswith("key-")
    assert is_silent(f"{caught.value} {lint(document(key))}", key)


@pytest.mark.parametrize("key", ACCEPTED)
def test_an_accepted_key_shows_nowhere_what_may_be_a_credential(key: str) -> None:
    before, after = load({"auths": {key: {"auth": GOOD}}}), load({"auths": {key: {"auth": OTHER}}})
    merged = merge([Layer("one", before), Layer("two", after)])
    outcome = Outcome("c", "place", before=before, after=merged.config, provenance=merged.provenance)
    result, diff = outcome.result(b"key"), outcome.diff(b"key")
    assert result["registries"] == {ACCEPTED[key]: "two"}
    assert f"registry {ACCEPTED[key]} (credential differs)\n" in diff["before"]
    assert f"registry {ACCEPTED[key]} (credential differs)\n" in diff["after"]
    assert changes(before, after).changed == (ACCEPTED[key],)
    printed = [
        result,
        diff,
        merged.conflicts,
        merged.warnings,
        merged.config,
        lookup_kubelet(after, f"{key}/x"),
    ]
    assert is_silent(repr(printed), key)


@pytest.mark.parametrize("key", [*REFUSED, *ACCEPTED])
def test_hidden_keys_are_masked_in_messages_of_other_programs(key: str) -> None:
    """A server or another program may repeat a key in its message."""
    forms = sensitive_forms(json.dumps(document(key)))
    for text in (f"no such host {key}", f"cannot reach registry {key!r}"):
        for form in sorted(forms, key=len, reverse=True):
            text = text.replace(form, "********")
        assert is_silent(text, key) or key == "quay.io:123456"


@pytest.mark.parametrize("key", REGISTRIES)
def test_a_registry_is_shown_whole(key: str) -> None:
    config = load({"auths": {key: {"auth": GOOD}}})
    assert repr(config) == f"<DockerConfig {key}>"
    assert Outcome("c", "place", provenance={key: "one"}).result(b"key")["registries"] == {key: "one"}
    assert key not in sensitive_forms(config)


def test_hidden_keys_are_told_apart_and_keep_their_number_in_a_diff() -> None:
    secret = [f"quay.io/{index}f0c9a1e77b3d25086a1" for index in range(3)]
    before = load({"auths": {key: {"auth": GOOD} for key in secret[1:]}})
    after = load({"auths": {key: {"auth": GOOD} for key in secret[:2]}})
    diff = Outcome("c", "place", before=before, after=after).diff(b"key")
    shown = [f"registry entry {number} (quay.io, the rest not shown)" for number in (1, 2, 3)]
    assert diff["before"].splitlines()[1:] == shown[1:]
    assert diff["after"].splitlines()[1:] == shown[:2]


def test_the_annotation_of_a_hosted_cluster_names_no_credential_and_still_finds_its_entry() -> None:
    """If a tenant's secret becomes invalid, its earlier entries stay; the annotation remembers which ones."""
    key = next(iter(ACCEPTED))
    original = json.dumps({"auths": {"a.example": {"auth": GOOD}}}).encode()
    brought = json.dumps({"auths": {key: {"auth": OTHER}, "b.example": {"auth": OTHER}}}).encode()
    first = decide_merge(original, AdditionalSecret(brought), where="here")
    assert key not in first.added
    assert "b.example" in first.added
    kept = decide_merge(
        original,
        AdditionalSecret(b"no docker config"),
        where="here",
        current=first.config,
        current_registries=json.loads(first.added),
    )
    assert (kept.state, kept.config) == ("kept", first.config)
    # Earlier versions wrote the keys in plain text.
    plain = decide_merge(
        original,
        AdditionalSecret(b""),
        where="here",
        current=first.config,
        current_registries=[key, "b.example"],
    )
    assert plain.config.registries == ("a.example",)


@pytest.mark.nightly
def test_how_often_a_generated_token_shows_as_a_path() -> None:
    """Only tokens in lower case can pass as a path; capital letters always hide a token."""
    rng = random.Random(8)

    def shown(alphabet: str, length: int) -> float:
        keys = ["quay.io/" + "".join(rng.choices(alphabet, k=length)) for _index in range(2000)]
        return sum(repr(load(document(key))).find(key) >= 0 for key in keys) / len(keys)

    assert shown("0123456789abcdef", 32) <= 0.001
    assert shown(string.ascii_lowercase + string.digits, 32) <= 0.005
    assert shown(string.ascii_lowercase + string.digits, 20) <= 0.05
