# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rates of encoded credentials that are not recognised, and of names that are mistaken for credentials.

The corpora are made from a fixed random seed, so that each run has the same rates.
"""

from __future__ import annotations

import base64
import json
import random
import string
import textwrap
import uuid
from collections.abc import Callable

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.shown import is_name, shown
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.secrecy import (
    forms_in,
    misplaced,
    quiet,
)
from tests.support.nightly import some

_LETTERS = string.ascii_letters + string.digits
_MANY = 1000
_USERS = (
    *(
        "robot",
        "user",
        "a",
        "AWS",
        "|uhc-1.5.0-common",
        "org+robot_1",
        "admin@example.com",
        "oauth2accesstoken",
    ),
    *("$oauthtoken", "müller", "hyperfleet_gcp_eu_0123456789abcdef", "_json_key"),
)


def _password(rng: random.Random) -> str:
    length = rng.choice((2, 4, 8, 16, 30, 64))
    return rng.choice(
        (
            "".join(rng.choices(_LETTERS, k=length)),
            "".join(rng.choices(string.ascii_uppercase + string.digits, k=64)),
            "".join(rng.choices(string.printable[:95], k=length)).strip() or "x",
            "".join(rng.choices(_LETTERS + "äöüßé", k=length)),
            str(uuid.UUID(int=rng.getrandbits(128))),
        )
    )


def _credential(rng: random.Random) -> str:
    user, password = rng.choice(_USERS), _password(rng)
    if user == "_json_key":
        password = json.dumps({"type": "service_account", "private_key": f"{password}\n"}, indent=2)
    return f"{user}:{password}"


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


# Forms of a pasted credential, with the share that may be missed: very short credentials without padding.
_ENCODINGS: dict[str, tuple[Callable[[str], str], float]] = {
    "base64": (lambda text: _base64(text.encode()), 0),
    "no padding": (lambda text: _base64(text.encode()).rstrip("="), 0.01),
    "URL-safe": (lambda text: base64.urlsafe_b64encode(text.encode()).decode(), 0),
    "URL-safe, no padding": (lambda text: base64.urlsafe_b64encode(text.encode()).decode().rstrip("="), 0.01),
    "a line break": (lambda text: _base64(text.encode() + b"\n"), 0),
    "CRLF": (lambda text: _base64(text.encode() + b"\r\n"), 0),
    "a NUL": (lambda text: _base64(text.encode() + b"\0"), 0),
    "Latin-1": (lambda text: _base64(text.encode("latin-1")), 0.01),
    "UTF-16": (lambda text: _base64(text.encode("utf-16-le")), 0.01),
    "UTF-16 with a mark": (lambda text: _base64(text.encode("utf-16")), 0.01),
    "in lines": (lambda text: "\n".join(textwrap.wrap(_base64(text.encode()), 64)), 0),
    "MIME": (lambda text: base64.encodebytes(text.encode()).decode(), 0),
    "twice": (lambda text: _base64(_base64(text.encode()).encode()), 0),
    "twice, as echo does": (lambda text: _base64(_base64(text.encode()).encode() + b"\n"), 0),
    "three times": (lambda text: _base64(_base64(_base64(text.encode()).encode()).encode()), 0),
    "in a sentence": (lambda text: f"login at quay.io failed with {_base64(text.encode())}, see the log", 0),
    "in a path": (lambda text: f"projects/{_base64(text.encode()).rstrip('=')}/secrets/x", 0.02),
    "after a name": (lambda text: f"robot:{_base64(text.encode())}", 0),
    "after an option": (lambda text: f"auth={_base64(text.encode())}", 0),
    # Only ten bytes or more are recognised, because shorter ones may be parts of digests and ids.
    "hexadecimal": (lambda text: text.encode().hex(), 0.1),
}


@pytest.mark.parametrize("encoding", _ENCODINGS)
def test_an_encoded_credential_is_recognised(encoding: str) -> None:
    encode, share = _ENCODINGS[encoding]
    rng = random.Random(7)
    credentials = [_credential(rng) for _index in range(_MANY)]
    missed = [text for text in credentials if not misplaced({"annotations": {"a": encode(text)}})]
    assert len(missed) <= share * _MANY, missed[:5]
    # The missed credentials are too short to be distinguished from names.
    assert all(len(text) < 10 or encoding == "in a path" for text in missed), missed


_HARDENING_7 = {
    "a line break": _base64(b"robot:CanaryPassw0rd78\n"),
    "indented JSON": _base64(b'_json_key:{\n  "type": "service_account",\n  "private_key": "Canary"\n}'),
    "Latin-1": _base64("robot:CanäryPassw0rd78".encode("latin-1")),
    "short": "dXNlcjpwdw==",
    "short, without padding": "dXNlcjpwdw",
    "any bytes": _base64(b"robot:\x01\x02\x80\xff\xfe\x90\x11\x12"),
}


@pytest.mark.parametrize("case", _HARDENING_7)
def test_what_went_unrecognised_once(case: str) -> None:
    text = _HARDENING_7[case]
    assert misplaced({"cluster_name": text}) == ["cluster_name"]
    assert misplaced({text: 1}) == ["(a name not shown)"]
    assert not is_name(text)
    assert shown(text) == "(not shown)"
    assert text not in str(quiet({"annotations": {"a": text}}))
    assert text in forms_in({"cluster_name": text})


@pytest.mark.parametrize("name", ["k8s_secret_name", "k8s_immutable", "secret_name"])
def test_an_option_with_a_digit_is_named(name: str) -> None:
    assert misplaced({name: _HARDENING_7["short"]}) == [name]


def _names(rng: random.Random) -> list[str]:
    """Return realistic names, none of which is a secret."""

    def digits(count: int) -> str:
        return "".join(rng.choices("0123456789abcdef", k=count))

    def word(count: int) -> str:
        return "".join(rng.choices(string.ascii_lowercase, k=count))

    guid, capital = uuid.UUID(int=rng.getrandbits(128)), word(8).capitalize()
    project = f"{word(8)}-{rng.choice(('prod', 'dev'))}-{digits(5)}"
    ring = f"projects/{project}/locations/europe-west1/keyRings/{capital}-Ring"
    ring += f"/cryptoKeys/{capital}Key_{digits(4)}"
    return [
        str(guid),
        str(guid).upper(),
        guid.hex,
        f"sha256:{digits(64)}",
        digits(40),
        digits(64).upper(),
        f"quay.io/{word(6)}/{word(9)}@sha256:{digits(64)}",
        f"registry.example.com:5000/{word(6)}/{word(9)}:v{rng.randrange(20)}.{rng.randrange(20)}.0-RC{digits(1)}",
        project,
        f"example.com:{project}",
        str(rng.randrange(10**12)),
        ring,
        f"{ring}/cryptoKeyVersions/{rng.randrange(100)}",
        f"projects/{project}/secrets/hyperfleet-cls-{digits(12)}-pull-secret/versions/{rng.randrange(99)}",
        f"{word(5)}@{project}.iam.gserviceaccount.com",
        f"{capital}.{word(9).capitalize()}@Example.com",
        f"gke_{project}_europe-west1_{capital}-Management-{rng.randrange(99)}",
        f"arn:aws:eks:eu-west-1:{rng.randrange(10**12):012}:cluster/{capital}ClusterOne",
        f"default/api-{word(6)}-example-com:6443/kube:admin",
        f"2026-{rng.randrange(1, 13):02}-22T23:20:{rng.randrange(60):02}Z",
        f"v{rng.randrange(9)}.{rng.randrange(30)}.{rng.randrange(30)}-Beta{rng.randrange(9)}+Build.{digits(7)}",
        f"openshift-{word(7)}-{digits(5)}-{''.join(rng.choices('bcdfghjklmnpqrstvwxz2456789', k=5))}",
        f"{capital}{word(6).capitalize()}{word(7).capitalize()}",
        f"/etc/{capital}/{word(6).capitalize()}Config.yaml",
        f"https://{word(6)}.example.com/{capital}/{digits(8).upper()}?View={word(5).capitalize()}",
        f"kubernetes.io/{capital}-{word(4).upper()}",
        f"Waiting for {capital} on ip-10-0-{rng.randrange(255)}-7: PodInitializing, Reason=ImagePullBackOff",
    ]


def test_a_name_is_not_taken_for_a_credential() -> None:
    rng = random.Random(7)
    names = [name for _index in range(_MANY) for name in _names(rng)]
    taken = [name for name in names if misplaced({"annotations": {"a": name}})]
    # Words that are combined at random can be valid base64.
    assert len(taken) <= len(names) * 0.0002, taken[:10]


@pytest.mark.parametrize("length", some([8, 12, 16, 24, 43], 8))
def test_random_letters_are_seldom_taken_for_a_credential(length: int) -> None:
    """Such as the ids of videos or chat channels, or a digest in base64."""
    rng = random.Random(length)
    ids = ["".join(rng.choices(_LETTERS + "-_", k=length)) for _index in range(20 * _MANY)]
    assert sum(bool(misplaced({"cluster_name": one})) for one in ids) <= len(ids) * 0.0004
