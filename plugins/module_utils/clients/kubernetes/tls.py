# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""TLS contexts from certificates and keys in memory, without writing them to a disk."""

from __future__ import annotations

import os
import ssl
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["CertificateProblem", "no_password", "tls_context"]


class CertificateProblem(Exception):
    """A certificate or a key cannot be used.

    :ivar reason: OpenSSL's reason; it quotes nothing.
    """

    def __init__(self, what: str, reason: str) -> None:
        super().__init__(f"{what} cannot be used: {reason}")
        self.reason = reason


def tls_context(
    *,
    verify: bool,
    authority: bytes | None,
    certificate: bytes | None,
    key: bytes | None,
) -> ssl.SSLContext:
    """Return a TLS context; everything but ``verify`` is PEM.

    :param authority: None means the system's CAs.
    :param certificate: the client's; used only with its ``key``.
    :raises CertificateProblem: one of them cannot be used.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if not verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    what = "the CA certificates of the API server"
    try:
        if authority is not None:
            context.load_verify_locations(cadata=authority.decode("ascii"))
        elif verify:
            context.load_default_certs()
        if certificate is not None and key is not None:
            what = "the user's client certificate or its key"
            with _in_memory(certificate) as certificate_path, _in_memory(key) as key_path:
                context.load_cert_chain(certificate_path, key_path, password=no_password)
    except (OSError, ValueError) as error:
        # An SSLError is an OSError. Its reason is a word of OpenSSL's.
        reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or type(error).__name__
        raise CertificateProblem(what, reason) from None
    return context


def no_password() -> str:
    """OpenSSL would ask for a key's password at the terminal."""
    raise ValueError("the key is encrypted")


@contextmanager
def _in_memory(data: bytes) -> Iterator[str]:
    """Yield a path for OpenSSL, which reads keys from paths only; nothing is written to a disk."""
    if hasattr(os, "memfd_create"):
        handle = os.memfd_create("pull-secret")
        path = f"/proc/self/fd/{handle}"
        os.write(handle, data)
    else:
        # A pipe has room for more than a certificate chain.
        handle, inlet = os.pipe()
        path = f"/dev/fd/{handle}"
        os.write(inlet, data)
        os.close(inlet)
    try:
        yield path
    finally:
        os.close(handle)
