# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds the credential that each reader would pull an image with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Union

from . import go_url
from .credential import Credential
from .display import display
from .document import DockerConfig
from .findings import DockerConfigError, finding, forgetful
from .image import repository
from .keys import kubelet_index
from .parse import Tree, parse
from .readers import AUTH, ImageFile, KubeletEntry, image_credential, image_file, kubelet_entries

__all__ = [
    "CREDENTIAL_HELPER",
    "DOCKER_HUB",
    "GLOB",
    "HELPER",
    "HOST",
    "PATH",
    "REPOSITORY",
    "ContainersImageFile",
    "KubeletFile",
    "Match",
    "Source",
    "image_candidates",
    "kubelet_groups",
    "lookup_containers_image",
    "lookup_kubelet",
]

Source = Union[DockerConfig, bytes, str, Mapping[str, Any]]

HELPER = "credHelpers"
_HUB = "index.docker.io"

# Why an entry applies to an image (``Match.rule``).
REPOSITORY, PATH, HOST, GLOB, DOCKER_HUB = "repository", "path", "host", "glob", "docker_hub"
CREDENTIAL_HELPER = "credential_helper"


class Match:
    """An entry that a reader would use.

    ``registry`` is the key as written; ``source`` where its credential stands: ``auth``,
    ``username/password``, ``credHelpers`` (then ``helper`` names the program) or ``nothing`` (kubelet
    tries an empty credential); ``alternatives`` are keys that the reader might take instead, by
    chance.  The credential is in ``secret`` and nowhere else.

    ``rule`` says why the entry applies: its key is the image's ``repository``, a ``path`` above it (to
    kubelet also the beginning of its path), its ``host``, a ``glob`` that the host matches, another name
    of Docker Hub (``docker_hub``), or a ``credential_helper`` is named for the host.
    """

    __slots__ = ("alternatives", "helper", "registry", "rule", "secret", "source")

    def __init__(
        self,
        registry: str,
        source: str,
        secret: Credential,
        *,
        rule: str,
        helper: str | None = None,
        alternatives: tuple[str, ...] = (),
    ) -> None:
        self.registry = registry
        self.source = source
        self.secret = secret
        self.rule = rule
        self.helper = helper
        self.alternatives = alternatives

    @property
    def is_empty(self) -> bool:
        """Return whether the reader would log in with nothing."""
        return self.source != HELPER and self.secret.is_empty

    def __repr__(self) -> str:
        return f"<Match {display(self.registry, 0)} from {self.source}>"


def _tree(data: Source) -> Tree:
    return parse(data.canonical() if isinstance(data, DockerConfig) else data)


@forgetful
def lookup_kubelet(data: Source, image: str) -> list[Match]:
    """The credentials that kubelet tries for ``image``, in its order; empty: it pulls without.

    Every matching key counts, in reverse lexical order of the normalised keys; several spellings of
    one registry stand in an order that kubelet leaves to chance (here: sorted).

    :param data: an accepted config, or any document, also one that :func:`lint` refuses.
    :raises DockerConfigError: kubelet rejects the whole file, or the image name.
    """
    return [match for group in kubelet_groups(data, image) for match in group]


def kubelet_groups(data: Source, image: str) -> list[list[Match]]:
    """As :func:`lookup_kubelet`, one list for each normalised key: the order within a list is random."""
    repository(image, "kubelet")  # as kubelet does, before it reads a file
    return KubeletFile(data).groups(image)


class KubeletFile:
    """A document as kubelet parses it, for any number of images.

    :raises DockerConfigError: kubelet rejects the complete file.
    """

    def __init__(self, data: Source) -> None:
        entries = sorted(kubelet_entries(_tree(data)).items())
        self.registries = tuple(key for key, _entry in entries)
        self._index: dict[str, list[tuple[str, KubeletEntry]]] = {}
        for key, entry in entries:
            registry = kubelet_index(key)
            if registry is not None:
                self._index.setdefault(registry, []).append((key, entry))
        # Parsed once more, as kubelet does: the key may have been unescaped.
        self._patterns = [
            (registry, go_url.parse_go_url(registry)) for registry in sorted(self._index, reverse=True)
        ]

    def tried(self, image: str) -> list[Match]:
        """See :func:`lookup_kubelet`."""
        return [match for group in self.groups(image) for match in group]

    def groups(self, image: str) -> list[list[Match]]:
        """See :func:`kubelet_groups`."""
        name = repository(image, "kubelet")
        target = go_url.parse_go_url(name)
        found = []
        for registry, pattern in self._patterns:
            if pattern and target and go_url.kubelet_match(pattern, target):
                found.append(self._matches(registry, _kubelet_rule(pattern, target)))
        if not found and _HUB in self._index and _is_docker_hub(name):
            found.append(self._matches(_HUB, DOCKER_HUB))
        return found

    def _matches(self, registry: str, rule: str) -> list[Match]:
        return [Match(key, entry.source, entry.credential, rule=rule) for key, entry in self._index[registry]]


