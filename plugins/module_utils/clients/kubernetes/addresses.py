# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Forbidden addresses for tenants' kubeconfigs, at which clouds hand out a machine's credentials.

A user who may write the kubeconfig chooses the address, and this machine connects to it. Both transports
check the address of the socket for each connection (``is_forbidden``). So no parser, no name and no second
answer of a name server can bypass the check. ``leads_astray`` also checks the text before connecting: if a
proxy resolves the name, the socket's address is the proxy's.

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
    """Return the host in ``https://HOST:6443``; None if parsers may disagree."""
    found = _ADDRESS.match(address)
    return (found["ipv6"] or found["host"]) if found else None


def leads_astray(host: str) -> bool:
    """Return whether a name or an address in a text is forbidden; no name is resolved."""
    return host.rstrip(".").lower() in _NAMES or is_forbidden(host)


def is_forbidden(address: str) -> bool:
    """Return whether an IP address, in any notation that the system accepts, is forbidden. A name is not."""
    try:
        ip = _ip(address.partition("%")[0].rstrip("."))
    except (OSError, ValueError):
        return False
    ip = getattr(ip, "ipv4_mapped", None) or ip
    return ip.is_multicast or ip.is_unspecified or any(map(_is_metadata, (ip, *_inside(ip))))


def resolved(host: str) -> Iterator[str]:
    """Return the addresses of a name; none if it has none. May take long."""
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
        # The system's notations: 2852039166, 0xa9fea9fe and 0251.0376.43518 are also addresses.
        return ipaddress.IPv4Address(socket.inet_aton(text))


def _is_metadata(ip: _Ip) -> bool:
    return ip.is_link_local or any(ip in network for network in _METADATA)


def _inside(ip: _Ip) -> Iterator[ipaddress.IPv4Address]:
    """Return the IPv4 addresses to which an IPv6 address may lead."""
    if isinstance(ip, ipaddress.IPv4Address):
        return
    yield from (one for one in (ip.sixtofour, *(ip.teredo or ())) if one is not None)
    bits = int(ip)
    if any(ip in network for network in _LAST_BITS):
        yield ipaddress.IPv4Address(bits & 0xFFFFFFFF)
    if ip in _LOCAL_NAT64:
        yield ipaddress.IPv4Address(bits & 0xFFFFFFFF)
        # After a prefix of 48, 56 or 64 bits; bits 64 to 71 are not part of the address.
        joined = bits >> 64 << 56 | bits & (1 << 56) - 1
        for prefix in (48, 56, 64):
            yield ipaddress.IPv4Address(joined >> (88 - prefix) & 0xFFFFFFFF)
