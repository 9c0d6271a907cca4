# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which credential would pull an image, for each reader."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Optional, Union

from . import go_url
from .credential import Credential
from .display import display
from .document import DockerConfig
from .findings import DockerConfigError, finding, forgetful
from .image import repository
from .keys import kubelet_index
from .parse import Tree, parse
from .readers import AUTH, ImageFile, image_credential, image_file, kubelet_entries

Source = Union[DockerConfig, bytes, str, Mapping[str, Any]]

HELPER = "credHelpers"
_HUB = "index.docker.io"


class Match:
    """An entry that a reader would use.

    ``registry`` is the key as written; ``source`` where its credential stands: ``auth``,
    ``username/password``, ``credHelpers`` (then ``helper`` names the program) or ``nothing`` (kubelet
    tries an empty credential); ``alternatives`` are keys that the reader might take instead, by
    chance.  The credential is in ``secret`` and nowhere else.
    """

    __slots__ = ("alternatives", "helper", "registry", "secret", "source")

    def __init__(
        self,
        registry: str,
        source: str,
        secret: Credential,
        *,
        helper: Optional[str] = None,
        alternatives: tuple[str, ...] = (),
    ) -> None:
        self.registry = registry
        self.source = source
        self.secret = secret
        self.helper = helper
        self.alternatives = alternatives

    @property
    def is_empty(self) -> bool:
        """Whether the reader would log in with nothing."""
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
    matches = []
    for group in kubelet_groups(data, image):
        matches += group
    return matches


def kubelet_groups(data: Source, image: str) -> list[list[Match]]:
    """As :func:`lookup_kubelet`, one list for each normalised key: the order within is left to chance."""
    name = repository(image, "kubelet")
    index: dict[str, list[Match]] = {}
    for key, entry in sorted(kubelet_entries(_tree(data)).items()):
        registry = kubelet_index(key)
        if registry is not None:
            index.setdefault(registry, []).append(Match(key, entry.source, entry.credential))
    target = go_url.parse(name)
    found = []
    for registry in sorted(index, reverse=True):
        pattern = go_url.parse(registry)  # once more, as kubelet does: the key may have been unescaped
        if pattern and target and go_url.kubelet_match(pattern, target):
            found.append(index[registry])
    if not found and _HUB in index and _is_docker_hub(name):
        found.append(index[_HUB])
    return found


def _is_docker_hub(name: str) -> bool:
    host = name.partition("/")[0]
    return host in ("docker.io", _HUB) or not ("." in host or ":" in host)


@forgetful
def lookup_containers_image(data: Source, image: str) -> Optional[Match]:
    """The one credential that containers/image takes for ``image``; None: it pulls without.

    :param data: an accepted config, or any document, also one that :func:`lint` refuses.
    :raises DockerConfigError: it rejects the whole file, the image name, or the entry that matches.
    """
    found = image_candidates(data, image)
    if not found:
        return None
    first = found[0]
    if isinstance(first, DockerConfigError):
        raise first
    return None if first.is_empty else first


def image_candidates(data: Source, image: str) -> list[Union[Match, DockerConfigError]]:
    """The entries of which containers/image takes one, by chance if there are several.

    An entry without a usable credential is among them: it hides what would match less closely.  One
    that makes the pull fail is its error.
    """
    name = repository(image, "containers_image")
    content = image_file(_tree(data))
    registry = name.partition("/")[0]
    if registry in content.helpers:
        return [Match(registry, HELPER, Credential(), helper=content.helpers[registry])]
    for key in _parents(name):
        if key in content.auths:
            return [_image_match(key, content)]
    wanted = _hub_alias(registry)
    keys = sorted(key for key in content.auths if _image_key(key) == wanted)
    return [_image_match(key, content, tuple(other for other in keys if other != key)) for key in keys]


def _parents(name: str) -> Iterator[str]:
    while True:
        yield name
        name, slash, _last = name.rpartition("/")
        if not slash:
            return


def _hub_alias(registry: str) -> str:
    return _HUB if registry in ("registry-1.docker.io", "docker.io") else registry


def _image_key(key: str) -> str:
    stripped = key[len("http://") :] if key.startswith("http://") else key
    stripped = stripped[len("https://") :] if stripped.startswith("https://") else stripped
    return _hub_alias(stripped.partition("/")[0] if stripped != key else stripped)


def _image_match(
    key: str, content: ImageFile, alternatives: tuple[str, ...] = ()
) -> Union[Match, DockerConfigError]:
    credential = image_credential(content.auths[key])
    if credential is None:
        return DockerConfigError((finding("auth-not-base64", display(key, list(content.auths).index(key))),))
    return Match(key, AUTH, credential, alternatives=alternatives)