def _kubelet_rule(pattern: go_url.Url, target: go_url.Url) -> str:
    if pattern.host != target.host:
        return GLOB
    if pattern.path in ("", "/"):
        return HOST
    return REPOSITORY if pattern.path == target.path else PATH


def _is_docker_hub(name: str) -> bool:
    host = name.partition("/")[0]
    return host in ("docker.io", _HUB) or not ("." in host or ":" in host)


@forgetful
def lookup_containers_image(data: Source, image: str) -> Match | None:
    """The one credential that containers/image takes for ``image``; None: it pulls without.

    :param data: an accepted config, or any document, also one that :func:`lint` refuses.
    :raises DockerConfigError: it rejects the whole file, the image name, or the entry that matches.
    """
    return next(iter(_usable(image_candidates(data, image))), None)


def _usable(candidates: list[Match | DockerConfigError]) -> list[Match]:
    """The candidates of one image; none if the first has no credential, since no other is tried then.

    :raises DockerConfigError: the first of them makes the pull fail.
    """
    usable: list[Match] = []
    for item in candidates:
        if isinstance(item, DockerConfigError):
            if not usable:
                raise item
        elif item.is_empty and not usable:
            return []
        else:
            usable.append(item)
    return usable


def image_candidates(data: Source, image: str) -> list[Match | DockerConfigError]:
    """The entries of which containers/image takes one, by chance if there are several.

    An entry without a usable credential is among them: it hides what would match less closely.  One
    that makes the pull fail is its error.
    """
    repository(image, "containers_image")  # as containers/image does, before it reads a file
    return ContainersImageFile(data).candidates(image)


class ContainersImageFile:
    """A document as containers/image parses it, for any number of images.

    :raises DockerConfigError: containers/image rejects the complete file.
    """

    def __init__(self, data: Source) -> None:
        self._content = image_file(_tree(data))
        self.registries = tuple(sorted(self._content.auths))

    def tried(self, image: str) -> list[Match]:
        """Return the entry that it uses, and then those that it might use instead.

        :raises DockerConfigError: it refuses the image name, or the entry.
        """
        return _usable(self.candidates(image))

    def candidates(self, image: str) -> list[Match | DockerConfigError]:
        """See :func:`image_candidates`."""
        name = repository(image, "containers_image")
        content = self._content
        registry = name.partition("/")[0]
        if registry in content.helpers:
            helper = content.helpers[registry]
            return [Match(registry, HELPER, Credential(), rule=CREDENTIAL_HELPER, helper=helper)]
        for key in _parents(name):
            if key in content.auths:
                rule = REPOSITORY if key == name else HOST if key == registry else PATH
                return [_image_match(key, rule, content)]
        wanted = _hub_alias(registry)
        keys = sorted(key for key in content.auths if _hub_alias(_image_host(key)) == wanted)
        return [
            _image_match(
                key,
                HOST if _image_host(key) == registry else DOCKER_HUB,
                content,
                tuple(other for other in keys if other != key),
            )
            for key in keys
        ]


def _parents(name: str) -> Iterator[str]:
    while True:
        yield name
        name, slash, _last = name.rpartition("/")
        if not slash:
            return


def _hub_alias(registry: str) -> str:
    return _HUB if registry in ("registry-1.docker.io", "docker.io") else registry


def _image_host(key: str) -> str:
    """Return the key itself, or the host of a key with a scheme."""
    stripped = key[len("http://") :] if key.startswith("http://") else key
    stripped = stripped[len("https://") :] if stripped.startswith("https://") else stripped
    return stripped.partition("/")[0] if stripped != key else stripped


def _image_match(
    key: str, rule: str, content: ImageFile, alternatives: tuple[str, ...] = ()
) -> Match | DockerConfigError:
    credential = image_credential(content.auths[key])
    if credential is None:
        return DockerConfigError((finding("auth-not-base64", display(key, list(content.auths).index(key))),))
    return Match(key, AUTH, credential, rule=rule, alternatives=alternatives)
