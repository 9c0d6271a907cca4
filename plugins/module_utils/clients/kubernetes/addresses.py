# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Addresses that no tenant's kubeconfig may lead to: there clouds hand out a machine's credentials.

A user who may write the kubeconfig chooses the address, and this machine connects to it. The address of the
socket counts (``is_forbidden``): both transports check it for each connection, so that no parser, no name and
no second answer of a name server leads past it. ``leads_astray`` checks the text as well, before anything is
connected: where a proxy resolves the name, the socket's address is the proxy's.

Private and loopback addresses are allowed: most API servers have one.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Iterator
from typing import Union

__all__ = ["FORBIDDEN", "host_of", "is_forbidden", "leads_astray", "resolved"]

FORBIDDEN = "a link-local address or a cloud's metadata service, where machines get their credentials"
"""What messages call such an address."""

_Ip = Union[ipaddress.IPv4Address, ipaddress.IPv6Address]

# Services that are not link-local: Alibaba, Azure (WireServer), Oracle (classic), AWS, Google and Scaleway
_METADATA = tuple(
    map(
        ipaddress.ip_network,
        (
            "100.100.100.200/32",
            "168.63.129.16/32",
            "192.0.0.192/32",
            "fd00:ec2::/32",
            "fd20:ce::254/128",
            "fd00:42::42/128",
        ),
    )
)
_NAMES = frozenset(
    ("instance-data", "instance-data.ec2.internal", "metadata", "metadata.goog", "metadata.google.internal")
)
# Their last 32 bits are an IPv4 address: NAT64 (RFC 6052), compatible (RFC 4291), translated (RFC 2765).
_LAST_BITS = tuple(map(ipaddress.IPv6Network, ("64:ff9b::/96", "::/96", "::ffff:0:0:0/96")))
# NAT64 with a site's own prefix (RFC 8215), whose length only the site knows.
_LOCAL_NAT64 = ipaddress.IPv6Network("64:ff9b:1::/48")
# Parsers disagree about a backslash, a second @, a percent sign, a space or a letter beyond ASCII.
_ADDRESS = re.compile(
    r"[A-Za-z][A-Za-z0-9+.-]*://(?:[^@/?#\\\s]*@)?"
    r"(?:\[(?P<ipv6>[0-9A-Fa-f:.]+)(?:%[A-Za-z0-9._~%-]+)?\]|(?P<host>[A-Za-z0-9._-]+))"
    r"(?::[0-9]*)?(?:[/?#][!-\[\]-~]*)?\Z"
)


def host_of(address: str) -> str | None:
    """The host in ``https://HOST:6443``; None where parsers may not agree on it."""
    found = _ADDRESS.match(address)
    return (found["ipv6"] or found["host"]) if found else None


def leads_astray(host: str) -> bool:
    """Whether a name or an address in a text is that of a forbidden one; no name is resolved."""
    return host.rstrip(".").lower() in _NAMES or is_forbidden(host)


def is_forbidden(address: str) -> bool:
    """Whether an IP address, in any spelling that the system takes, is a forbidden one. A name is not."""
    try:
        ip = _ip(address.partition("%")[0].rstrip("."))
    except (OSError, ValueError):
        return False
    ip = getattr(ip, "ipv4_mapped", None) or ip
    return ip.is_multicast or ip.is_unspecified or any(map(_is_metadata, (ip, *_inside(ip))))


def resolved(host: str) -> Iterator[str]:
    """The addresses that this machine finds for a name; none where it finds no name.  May take long."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return
    for *dummy, address in found:
        yield str(address[0])


def _ip(text: str) -> _Ip:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        # As the system reads them: 2852039166, 0xa9fea9fe and 0251.0376.43518 are addresses, too.
        return ipaddress.IPv4Address(socket.inet_aton(text))


def _is_metadata(ip: _Ip) -> bool:
    return ip.is_link_local or any(ip in network for network in _METADATA)


def _inside(ip: _Ip) -> Iterator[ipaddress.IPv4Address]:
    """The IPv4 addresses that an IPv6 address may lead to."""
    if isinstance(ip, ipaddress.IPv4Address):
        return
    yield from (one for one in (ip.sixtofour, *(ip.teredo or ())) if one is not None)
    bits = int(ip)
    if any(ip in network for network in _LAST_BITS):
        yield ipaddress.IPv4Address(bits & 0xFFFFFFFF)
    if ip in _LOCAL_NAT64:
        yield ipaddress.IPv4Address(bits & 0xFFFFFFFF)
        # After a prefix of 48, 56 or 64 bits; bits 64 to 71 are none of the address's.
        joined = bits >> 64 << 56 | bits & (1 << 56) - 1
        for prefix in (48, 56, 64):
            yield ipaddress.IPv4Address(joined >> (88 - prefix) & 0xFFFFFFFF)
