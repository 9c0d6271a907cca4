# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""No printed text, error or traceback shows a value, and every form of a value can be masked."""

from __future__ import annotations

import base64
import json
import pickle
import textwrap
import traceback
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.dockerconfig import (
    DockerConfigError,
    Layer,
    digest,
    lint,
    load,
    lookup_containers_image,
    lookup_kubelet,
    merge,
    sensitive_forms,
)
from tests.dockerconfig.unit.samples import SAMPLES, Sample
from tests.dockerconfig.unit.strategies import PROFILE
from tests.support.docker_configs import encoded

CANARY = "canary-4711-example"
CANARY_FORMS = [CANARY, encoded(CANARY)[:20], encoded(f"user:{CANARY}")[4:24], CANARY.upper()]


def filled(text: str, value: str = CANARY) -> str:
    """Put the value into ``text``."""
    return text.replace("VALUE", value)


BROKEN: list[Any] = [
    CANARY,
    filled('{"auths": {"quay.io": {"auth": "VALUE"'),
    filled('{"auths": {"quay.io": {"auth": "VALUE"}}}'),
    filled('{"auths": {"quay.io": "VALUE"}}'),
    filled('{"auths": ["VALUE"]}'),
    filled('{"auths": {"quay.io": {"auth": "VALUE"}}}', encoded(CANARY)),
    filled('{"auths": {"quay.io": {"auth": "VALUE"}}}', encoded(f"user:{CANARY}\n")),
    filled('{"auths": {"quay.io": {"auth": "VALUE"}}}', encoded(f":{CANARY}")),
    filled('{"auths": {"quay.io": {"username": "VALUE"}}}'),
    filled('{"auths": {"quay.io": {"password": "VALUE"}}}'),
    filled('{"auths": {"quay.io": {"identitytoken": "VALUE"}}}'),
    filled('{"auths": {"quay.io": {"auth": {"VALUE": 1}}}}'),
    filled('{"auths": {"user:VALUE@quay.io": {"auth": "!"}}}'),
    filled('{"auths": {"VALUE": {}}}', encoded(f"user:{CANARY}")),
    filled('{"auths": {"VALUE": {}}}', CANARY.upper()),
    filled('{"auths": {}, "VALUE": 1, "VALUE": 2}'),
    filled('{"auths": {"quay.io": {"x": 1, "x": "VALUE"}}}'),
    filled('{"auths": {"quay.io": {"auth": "VALUE"}}}', encoded(f"user:{CANARY}")).encode("utf-16"),
    {"auths": {"quay.io": {"auth": CANARY.encode()}}},
    {"auths": {"quay.io": {CANARY}}},
    {"auths": {CANARY.upper(): {"auth": CANARY}}},
    {"auths": {"quay.io": {"auth": encoded(f"user:{CANARY}"), "email": [CANARY]}}},
]  # fmt: skip


def assert_silent(text: str) -> None:
    for form in CANARY_FORMS:
        assert form not in text


def assert_silent_error(error: DockerConfigError) -> None:
    """Check that the error's text, attributes and local variables of its frames do not contain the canary."""
    assert error.__cause__ is None
    assert error.__context__ is None
    assert_silent(f"{error} {error!r} {error.args} {vars(error)}")
    frames = list(traceback.TracebackException.from_exception(error, capture_locals=True).stack)
    # The first frame is the test's own; it holds the document.
    assert len(frames) > 1
    for frame in frames[1:]:
        assert_silent(str(frame.locals))


@pytest.mark.parametrize("data", BROKEN, ids=range(len(BROKEN)))
def test_an_error_shows_nothing_of_the_document(data: Any) -> None:
    with pytest.raises(DockerConfigError) as caught:
        load(data, strict=True)
    assert_silent_error(caught.value)
    assert_silent(" ".join(f"{item} {item!r}" for item in lint(data)))


@pytest.mark.parametrize("data", BROKEN, ids=range(len(BROKEN)))
def test_a_lookup_in_a_bad_document_shows_nothing_either(data: Any) -> None:
    for lookup in (lookup_kubelet, lookup_containers_image):
        try:
            assert_silent(repr(lookup(data, "quay.io/app")))
        except DockerConfigError as error:
            assert_silent_error(error)


@pytest.mark.parametrize("data", [item for item in BROKEN if lint(item)[0].severity == "error"])
def test_neither_does_a_digest(data: Any) -> None:
    with pytest.raises(DockerConfigError) as caught:
        digest(data, b"0123456789abcdef")
    assert_silent_error(caught.value)


def test_a_refused_merge_shows_nothing_either() -> None:
    layers = [Layer("a", load({"auths": {"quay.io": {"auth": encoded(f"user:{CANARY}")}}}))]
    with pytest.raises(DockerConfigError) as caught:
        merge(layers, policy={"quay.io": "nobody"})
    assert_silent_error(caught.value)


def test_the_check_would_see_a_leak() -> None:
    with pytest.raises(AssertionError):
        assert_silent(f"the password is {CANARY}")
    with pytest.raises(AssertionError):
        assert_silent(encoded(f"user:{CANARY}"))


def test_nothing_accepted_prints_itself() -> None:
    data = {
        "auths": {"quay.io": {"auth": encoded(f"user:{CANARY}"), "x": CANARY}},
        "HttpHeaders": {"X": CANARY},
    }
    config = load(data)
    merged = merge([Layer("original", config), Layer("additional", config)])
    match = lookup_containers_image(config, "quay.io/app")
    assert match is not None
    for thing in (
        config,
        Layer("x", config),
        merged,
        match,
        match.secret,
        lookup_kubelet(config, "quay.io/app"),
    ):
        assert_silent(f"{thing} {thing!r}")
    assert repr(config) == "<DockerConfig quay.io>"
    assert match.secret.password == CANARY.encode()
    assert_silent(digest(config, b"0123456789abcdef"))


