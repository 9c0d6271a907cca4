# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Random documents and image names, drawn towards everything on which readers are known to trip."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Sequence
from typing import Any, TypeVar

T = TypeVar("T")

HOSTS = [
    "quay.io", "docker.io", "index.docker.io", "registry-1.docker.io", "localhost", "myhost", "Quay.io",
    "a.quay.io", "b.a.quay.io", "example.com", "10.0.0.1", "[::1]", "[2001:db8::1]", "a_b.c", "A", "quay.io.",
    "registry.example.com", "cloud.openshift.com", "-a.io", "h\u00e9.io", "xn--h-bga.io",
]  # fmt: skip
PORTS = ["", "", "", "", ":443", ":5000", ":05000", ":", ":80:80", ":tag"]
PATHS = [
    "", "", "", "", "/", "/team", "/team/", "/team/app", "/team-evil", "/team/app/deep", "/library",
    "/library/nginx", "/v1", "/v1/", "/v2/", "/v2/team", "/v1/team/app", "//", "/te", "/Team",
]  # fmt: skip
KEY_PATHS = [
    *PATHS, "/team*", "/*", "/team:1", "/team@sha256:abc", "/te%61m", "/team%2Fapp", "/team%", "/team?x=1",
    "/team#f", "/team%3Fx", "/team%23", "/team app", "/team\t", "/v2/%2E", "/caf\u00e9", "/team%E9",
]  # fmt: skip
KEY_HOSTS = [
    *HOSTS,
    "*.io", "*", "*.quay.io", "quay.*", "q*y.io", "qua?.io", "*.*", "*a.quay.io", "q[ua]ay.io", "[q]uay.io",
    "user@quay.io", "user:example-password@quay.io", "us er@quay.io", "u@v@quay.io", "quay .io", " quay.io",
    "quay.io ", "quay\\.io", "", "%71uay.io", "quay.io%20", "h%C3%A9.io", "q%25.io", "[fe80::1%25en0]",
    "[::1", "::1",
    "[*]", "qu]ay.io", "quay{}.io", "quay|.io", "quay,io", "**.io", "*.*.io", "q**y.io", "?", "10.0.0.*",
    "[::A]", "[::ffff:1.2.3.4]", "[1.2.3.4]", "[fe80::1%2541]", "[fe80::1%25%7f]", "[::1]x",
]  # fmt: skip
SCHEMES = [*[""] * 5, "https://", "http://", "HTTPS://", "http://https://", "https://http://", "ftp://", "//"]
USERS = ["user", "", "other", "u:ser", "us\ner", "\u00fcser", "user\x00", "a"]
PASSWORDS = [
    "example-password", "", "pass:word", "pass\n", "pass\x00", "\x00pass\x00", "p\u00e4ss", "pass\r\n", "x",
    "xy", "xyz",
]  # fmt: skip
NOT_AUTH = [
    "", "!", "a", "ab", "abc", "abcd", "YTpi", "YTpi=", "YTpi\n", "YQ", "YTo", "Og==", "Og", "YTpiYw", "YTpiYw=",
    "YTpiYw===",
]  # fmt: skip
FIELDS = [
    "auth", "auth", "auth", "Auth", "AUTH", "username", "password", "Username", "email", "identitytoken",
    "registrytoken", "identityto\u212aen", "u\u017fername", "pa\u017f\u017fword", "Identitytoken", "x",
]  # fmt: skip
GOOD_HOSTS = [host for host in HOSTS if host.strip("-.") == host.lower() and not set(host) & set("[_\u00e9")]
GOOD_PATHS = [
    "/team/app", "/team/app", "/team/app/deep", "/team-evil/app", "/te/app", "/library/nginx", "/app", "/v1/app",
]  # fmt: skip
TAILS = ["@sha256:" + "0" * 64, "@sha256:0", ":A_b.c-d", ":a:b", ":", "@", " ", ":1@sha256:" + "f" * 64]
IMAGES = [
    "nginx", "nginx:1", "library/nginx", "team/app", "", "UPPER", "a" * 64, "a" * 300, "x/" + "b" * 254,
    "quay.io", "quay.io/", "a//b", "quay.io/team/app:" + "t" * 129, "nginx@sha256:" + "0" * 64,
    "nginx@sha256:" + "A" * 64, "nginx@sha512:" + "0" * 64, "nginx@md5:" + "0" * 32, "a__b", "a___b",
    "quay.io/" + "c" * 250, "quay.io/" + "c" * 247, "quay.io/" + "c" * 255, "localhost/x", "Team/app",
    "host:5000/app", "index.docker.io/nginx", "docker.io/nginx", "quay.io/team/app:1@sha256:" + "1" * 64,
]  # fmt: skip
ODD_KEYS = [
    "", "/", "https://", "#", "?", "\ud800", "\u0000", "quay.io\x7f", ":5000", "quay.io\n", "//", "@", "quay.io@",
]  # fmt: skip
ODD_VALUES: list[Any] = [None, None, 5, 1.5, True, [], {}, "text", "", "\ud800", "\u0000"]


