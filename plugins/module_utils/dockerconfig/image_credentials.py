# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reports which credential each reader would pull an image with, in printable form.

:mod:`.match` finds the entries; here their credentials are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from .display import displayed, is_displayed
from .findings import DockerConfigError, forgetful
from .image import repository, split_host
from .match import HELPER, ContainersImageFile, KubeletFile, Match, Source

__all__ = ["READERS", "image_credentials", "image_problem"]

READERS = ("kubelet", "containers_image")
_MOST_OTHERS = 10
_MAX_DNS_NAME = 253
_MAX_HOST = _MAX_DNS_NAME + len(":65535")
_MAX_REPOSITORY = 255


def image_problem(name: str) -> str | None:
    """Return why the name cannot be that of an image; None if at least one reader accepts it.

    The lengths are checked first, because the cost of matching grows with them. A repository has at most 255
    characters (``RepositoryNameTotalLengthMax`` of ``github.com/distribution/reference``). A DNS name has at
    most 253 (RFC 1035, section 2.3.4). The readers do not check it, but such a host cannot be resolved.
    """
    host, path = split_host(name, "kubelet")
    if len(host) > _MAX_HOST:
        return (
            f"is not a valid image name: its host must be at most {_MAX_DNS_NAME} characters without its port"
        )
    if len(re.split("[:@]", path, maxsplit=1)[0]) > _MAX_REPOSITORY:
        return f"is not a valid image name: its repository must be at most {_MAX_REPOSITORY} characters"
    for reader in READERS:
        try:
            repository(name, reader)
        except DockerConfigError:
            continue
        return None
    return "is not a valid image name"


@forgetful
def image_credentials(
    data: Source, images: Iterable[str], layers: Mapping[str, str] | None = None
) -> list[dict[str, Any]]:
    """For each image: reader -> what it would pull the image with.

    * ``found``: whether it has a credential.
    * ``registry``: the key of the entry that it uses, as far as it may be shown; None without one.
    * ``rule``: why the entry applies (see :class:`Match`); None without one.
    * ``layer``: where the entry comes from; only if ``layers`` is given.
    * ``others``: keys that kubelet tries next, or that containers/image might take instead; ten at most.
    * ``problem``: why the reader refuses the image's name, the entry or the whole file; only if it does.

    :param data: an accepted config, or any document, also one that :func:`lint` refuses.
    :param images: taken one after the other, so that an iterator can end the work by an exception.
    :param layers: registry as written -> layer.
    """
    readers = {"kubelet": _Reader(KubeletFile, data), "containers_image": _Reader(ContainersImageFile, data)}
    return [{name: reader.answer(image, layers) for name, reader in readers.items()} for image in images]


class _Reader:
    """One reader, and the file that it has read or refused."""

    def __init__(self, kind: type[KubeletFile | ContainersImageFile], data: Source) -> None:
        self._file: KubeletFile | ContainersImageFile | None = None
        try:
            self._file = kind(data)
        except DockerConfigError as error:
            self._refusal = str(error.findings[0])
        else:
            self._shown = displayed(self._file.registries)

    def answer(self, image: str, layers: Mapping[str, str] | None) -> dict[str, Any]:
        answer: dict[str, Any] = {"found": False, "registry": None, "rule": None, "others": []}
        if layers is not None:
            answer["layer"] = None
        if self._file is None:
            return {**answer, "problem": self._refusal}
        try:
            found = [match for match in self._file.tried(image) if not match.is_empty]
        except DockerConfigError as error:
            return {**answer, "problem": str(error.findings[0])}
        if found:
            first, *others = found
            answer.update(found=True, registry=self._name(first), rule=first.rule)
            answer["others"] = [self._name(match) for match in others[:_MOST_OTHERS]]
            if layers is not None and first.source != HELPER:
                answer["layer"] = layers.get(first.registry)
        return answer

    def _name(self, match: Match) -> str:
        if match.source != HELPER:
            return self._shown[match.registry]
        # Its key is in ``credHelpers``, which is not numbered.
        return match.registry if is_displayed(match.registry) else "(not shown)"
