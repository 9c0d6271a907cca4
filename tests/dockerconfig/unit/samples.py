# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One document or more for each rule.  The oracle asks the real readers about the same documents."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import Any

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.dockerconfig import Finding
from tests.support.docker_configs import encoded

BASE64_JSON = base64.b64encode(b'{"auths": {}}')


GOOD = encoded("user:example-password")
URL_SAFE = base64.urlsafe_b64encode("user:\u00ff\u00ff\u00ff??>".encode()).decode()


@dataclass(frozen=True)
class Sample:
    """``document`` breaks ``rule`` at ``registry`` (as shown); the readers are asked for ``image``."""

    rule: str
    document: bytes
    registry: str | None = None
    image: str = "quay.io/team/app"


def _document(rule: str, text: str | bytes) -> Sample:
    return Sample(rule, text if isinstance(text, bytes) else text.encode())


def _auths(rule: str, auths: str, registry: str | None = None) -> Sample:
    return Sample(rule, f'{{"auths": {auths}}}'.encode(), registry)


def _entry(rule: str, entry: Any, **extra: Any) -> Sample:
    return Sample(rule, json.dumps({"auths": {"quay.io": entry}, **extra}).encode(), "quay.io")


def _key(rule: str, key: str, registry: str | None = None, image: str = "quay.io/team/app") -> Sample:
    document = json.dumps({"auths": {key: {"auth": GOOD}}}).encode()
    return Sample(rule, document, key if registry is None else registry, image)


def _extra(rule: str, registry: str | None = None, **extra: Any) -> Sample:
    return Sample(rule, json.dumps({"auths": {"quay.io": {"auth": GOOD}}, **extra}).encode(), registry)


_VALID = json.dumps({"auths": {"quay.io": {"auth": GOOD}}})
_NESTED = "[" * 70 + "]" * 70

