# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pure core: what a docker config (a pull secret) is, says and means.

Standard library only, no I/O.  Two programs read a docker config and they disagree: kubelet and
containers/image (CRI-O, podman, skopeo).  Everything here is right for both or says for which it is not.
No text made here contains a value of a document: names of registries and rules only.

``load`` → :class:`DockerConfig` → ``merge`` → ``changes`` / ``digest`` → ``canonical()``.
"""

from __future__ import annotations

from .credential import Credential
from .document import DockerConfig, load
from .findings import DockerConfigError, Finding
from .keys import normalise_registry, registry_identity
from .lint import SECRET_MANAGER_MAX_BYTES, SECRET_MAX_BYTES, lint
from .masks import sensitive_forms
from .match import Match, lookup_containers_image, lookup_kubelet
from .meaning import Changes, changes, digest
from .merge import Layer, Merged, merge
from .rules import Rule, rules

__all__ = [
    "SECRET_MANAGER_MAX_BYTES",
    "SECRET_MAX_BYTES",
    "Changes",
    "Credential",
    "DockerConfig",
    "DockerConfigError",
    "Finding",
    "Layer",
    "Match",
    "Merged",
    "Rule",
    "changes",
    "digest",
    "lint",
    "load",
    "lookup_containers_image",
    "lookup_kubelet",
    "merge",
    "normalise_registry",
    "registry_identity",
    "rules",
    "sensitive_forms",
]
