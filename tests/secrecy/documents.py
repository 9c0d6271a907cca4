# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Valid and invalid documents that contain a canary's secrets."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from typing import Any

from tests.support.docker_configs import encoded
from tests.support.secrecy.canary import Canary, Entry

__all__ = ["INVALID", "VALID"]

_Maker = Callable[[Canary], bytes]


def _with(change: Callable[[Canary, dict[str, Any]], Any]) -> _Maker:
    """Make the canary's document with changed ``auths``."""

    def made(canary: Canary) -> bytes:
        document = canary.document
        changed = change(canary, document["auths"])
        return json.dumps(document if changed is None else changed).encode()

    return made


def _entry(value: Callable[[Entry], Any]) -> _Maker:
    """Make the document with another value for the first registry's entry."""
    return _with(lambda canary, auths: auths.update({"r0.example": value(canary.entries[0])}))


def _auth(text: Callable[[Entry], str]) -> _Maker:
    """Make the document with this text, encoded, as the first registry's ``auth``."""
    return _entry(lambda entry: {"auth": encoded(text(entry))})


def _key(key: Callable[[Entry], str]) -> _Maker:
    """Make the document with an additional registry, whose name is made from the first entry."""
    return _with(
        lambda canary, auths: auths.update({key(canary.entries[0]): {"auth": canary.entries[0].auth}})
    )


def _text(change: Callable[[str], str]) -> _Maker:
    return lambda canary: change(canary.text).encode()


VALID: Mapping[str, _Maker] = {
    "compact": _text(str),
    "indented by 2": lambda canary: json.dumps(canary.document, indent=2).encode(),
    "indented by 4": lambda canary: json.dumps(canary.document, indent=4, sort_keys=True).encode() + b"\n",
    "UTF-8": lambda canary: json.dumps(canary.document, ensure_ascii=False).encode(),
}

INVALID: Mapping[str, _Maker] = {
    "bad base64": _entry(lambda one: {"auth": f"{one.auth[:20]}!{one.auth[20:]}"}),
    "no colon": _auth(lambda one: one.token),
    "plain user and password": _entry(lambda one: {"auth": f"{one.user}:{one.password}"}),
    "control characters": _auth(lambda one: f"{one.user}:\x01{one.token}\x1b[31m"),
    "newline": _auth(lambda one: f"{one.user}:{one.token}\n"),
    "URL-safe base64": _entry(
        lambda one: {"auth": base64.urlsafe_b64encode(b"u\xff\xfe\xff:" + one.password.encode()).decode()}
    ),
    "auth is a list": _entry(lambda one: {"auth": [one.auth]}),
    "password is a mapping": _entry(lambda one: {"username": one.user, "password": {"is": one.password}}),
    "entry is a string": _entry(lambda one: one.auth),
    "entry is a list": _entry(lambda one: [one.user, one.password]),
    "token only": _entry(lambda one: {"identitytoken": one.token}),
    "upper case": _entry(lambda one: {"AUTH": one.auth}),
    "no user": _auth(lambda one: f":{one.password}"),
    "secret as registry": _key(lambda one: one.token + "/+="),
    "user and password in the registry": _with(
        lambda canary, auths: auths.update(
            {f"https://{canary.entries[0].user}:{canary.entries[0].token}@r9.example/": {"auth": "x"}}
        )
    ),
    "user and password as registry": _key(lambda one: f"{one.user}:{one.token}"),
    "e-mail address and password as registry": _key(lambda one: f"robot@example.com:{one.token}"),
    "password in a registry's path": _key(lambda one: f"quay.io/team/{one.token}"),
    "a bearer token as registry": lambda canary: _key(
        lambda one: f"{encoded('{}')}.{one.token}.{canary.entries[1].token}"
    )(canary),
    "document as registry": _with(lambda canary, auths: auths.update({canary.text: {}})),
    "no auths": _with(lambda _canary, auths: auths),
    "auths is a list": _with(lambda _canary, auths: {"auths": list(auths.values())}),
    "auths is a string": _with(lambda _canary, auths: {"auths": json.dumps(auths)}),
    "auths in upper case": _with(lambda _canary, auths: {"AUTHS": auths}),
    "a list": _with(lambda _canary, auths: [auths]),
    "a string": _text(json.dumps),
    "base64 of it": lambda canary: base64.b64encode(canary.text.encode()),
    "base64 in lines": lambda canary: base64.encodebytes(canary.text.encode()),
    "duplicate registry": _text(lambda text: text.replace('"r1.example"', '"r0.example"')),
    "duplicate auths": _text(lambda text: f"{text[:-1]},{text[1:]}"),
    "truncated": _text(lambda text: text[:-40]),
    "truncated inside a secret": _text(lambda text: text[:70]),
    "two documents": _text(lambda text: text + text),
    "trailing comma": _text(lambda text: text.replace("}}}", "},}}")),
    "single quotes": lambda canary: repr(canary.document).encode(),
    "YAML": lambda canary: (
        f"auths:\n  r0.example:\n    auth: {canary.entries[0].auth}\n   note: {canary.entries[0].token}\n"
    ).encode(),
    "shell": lambda canary: f"export PASSWORD='{canary.entries[0].token}'\n".encode(),
    "BOM": lambda canary: b"\xef\xbb\xbf" + canary.text[:-1].encode(),
    "UTF-16": lambda canary: canary.text.encode("utf-16"),
    "not UTF-8": lambda canary: canary.text.encode().replace(b"robot", b"\xff\xfe"),
    "NUL": lambda canary: canary.text.encode().replace(b"r1", b"r\x00"),
    "an invalid number": lambda canary: canary.text.replace('"note":', '"n":NaN,"note":').encode(),
    "deep": lambda canary: b"[" * 3000 + canary.text.encode() + b"]" * 3000,
    "huge": lambda canary: canary.text[:-1].encode() + b" " * (2 << 20) + b"}",
    "larger than Secret Manager holds": _with(
        lambda _canary, auths: auths.update({f"big{n}.example": auths["r0.example"] for n in range(600)})
    ),
}