class Generator:
    """A seeded source of (document, image) pairs."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._careless = False  # whether the document at hand may have faults of form

    def question(self) -> tuple[bytes, str]:
        """A document and an image; mostly the document is about the image, or nothing would match."""
        self._careless = self._chance(0.25)
        image = self._image()
        return self._document(image), image

    def entries(self) -> tuple[dict[str, Any], str]:
        """Entries that differ in their keys and credentials only, and an image that they are mostly about."""
        self._careless = False
        image = self._image()
        keys = [self._key(image) for _count in range(self._random.choice([1, 2, 3, 4, 6, 9]))]
        texts = {key: f"user{index}:example-password{index}" for index, key in enumerate(keys)}
        return {key: {"auth": base64.b64encode(text.encode()).decode()} for key, text in texts.items()}, image

    def _chance(self, probability: float) -> bool:
        return self._random.random() < probability

    def _pick(self, values: Sequence[T]) -> T:
        return self._random.choice(values)

    def _image(self) -> str:
        if self._chance(0.08):
            return self._pick(IMAGES)
        host = self._pick(HOSTS if self._chance(0.15) else GOOD_HOSTS)
        path = self._pick(PATHS if self._chance(0.1) else GOOD_PATHS)
        tail = self._pick(TAILS if self._chance(0.1) else ["", "", ":latest", ":1.2"])
        return host + self._pick(PORTS[:7] if self._chance(0.2) else [""]) + path + tail

    def _key(self, image: str) -> str:
        if self._chance(0.6):
            return self._key_about(image)
        if self._careless and self._chance(0.1):
            return self._pick(ODD_KEYS)
        host = self._pick(KEY_HOSTS if self._chance(0.3) else GOOD_HOSTS)
        path = self._pick(KEY_PATHS if self._chance(0.2) else PATHS)
        return self._pick(SCHEMES) + host + self._pick(PORTS if self._chance(0.2) else [""]) + path

    def _key_about(self, image: str) -> str:
        """The image's host or one of its parents, perhaps with a glob, a scheme, or cut off within a name."""
        name = image.partition("@")[0]
        host, _slash, path = name.partition("/")
        if "." not in host and ":" not in host and host != "localhost":
            host, path = self._pick(["docker.io", "index.docker.io", "registry-1.docker.io", host]), name
        if self._chance(0.15):
            labels = host.split(".")
            labels[self._random.randrange(len(labels))] = self._pick(["*", "*a*", "q*", "?", "*y", "[a-z]*"])
            host = ".".join(labels)
        if self._chance(0.08):
            escaped = f"%{ord(host[:1] or '.'):02x}{host[1:]}"
            host = self._pick([escaped, "user@" + host, "us er@" + host, "u%zz@" + host, "u@v@" + host])
        parts = path.split("/")
        path = "/".join(parts[: self._random.randrange(len(parts) + 1)])
        if self._chance(0.1):
            path = path[:-1]
        host += self._pick(
            ["", "", "", "", "/v1", "/v2"] if path else ["", "", "", "/", "/v1/", "/v2/", "/v1"]
        )
        return self._pick(SCHEMES) + host + ("/" + path if path else "") + self._pick([""] * 8 + ["/"])

    def _auth(self) -> str:
        if self._careless and self._chance(0.12):
            return self._pick(NOT_AUTH)
        content = self._pick(USERS) + ":" + self._pick(PASSWORDS)
        raw = content.encode() + (b"\xff\xfe" if self._chance(0.03) else b"")
        text = base64.b64encode(raw).decode()
        if self._chance(0.1):  # what both readers take
            text = self._pick([text + "\n", text[:4] + "\r\n" + text[4:], text.replace("=", "=\n")])
        if self._careless and self._chance(0.2):
            text = self._pick([
                text.rstrip("="), text + "=", text + "\n", text[:4] + "\r\n" + text[4:], " " + text, text + " ",
                text[:4] + " " + text[4:], text.replace("=", "=\n"), text + "A",
                base64.urlsafe_b64encode(raw).decode(), text + "\u00a0", text[:-1],
            ])  # fmt: skip
        return text

    def _entry(self) -> Any:
        if self._careless and self._chance(0.02):
            return self._pick(ODD_VALUES)
        pairs = [("auth", self._auth())] if self._chance(0.85) else []
        while self._chance(0.35):
            name = self._pick(FIELDS)
            value: Any = self._auth() if name.lower() == "auth" else self._pick(PASSWORDS)
            if self._careless and self._chance(0.1):
                value = self._pick(ODD_VALUES)
            pairs.append((name, value))
        self._random.shuffle(pairs)
        return pairs

    def _document(self, image: str) -> bytes:
        auths: Any = [
            (self._key(image), self._entry())
            for dummy in range(self._random.choice([0, 1, 1, 2, 2, 3, 4, 6]))
        ]
        if auths and self._chance(0.05):
            auths.append((self._pick(auths)[0], self._entry()))
        if self._careless and self._chance(0.02):
            auths = self._pick(ODD_VALUES)
        document: Any = [(self._pick(["auths"] * 30 + ["AUTHS", "Auths", "auth\u017f", "auth"]), auths)]
        while self._chance(0.3 if self._careless else 0.02):
            document.append(self._pick(self._beside(image)))
        self._random.shuffle(document)
        if self._careless and self._chance(0.02):
            document = self._pick(ODD_VALUES)
        return self._spoil(self._write(document).encode("utf-8", "surrogatepass"))

    def _beside(self, image: str) -> list[tuple[str, Any]]:
        return [
            ("credHelpers", [(image.partition("/")[0], "absent")]),
            ("CredHelpers", [(self._key(image), self._pick(["absent", None, 5]))]),
            ("credHelpers", self._pick(ODD_VALUES)),
            ("HttpHeaders", [("X-Meta", self._pick(["y", None, 1]))]),
            ("httpheaders", self._pick(ODD_VALUES)),
            ("auths", self._pick([None, [], [(self._key(image), self._entry())]])),
            (self._pick(["AUTHS", "auth\u017f"]), [(self._key(image), self._entry())]),
            ("credsStore", "absent"),
            ("other", self._pick(ODD_VALUES)),
        ]

    def _write(self, value: Any) -> str:
        """JSON with repeated names: an object is a list of pairs here."""
        space = self._pick(["", "", " ", "\n\t", "\r\n"])
        if isinstance(value, list):
            items = (f"{self._string(name)}:{space}{self._write(item)}" for name, item in value)
            return "{" + space + f",{space}".join(items) + "}"
        if isinstance(value, str):
            return self._string(value)
        return json.dumps(value)

    def _string(self, text: str) -> str:
        return json.dumps(text, ensure_ascii=self._chance(0.5))

    def _spoil(self, document: bytes) -> bytes:
        if not (self._careless and self._chance(0.1)):
            return document
        at = self._random.randrange(len(document) + 1)
        return self._pick([
            b"\xef\xbb\xbf" + document, document[:at], document + b"}", document + b"\n", b"",
            document[:at] + b"\xff" + document[at:], document + b"\x00", document[:at] + b"," + document[at:],
            b" \r\n\t" + document, document.replace(b":", b":NaN,", 1), document[:at] + b"\xe2\x82" + document[at:],
            document[:at] + b"\\" + document[at:], document + document, b"\x0c" + document,
        ])  # fmt: skip
