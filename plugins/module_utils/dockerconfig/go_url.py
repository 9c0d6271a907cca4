# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The part of Go's ``net/url`` and ``net`` that kubelet compares registries with.

Strings here are *byte strings in disguise*: one character a byte (Latin-1), as
Go indexes bytes.  :func:`as_bytes` and :func:`as_text` translate.
Modelled on ``url.Parse`` and ``net.SplitHostPort``.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from .glob import glob_match

__all__ = ["SURROGATE", "Url", "as_bytes", "as_text", "kubelet_match", "parse_go_url", "split_host_port"]

SURROGATE = re.compile(r"[\ud800-\udfff]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_USERINFO = re.compile(r"[A-Za-z0-9\-._:~!$&'()*+,;=%@]*")
_PORT = re.compile(r"(?::[0-9]*)?")
_NOT_IN_HOST = re.compile(r"[\x00-\x20/?#@\\^`{|}\x7f]")


class Url(NamedTuple):
    """``host`` includes the port; ``path`` is unescaped."""

    host: str
    path: str


def as_bytes(text: str) -> str:
    """One character a byte; half surrogates become the replacement character, as in Go."""
    if text.isascii():
        return text
    return SURROGATE.sub("\ufffd", text).encode().decode("latin-1")


def as_text(disguised: str) -> str:
    """Return the text; bytes that are not UTF-8 become replacement characters."""
    return disguised if disguised.isascii() else disguised.encode("latin-1").decode("utf-8", "replace")


def _unescape(text: str) -> str | None:
    if "%" not in text:
        return text
    if _BAD_ESCAPE.search(text):
        return None
    return _ESCAPE.sub(lambda match: chr(int(match.group(1), 16)), text)


def _unescape_host(text: str) -> str | None:
    if _NOT_IN_HOST.search(text):
        return None
    for match in _ESCAPE.finditer(text):
        # Only non-ASCII bytes, and the per cent sign itself, may be escaped in a host.
        if int(match.group(1), 16) < 0x80 and match.group(0) != "%25":
            return None
    return _unescape(text)


def _unescape_zone(text: str) -> str | None:
    if _NOT_IN_HOST.search(text):
        return None
    for match in _ESCAPE.finditer(text):
        byte = chr(int(match.group(1), 16))
        if byte not in "% " and (byte >= "\x80" or _NOT_IN_HOST.match(byte)):
            return None
    return _unescape(text)


def _bracketed_host(host: str) -> str | None:
    close = host.rfind("]")
    if close < 0 or not _PORT.fullmatch(host, close + 1):
        return None
    inside, zone_mark, zone = host[1:close].partition("%25")
    address = _unescape_host(inside)
    if address is None:
        return None
    plain, in_plain, rest = address.partition("%")  # a "%" escaped by other means
    if in_plain or rest:
        return None
    # Rare, and a quarter of a MiB: the node's syncer also reads docker configs.
    import ipaddress

    try:
        ipaddress.IPv6Address(plain)
    except ValueError:
        return None
    if zone_mark:
        decoded = _unescape_zone(zone_mark + zone)
        if decoded is None or len(decoded) < 2:
            return None
        address += decoded
    return f"[{address}]{host[close + 1 :]}"


def _parse_host(host: str) -> str | None:
    bracket = host.rfind("[")
    if bracket > 0:
        return None
    if bracket == 0:
        return _bracketed_host(host)
    colon = host.find(":")
    if colon >= 0 and not _PORT.fullmatch(host, colon):
        return None
    return _unescape_host(host)


def parse_go_url(rest: str) -> Url | None:
    """``url.Parse("https://" + rest)``, or None if Go reports an error."""
    rest, _mark, fragment = rest.partition("#")
    if _CONTROL.search(rest) or _unescape(fragment) is None:
        return None
    rest = rest.partition("?")[0]
    authority, slash, tail = rest.partition("/")
    userinfo, at_sign, host = authority.rpartition("@")
    if at_sign and (not _USERINFO.fullmatch(userinfo) or _unescape(userinfo) is None):
        return None
    parsed_host = _parse_host(host)
    path = _unescape(slash + tail)
    if parsed_host is None or path is None:
        return None
    return Url(parsed_host, path)


def split_host_port(hostport: str) -> tuple[str, str]:
    """``net.SplitHostPort``; if Go reports an error, everything is the host, without a port (as in kubelet)."""
    whole = (hostport, "")
    colon = hostport.rfind(":")
    if colon < 0:
        return whole
    if hostport.startswith("["):
        end = hostport.find("]")
        if end < 0 or end + 1 != colon:
            return whole
        host, before_open, before_close = hostport[1:end], 1, end + 1
    else:
        host, before_open, before_close = hostport[:colon], 0, 0
        if ":" in host:
            return whole
    if "[" in hostport[before_open:] or "]" in hostport[before_close:]:
        return whole
    return host, hostport[colon + 1 :]


def kubelet_match(pattern: Url, target: Url) -> bool:
    """Kubelet's ``URLsMatch``: equal ports, equally many labels, the path a prefix, a glob per label."""
    pattern_host, pattern_port = split_host_port(pattern.host)
    target_host, target_port = split_host_port(target.host)
    if pattern_port != target_port or not target.path.startswith(pattern.path):
        return False
    globs, labels = pattern_host.split("."), target_host.split(".")
    return len(globs) == len(labels) and all(map(glob_match, globs, labels))
