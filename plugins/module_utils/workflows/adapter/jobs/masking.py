# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""No form of the pull secret in what others wrote of a Job.  Pure."""

from __future__ import annotations

import dataclasses
from typing import Any

from ....dockerconfig import sensitive_forms
from ....runtime.secrecy import Mask
from .. import model
from ..model import Observed

__all__ = ["masked_observation"]

# Of these all words are ours.  So are those of a success (``observing``), and to look for every form of a
# document of the usual size takes 6 ms.
_OWN = ("JobPending", "JobRunning", "JobSuspended", "PodNotCreated")


def masked_observation(observed: Observed, document: bytes) -> Observed:
    """The same, without any form of the document in its message and in its result.

    A success's words are all ours (``result.checked``, ``ends``), so that it costs no search.
    """
    if observed.reason in _OWN or observed.state == model.SUCCEEDED:
        return observed
    mask = Mask(sensitive_forms(document))
    result: Any = observed.result
    if result is not None:
        result = dict(_result(result, mask))
    return dataclasses.replace(observed, message=mask.text(observed.message), result=result)


def _result(result: Any, mask: Mask) -> Any:
    for name, value in result.items():
        if name == "message":
            yield name, mask.text(value)
        elif mask.value(value) == value:
            # Of the others a part would be no part of anything.
            yield name, value
