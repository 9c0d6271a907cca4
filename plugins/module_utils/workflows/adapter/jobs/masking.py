# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Removes all forms of the pull secret from texts that others wrote about a Job. Pure."""

from __future__ import annotations

import dataclasses
from typing import Any

from ....dockerconfig import sensitive_forms
from ....runtime.secrecy import Mask
from .. import model
from ..model import Observed

__all__ = ["masked_observation"]

# The texts of these states are all our own, as are those of a success (``observing``). Searching for every
# form of a document of usual size takes 6 ms.
_OWN = ("JobPending", "JobRunning", "JobSuspended", "PodNotCreated")


def masked_observation(observed: Observed, document: bytes) -> Observed:
    """Return the observation without any form of the document in its message and its result.

    A success has only our own words (``result.checked``, ``ends``), so that it needs no search.
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
            # In the other fields, a part of a form would not reveal anything.
            yield name, value