def test_conflicts_and_provenance_show_no_value() -> None:
    layers = [
        Layer(name, load({"auths": {"quay.io": {"auth": encoded(f"user:{CANARY}{name}")}}}))
        for name in ("a", "b")
    ]
    merged = merge(layers)
    assert merged.conflicts
    assert_silent(f"{merged.conflicts} {merged.provenance} {merged.warnings}")


def test_an_error_survives_a_process_boundary() -> None:
    with pytest.raises(DockerConfigError) as caught:
        load("{")
    again = pickle.loads(pickle.dumps(caught.value))  # noqa: S301
    assert (str(again), again.findings) == (str(caught.value), caught.value.findings)


@PROFILE
@given(st.sampled_from(SAMPLES), st.sampled_from(["auth", "password", "identitytoken", "x"]), st.booleans())
def test_no_rule_quotes_a_value(sample: Sample, field: str, replace: bool) -> None:
    """Put the canary in the place of each sample's values, and beside them."""
    text = sample.document.decode("utf-8", "replace")
    if replace:
        text = text.replace("example", CANARY).replace("dXNl", CANARY)
    text = text.replace('{"', filled('{"' + field + '": "VALUE", "'), 3)
    assert_silent(" ".join(map(str, lint(text))))


PASSWORDS = [
    "canary-4711",
    "c\u00e4n\u00e4ry-4711",
    'can"ary\\4711',
    "can/ary+4711??>>",
    "canary 4711 <&>",
    "canary:4711",
]


def printed_forms(data: dict[str, Any]) -> list[str]:
    """The document in the forms in which programs print it."""
    texts = [
        json.dumps(data),
        json.dumps(data, indent=2),
        json.dumps(data, indent=4, sort_keys=True),
        json.dumps(data, indent=4, ensure_ascii=False),
        json.dumps(data, separators=(",", ":")),
        repr(data),
    ]
    texts += [json.dumps(text) for text in texts[:3]]  # a string inside a result
    raw = [text.encode() for text in texts[:5]]
    texts += [base64.b64encode(text).decode() for text in raw]
    texts += [base64.b64encode(text + b"\n").decode() for text in raw]
    return texts


@pytest.mark.parametrize("password", PASSWORDS)
@pytest.mark.parametrize("valid", [True, False])
def test_every_printed_form_can_be_masked(password: str, valid: bool) -> None:
    auth = encoded(f"robot:{password}")
    data: dict[str, Any] = {"auths": {"quay.io": {"auth": auth, "identitytoken": f"token-{password}"}}}
    if not valid:
        data["auths"]["a.io"] = {}
    planted = [password, f"robot:{password}", auth, auth.rstrip("="), encoded(password), f"token-{password}"]
    planted += [json.dumps(password)[1:-1], encoded(password + "\n")]
    for source in (data, json.dumps(data), json.dumps(data, indent=2).encode()):
        forms = sensitive_forms(source)
        assert set(planted) <= forms
        assert set(printed_forms(data)[:6]) <= forms  # the whole text, not only the values in it
        for text in printed_forms(data):
            masked = mask(text, forms)
            for form in [*planted, base64.b64encode(json.dumps(data).encode()).decode()[40:80]]:
                assert form not in masked, f"{form!r} is not masked in {text[:80]!r}"
        wrapped = "\n".join(textwrap.wrap(base64.b64encode(json.dumps(data).encode()).decode(), 76))
        assert not set(wrapped.split("\n")) & set(mask(wrapped, forms).split("\n"))


def mask(text: str, forms: set[str]) -> str:
    """Mask as Ansible does: the longest first."""
    for form in sorted(forms, key=len, reverse=True):
        text = text.replace(form, "********")
    return text


@pytest.mark.parametrize("data", BROKEN, ids=range(len(BROKEN)))
def test_broken_documents_are_masked_as_well(data: Any) -> None:
    forms = sensitive_forms(data)
    texts = [data.decode("utf-16") if isinstance(data, bytes) else str(data)]
    if isinstance(data, str):
        texts += [encoded(data), json.dumps(data), repr(data), data.strip()]
    for text in texts:
        masked = mask(text, forms)
        # User names stay readable, and so does a canary in the place of a name.
        if CANARY in masked:
            assert any(f'"{name}": "{CANARY}"' in text for name in ["username"])
    assert all(len(form) >= 6 for form in forms)


def test_names_stay_readable() -> None:
    data = {
        "auths": {
            "registry.example.com": {"username": "robot-user", "password": CANARY, "email": "a@example.com"}
        }
    }
    message = "registry.example.com: robot-user (a@example.com) auths username password"
    assert mask(message, sensitive_forms(load(data))) == message


def test_a_document_that_was_encoded_once_too_often_is_seen_through() -> None:
    inner = json.dumps({"auths": {"quay.io": {"auth": encoded(f"user:{CANARY}")}}})
    forms = sensitive_forms(encoded(inner))
    assert {inner, CANARY, encoded(inner)} <= forms


def test_an_accepted_config_is_masked_like_its_document() -> None:
    data = {"auths": {"quay.io": {"username": "user", "password": CANARY}}}
    forms = sensitive_forms(load(data))
    assert {CANARY, encoded(f"user:{CANARY}"), load(data).canonical().decode()} <= forms
