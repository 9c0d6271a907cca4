# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Parses image names as the readers do: ``nginx:1`` is ``docker.io/library/nginx``.

Kubelet uses ``github.com/distribution/reference``, containers/image an older copy of it. The copy knows no
IPv6 addresses, does not accept an upper-case first part as a host, and limits the length of the complete name
instead of that of the path.
"""

from __future__ import annotations

import re

from .findings import refuse

__all__ = ["repository", "split_host"]

_MAX_NAME = 255
_MAX_INPUT = 4096  # far above any valid name; bounds the work

_PART = r"(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])"
_DOMAIN_NAME = rf"{_PART}(?:\.{_PART})*"
_PORT = r"(?::[0-9]+)?"
_COMPONENT = r"[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
_PATH = rf"{_COMPONENT}(?:/{_COMPONENT})*"
_TAIL = r"(?::\w[\w.-]{0,127})?(?:@([A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}))?"
_HOST = {
    "kubelet": rf"(?:{_DOMAIN_NAME}|\[[a-fA-F0-9:]+\]){_PORT}",
    "containers_image": rf"{_DOMAIN_NAME}{_PORT}",
}
_REFERENCE = {
    reader: re.compile(rf"((?:{host}/)?{_PATH}){_TAIL}", re.ASCII) for reader, host in _HOST.items()
}
_NAME = {reader: re.compile(rf"(?:({host})/)?({_PATH})", re.ASCII) for reader, host in _HOST.items()}
_IDENTIFIER = re.compile(r"[a-f0-9]{64}")
_DIGEST = re.compile(r"sha256:[a-f0-9]{64}|sha384:[a-f0-9]{96}|sha512:[a-f0-9]{128}")


def split_host(image: str, reader: str) -> tuple[str, str]:
    """Return the host that a reader uses for the image, and the rest of its name. Nothing is validated."""
    first, slash, rest = image.partition("/")
    is_host = slash and ("." in first or ":" in first or first == "localhost")
    if reader == "kubelet" and slash and first.lower() != first:
        is_host = True
    host, path = (first, rest) if is_host else ("docker.io", image)
    if host == "index.docker.io":
        host = "docker.io"
    if host == "docker.io" and "/" not in path:
        path = "library/" + path
    return host, path


def repository(image: str, reader: str) -> str:
    """The repository that ``image`` names to ``reader``, without tag and digest.

    :param reader: ``kubelet`` or ``containers_image``.
    :raises DockerConfigError: rule ``image-name``, if the reader refuses the name.
    """
    name = _repository(image, reader) if len(image) <= _MAX_INPUT else None
    if name is None:
        refuse("image-name", None, "not a valid image name")
    return name


def _repository(image: str, reader: str) -> str | None:
    if _IDENTIFIER.fullmatch(image):
        return None
    host, path = split_host(image, reader)
    before_tag = path.partition(":")[0]
    if before_tag.lower() != before_tag:
        return None
    found = _REFERENCE[reader].fullmatch(f"{host}/{path}")
    if not found or (found.group(2) and not _DIGEST.fullmatch(found.group(2))):
        return None
    name = found.group(1)
    parts = _NAME[reader].fullmatch(name)
    limited = parts.group(2) if parts and reader == "kubelet" else name
    return name if len(limited) <= _MAX_NAME else None
