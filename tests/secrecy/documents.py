# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Documents that are right and documents that are wrong, each full of its canary."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from typing import Any

from tests.support.secrecy.canary import Canary

__all__ = ["INVALID", "VALID"]

_Maker = Callable[[Canary], bytes]


def _with(change: Callable[[Canary, dict[str, Any]], Any]) -> _Maker:
    """The canary's document after a change of its ``auths``."""

    def made(canary: Canary) -> bytes:
        document = canary.document
        changed = change(canary, document["auths"])
        return json.dumps(document if changed is None else changed).encode()

    return made


def _entry(value: Callable[[Canary], Any]) -> _Maker:
    """The first registry's entry replaced."""
    return _with(lambda canary, auths: auths.update({"r0.example": value(canary)}))


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


VALID: Mapping[str, _Maker] = {
    "compact": lambda canary: canary.text.encode(),
    "indented by 2": lambda canary: json.dumps(canary.document, indent=2).encode(),
    "indented by 4": lambda canary: json.dumps(canary.document, indent=4, sort_keys=True).encode() + b"\n",
    "UTF-8": lambda canary: json.dumps(canary.document, ensure_ascii=False).encode(),
}

INVALID: Mapping[str, _Maker] = {
    "bad base64": _entry(
        lambda canary: {"auth": canary.entries[0].auth[:20] + "!" + canary.entries[0].auth[20:]}
    ),
    "no colon": _entry(lambda canary: {"auth": _encoded(canary.entries[0].token)}),
    "plain user and password": _entry(
        lambda canary: {"auth": f"{canary.entries[0].user}:{canary.entries[0].password}"}
    ),
    "control characters": _entry(
        lambda canary: {"auth": _encoded(f"{canary.entries[0].user}:\x01{canary.entries[0].token}\x1b[31m")}
    ),
    "newline": _entry(
        lambda canary: {"auth": _encoded(f"{canary.entries[0].user}:{canary.entries[0].token}\n")}
    ),
    "URL-safe base64": _entry(
        lambda canary: {
            "auth": base64.urlsafe_b64encode(b"u\xff\xfe\xff:" + canary.entries[0].password.encode()).decode()
        }
    ),
    "auth is a list": _entry(lambda canary: {"auth": [canary.entries[0].auth]}),
    "password is a mapping": _entry(
        lambda canary: {"username": canary.entries[0].user, "password": {"is": canary.entries[0].password}}
    ),
    "entry is a string": _entry(lambda canary: canary.entries[0].auth),
    "entry is a list": _entry(lambda canary: [canary.entries[0].user, canary.entries[0].password]),
    "token only": _entry(lambda canary: {"identitytoken": canary.entries[0].token}),
    "upper case": _entry(lambda canary: {"AUTH": canary.entries[0].auth}),
    "no user": _entry(lambda canary: {"auth": _encoded(f":{canary.entries[0].password}")}),
    "secret as registry": _with(
        lambda canary, auths: auths.update(
            {canary.entries[0].token + "/+=": {"auth": canary.entries[0].auth}}
        )
    ),
    "user and password in the registry": _with(
        lambda canary, auths: auths.update(
            {f"https://{canary.entries[0].user}:{canary.entries[0].token}@r9.example/": {"auth": "x"}}
        )
    ),
    "user and password as registry": _with(
        lambda canary, auths: auths.update(
            {f"{canary.entries[0].user}:{canary.entries[0].token}": {"auth": canary.entries[0].auth}}
        )
    ),
    "e-mail address and password as registry": _with(
        lambda canary, auths: auths.update(
            {f"robot@example.com:{canary.entries[0].token}": {"auth": canary.entries[0].auth}}
        )
    ),
    "password in a registry's path": _with(
        lambda canary, auths: auths.update(
            {f"quay.io/team/{canary.entries[0].token}": {"auth": canary.entries[0].auth}}
        )
    ),
    "a bearer token as registry": _with(
        lambda canary, auths: auths.update(
            {
                f"{_encoded('{}')}.{canary.entries[0].token}.{canary.entries[1].token}": {
                    "auth": canary.entries[0].auth
                }
            }
        )
    ),
    "document as registry": _with(lambda canary, auths: auths.update({canary.text: {}})),
    "no auths": _with(lambda _canary, auths: auths),
    "auths is a list": _with(lambda _canary, auths: {"auths": list(auths.values())}),
    "auths is a string": _with(lambda _canary, auths: {"auths": json.dumps(auths)}),
    "auths in upper case": _with(lambda _canary, auths: {"AUTHS": auths}),
    "a list": _with(lambda _canary, auths: [auths]),
    "a string": lambda canary: json.dumps(canary.text).encode(),
    "base64 of it": lambda canary: base64.b64encode(canary.text.encode()),
    "base64 in lines": lambda canary: base64.encodebytes(canary.text.encode()),
    "duplicate registry": lambda canary: canary.text.replace('"r1.example"', '"r0.example"').encode(),
    "duplicate auths": lambda canary: (canary.text[:-1] + "," + canary.text[1:]).encode(),
    "truncated": lambda canary: canary.text[:-40].encode(),
    "truncated inside a secret": lambda canary: canary.text[:70].encode(),
    "two documents": lambda canary: (canary.text + canary.text).encode(),
    "trailing comma": lambda canary: canary.text.replace("}}}", "},}}").encode(),
    "single quotes": lambda canary: repr(canary.document).encode(),
    "YAML": lambda canary: (
        f"auths:\n  r0.example:\n    auth: {canary.entries[0].auth}\n   note: {canary.entries[0].token}\n"
    ).encode(),
    "shell": lambda canary: f"export PASSWORD='{canary.entries[0].token}'\n".encode(),
    "BOM": lambda canary: b"\xef\xbb\xbf" + canary.text[:-1].encode(),
    "UTF-16": lambda canary: canary.text.encode("utf-16"),
    "not UTF-8": lambda canary: canary.text.encode().replace(b"robot", b"\xff\xfe"),
    "NUL": lambda canary: canary.text.encode().replace(b"r1", b"r\x00"),
    "a number that is none": lambda canary: canary.text.replace('"note":', '"n":NaN,"note":').encode(),
    "deep": lambda canary: b"[" * 3000 + canary.text.encode() + b"]" * 3000,
    "huge": lambda canary: canary.text[:-1].encode() + b" " * (2 << 20) + b"}",
    "larger than Secret Manager holds": _with(
        lambda _canary, auths: auths.update({f"big{n}.example": auths["r0.example"] for n in range(600)})
    ),
}
