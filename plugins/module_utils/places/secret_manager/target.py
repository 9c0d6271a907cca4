# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The wanted secret, and the messages that are sent for it. Pure functions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...model.naming import gcp_labels, owner_problem
from ...model.outcome import Outcome
from .retention import Retention

__all__ = ["MAX_PAYLOAD", "SecretManagerTarget", "metadata_changes", "new_secret_manager_secret"]

# The maximum size of a version, in bytes.
MAX_PAYLOAD = 64 * 1024


@dataclass(frozen=True)
class SecretManagerTarget:
    """The wanted secret.

    :param labels: wanted beside those of ``naming``; other labels are kept.
    :param replication: the library's ``Replication`` as a mapping, used at creation only; None without a
        choice, which at creation means automatic.
    """

    id: str
    project: str
    secret: str
    cluster_id: str | None = None
    cluster_name: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    replication: Mapping[str, Any] | None = None
    adopt: bool = False
    retention: Retention | None = None
    impersonate: str | None = None

    @property
    def name(self) -> str:
        """The full resource name."""
        return f"projects/{self.project}/secrets/{self.secret}"

    def wanted_labels(self) -> dict[str, str]:
        """The labels of the job contract and the user's labels. The owner's labels cannot be overridden."""
        return {**self.labels, **gcp_labels(self.cluster_id, self.cluster_name)}


def new_secret_manager_secret(target: SecretManagerTarget, marks: Mapping[str, str]) -> dict[str, Any]:
    """Return the secret to create; ``marks`` are annotations of our own."""
    return {
        "replication": target.replication or {"automatic": {}},
        "labels": target.wanted_labels(),
        "annotations": {**target.annotations, **marks},
    }


def metadata_changes(
    target: SecretManagerTarget, secret: Any, outcome: Outcome
) -> dict[str, dict[str, str]] | None:
    """Return labels and annotations with the wanted ones, or None without a difference; the others stay."""
    labels, annotations = dict(secret.labels), dict(secret.annotations)
    wanted = {**labels, **target.wanted_labels()}
    noted = {**annotations, **target.annotations}
    if wanted == labels and noted == annotations:
        return None
    if owner_problem(labels, target.cluster_id) is not None:
        outcome.did("adopted")
    else:
        outcome.did("labels updated" if wanted != labels else "annotations updated")
    # Annotations only if they differ: the others belong to anybody, or are marks of our own.
    different = {key for key, value in target.annotations.items() if annotations.get(key) != value}
    outcome.metadata_before = {
        **{f"label {key}": value for key, value in labels.items()},
        **{f"annotation {key}": value for key, value in annotations.items() if key in different},
    }
    outcome.metadata_after = {
        **{f"label {key}": value for key, value in wanted.items()},
        **{f"annotation {key}": value for key, value in noted.items() if key in different},
    }
    return {"labels": wanted, "annotations": noted}
