# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whether a document fits into a pod's environment variable.  Pure."""

from __future__ import annotations

from .. import model
from ..model import Observed
from .manifests import LARGEST

__all__ = ["document_refusal"]


def document_refusal(document: bytes, cluster_id: str) -> Observed | None:
    """Return why no pod could start with the document, or None if one can."""
    if len(document) > LARGEST:
        return Observed(
            model.FAILED,
            "PullSecretTooLarge",
            f"the pull secret of cluster {cluster_id} has {len(document)} bytes; "
            f"a pod's environment variable can hold {LARGEST}",
            retry=False,
            kind="invalid_document",
        )
    if b"\0" in document or not _is_text(document):
        return Observed(
            model.FAILED,
            "InvalidDocument",
            f"the pull secret of cluster {cluster_id} is not UTF-8 text, or contains a NUL character",
            retry=False,
            kind="invalid_document",
        )
    return None


def _is_text(document: bytes) -> bool:
    try:
        document.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