SAMPLES = [
    _document("not-json", ""),
    _document("not-json", "{"),
    _document("not-json", _VALID + "}"),
    _document("not-json", _VALID.replace('"', "'")),
    _document("not-json", _VALID[:-1] + ",}"),
    _document("not-json", _VALID.replace("quay", "quay\x00")),
    _document("not-json", BASE64_JSON),
    _document("not-json", _VALID.encode("utf-16-le")),
    _document("byte-order-mark", "\ufeff" + _VALID),
    _document("byte-order-mark", _VALID.encode("utf-16")),
    _document("not-utf8", _VALID.encode().replace(b"{", b'{"x": "\xff\xfe", ', 1)),
    _document("not-utf8", _VALID.replace("{", '{"x": "\\ud800", ', 1)),
    _document("too-large", _VALID + " " * 1024 * 1024),
    _document("too-deep", _VALID[:-1] + f', "x": {_NESTED}}}'),
    _document("number-out-of-range", _VALID[:-1] + ', "x": NaN}'),
    _document("number-out-of-range", _VALID[:-1] + ', "x": [-Infinity]}'),
    _document("not-an-object", "[]"),
    _document("not-an-object", '"text"'),
    _document("not-an-object", "5"),
    _document("not-an-object", "null"),
    _document("duplicate-key", _VALID[:-1] + f', "auths": {{"quay.io": {{"auth": "{GOOD}"}}}}}}'),
    _auths("duplicate-key", f'{{"quay.io": {{"auth": "{GOOD}"}}, "quay.io": {{"auth": "{GOOD}"}}}}'),
    _auths("duplicate-key", f'{{"quay.io": {{"auth": "{GOOD}", "auth": "{GOOD}"}}}}'),
    _document("duplicate-key", _VALID[:-1] + ', "x": [{"y": {"z": 1, "z": 2}}]}'),
    _document("auths-missing", "{}"),
    _document("auths-missing", json.dumps({"quay.io": {"auth": GOOD}})),
    _document("auths-wrong-case", _VALID.replace("auths", "Auths")),
    # Go reads both into one map.
    _document("auths-wrong-case", _VALID[:-1] + ', "AUTHS": {"a.example": {"auth": "' + GOOD + '"}}}'),
    _document("auths-wrong-case", _VALID[:-1] + ', "auth\u017f": {"a.example": {"auth": "' + GOOD + '"}}}'),
    _auths("auths-not-an-object", "[]"),
    _auths("auths-not-an-object", '"text"'),
    _auths("auths-not-an-object", "null"),
    _auths("auths-empty", "{}"),
    _entry("entry-not-an-object", "text"),
    _entry("entry-not-an-object", [GOOD]),
    _entry("entry-not-an-object", 5),
    _entry("entry-not-an-object", None),
    _entry("field-wrong-case", {"Auth": GOOD}),
    _entry("field-wrong-case", {"auth": GOOD, "PASSWORD": "example-password"}),
    _extra("field-wrong-case", CredHelpers={}),
    _entry("field-not-a-string", {"auth": 5}),
    _entry("field-not-a-string", {"auth": GOOD, "email": True}),
    _entry("field-not-a-string", {"auth": GOOD, "username": ["user"]}),
    _entry("field-not-a-string", {"auth": GOOD, "identitytoken": {}}),
    _extra("field-not-a-string", HttpHeaders={"X-Meta": 1}),
    _extra("field-not-a-string", credHelpers=["quay.io"]),
    _entry("no-credentials", {}),
    _entry("no-credentials", {"auth": ""}),
    _entry("no-credentials", {"email": "user@example.com"}),
    _entry("token-only", {"identitytoken": "example-token"}),
    _entry("token-only", {"auth": "", "registrytoken": "example-token"}),
    _entry("helper-only", {}, credsStore="desktop"),
    _entry("helper-only", {}, credHelpers={"quay.io": "absent"}),
    _entry("auth-not-base64", {"auth": "user:example-password"}),
    _entry("auth-not-base64", {"auth": GOOD + "="}),
    _entry("auth-not-base64", {"auth": "YTpiY"}),
    _entry("auth-not-base64", {"auth": GOOD.replace("=", "") + "\u00e9"}),
    _entry("auth-not-base64", {"auth": "not-base64"}),
    _entry("auth-url-safe", {"auth": URL_SAFE}),
    _entry("auth-url-safe", {"auth": URL_SAFE.rstrip("=")}),
    _entry("auth-whitespace", {"auth": GOOD[:8] + " " + GOOD[8:]}),
    _entry("auth-whitespace", {"auth": GOOD + "\t"}),
    _entry("auth-whitespace", {"auth": " " + GOOD}),
    _entry("auth-no-colon", {"auth": encoded("example-password")}),
    _entry("auth-no-colon", {"auth": "\n"}),
    _entry("empty-user", {"auth": encoded(":example-password")}),
    _entry("empty-user", {"password": "example-password"}),
    _entry("empty-password", {"auth": encoded("user:")}),
    _entry("empty-password", {"auth": encoded("user:\n")}),
    _entry("empty-password", {"username": "user", "password": ""}),
    _entry("control-character", {"auth": encoded("user:example\x00password")}),
    _entry("control-character", {"auth": encoded("us\ner:example-password")}),
    _entry("control-character", {"username": "user", "password": "example\x7fpassword"}),
    _entry("trailing-newline", {"auth": encoded("user:example-password\n")}),
    _entry("trailing-newline", {"auth": encoded("user:example-password\r\n")}),
    _entry("trailing-newline", {"username": "user", "password": "example-password\n"}),
    _entry("user-with-colon", {"username": "us:er", "password": "example-password"}),
    _key("key-empty", "", "entry 1 (name not shown)"),
    _key("key-whitespace", " quay.io", "entry 1 (name not shown)"),
    _key("key-whitespace", "quay.io/te am", "entry 1 (quay.io, the rest not shown)"),
    _key("key-whitespace", "quay.io\n", "entry 1 (name not shown)"),
    _key("key-whitespace", "quay.io/\u00a0", "entry 1 (quay.io, the rest not shown)"),
    _key("key-at-sign", "user:example-password@quay.io", "entry 1 (name not shown)"),
    _key("key-tag", "quay.io/team/app:1", "entry 1 (quay.io/team/app, the rest not shown)"),
    _key("key-tag", "quay.io:latest", "entry 1 (quay.io, the rest not shown)"),
    _key("key-glob-in-path", "quay.io/team*"),
    _key("key-upper-case", "Quay.io", "entry 1 (name not shown)"),
    _key("key-upper-case", "quay.io/Team", "entry 1 (quay.io, the rest not shown)"),
    _key("key-upper-case", "HTTPS://quay.io", image="quay.io/x"),
    _key("key-invalid", "quay..io", "entry 1 (name not shown)"),
    _key("key-invalid", "[::1", "entry 1 (name not shown)"),
    _key("key-invalid", "ftp://quay.io"),
    _key("key-invalid", "/", "entry 1 (name not shown)"),
    _entry("username-password-only", {"username": "user", "password": "example-password"}),
    _entry("auth-unpadded", {"auth": encoded("user:example-pass").rstrip("=")}),
    _entry("auth-line-breaks", {"auth": GOOD[:8] + "\r\n" + GOOD[8:] + "\n"}),
    _key("docker-hub-alias", "registry-1.docker.io", image="nginx"),
    _key("docker-hub-alias", "https://registry-1.docker.io/v2/", image="nginx"),
    _key("key-path-prefix", "quay.io/team"),
    _key("key-glob-host", "*.quay.io", image="a.quay.io/team/app"),
    _key("key-api-path", "quay.io/v1/"),
    _key("key-api-path", "quay.io/"),
    _key("key-api-path", "quay.io/team/"),
    _key("key-api-path", "index.docker.io/v1/", image="nginx"),
    _key("key-scheme-with-path", "https://quay.io/team"),
    _auths(
        "key-duplicate-spelling",
        f'{{"quay.io": {{"auth": "{GOOD}"}}, "https://quay.io/v1/": {{"auth": "{GOOD}"}}}}',
        "https://quay.io/v1/",
    ),
    _entry("auth-overrides-fields", {"auth": GOOD, "username": "other"}),
    _entry("auth-overrides-fields", {"auth": GOOD, "password": "another-password"}),
    _entry("auth-not-utf8", {"auth": encoded(b"user:\xff\xfe-password")}),
    _entry("identity-token", {"auth": GOOD, "identitytoken": "example-token"}),
    _extra("helper-shadows-auth", "quay.io", credHelpers={"quay.io": "absent"}),
    _extra("creds-store", credsStore="desktop"),
]  # fmt: skip

# What a verdict comes to when the reader is asked: "reject", "none", "empty", "fail", "helper", else "use".
_OUTCOMES = {
    "rejects the whole file": "reject",
    "finds no credential": "none",
    "never matches it": "none",
    "compares it as written": "none",
    "does not use it for docker.io": "none",
    "ignores the entry": "none",
    "tries an empty credential": "empty",
    "fails for this registry": "fail",
    "runs the helper, never reads 'auth'": "helper",
}


def expected_outcome(verdict: str, sample: Sample, finding: Finding, reader: str) -> str:
    """The outcome that a verdict promises for the sample's image."""
    if finding.rule == "helper-only" and reader == "containers_image":
        return "helper" if b"credHelpers" in sample.document else "none"
    if verdict == "ignores the field" and b'"auth": 5' in sample.document:
        return "none"
    if finding.rule == "empty-user" or finding.rule == "empty-password":
        # Without auth, containers/image does not look at username and password at all.
        return "none" if reader == "containers_image" and b'"auth"' not in sample.document else "use"
    if reader == "containers_image" and b'"auth"' not in sample.document and b"username" in sample.document:
        return "none"
    return _OUTCOMES.get(verdict, "use")
