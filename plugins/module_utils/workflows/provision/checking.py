# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Checks whether a cluster can be stored and placed, before anything is written. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from ...model.cluster import Cluster, document_of
from ...model.errors import WrongOption
from ...places.kubernetes_secret.target import KubernetesTarget
from ...places.secret_store import StoreTarget
from ...places.sources import cluster_store
from ..options import with_defaults
from . import place, store
from .steps import to_place, to_store

__all__ = ["check_cluster"]


def check_cluster(cluster: Cluster, words: Mapping[str, str]) -> tuple[StoreTarget, KubernetesTarget]:
    """Check both steps, so that a problem of the second is not found after the first has written.

    :param words: the modules' options to their names in the cluster's description.
    :raises ConfigurationError: the first broken rule.
    """
    try:
        # The source is checked even if nothing is read from it.
        stored = store.build_target(with_defaults({**to_store(cluster), **document_of(cluster)}))
        entry = {"place": stored.name, "version": "1"}
    except WrongOption as error:
        raise error.called(words) from None
    try:
        return stored, place.build_target(with_defaults(to_place(cluster, entry)))
    except WrongOption as error:
        raise error.called({**words, **_made_source(words)}) from None


def _made_source(words: Mapping[str, str]) -> dict[str, str]:
    """Return the options of the source that ``to_place`` makes, with their names in the cluster's
    description.
    """
    kind = cluster_store()
    return {f"source.{kind.NAME}.{name}": words.get(name, name) for name in kind.SPEC["options"]}
