# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Secret Manager's rules for a new secret, checked before the first request, which check mode needs.

Source: the field comments of ``secretmanager_v1.types.Secret`` and ``Replication``. Labels are limited to
ASCII, although the service accepts more.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ...model.errors import ConfigurationError, WrongOption
from ...model.naming import key_called

__all__ = [
    "MARKS_SIZE",
    "check_annotations",
    "check_key",
    "check_labels",
]

# Bytes of annotations that are reserved for our two marks: a claim, and a version that is restored.
MARKS_SIZE = 100
_MAX_LABELS = 64
_MAX_ANNOTATIONS = 16 * 1024
_LABEL_KEY = re.compile(r"[a-z][a-z0-9_-]{0,62}\Z")
_LABEL_VALUE = re.compile(r"[a-z0-9_-]{0,63}\Z")
_ANNOTATION_KEY = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?\Z")
_KMS_KEY = re.compile(
    r"projects/[a-z0-9.:-]+/locations/([a-z0-9-]+)/keyRings/[A-Za-z0-9_-]+/cryptoKeys/[A-Za-z0-9_-]+\Z"
)


def check_labels(labels: Mapping[str, str]) -> None:
    """Check all labels of a new secret.

    :raises ConfigurationError: names the first invalid one.
    """
    for position, (key, value) in enumerate(labels.items()):
        is_right = bool(_LABEL_KEY.match(key))
        if not (is_right and _LABEL_VALUE.match(value)):
            called = key_called("label", key, position, is_right=is_right)
            raise ConfigurationError(
                f"{called}: keys and values must be at most 63 characters of a-z 0-9 _ -, "
                "and a key must begin with a letter"
            )
    if len(labels) > _MAX_LABELS:
        raise WrongOption(
            "labels", f"must have at most {_MAX_LABELS} entries, including those of this collection"
        )


def check_annotations(annotations: Mapping[str, str]) -> None:
    """Check the user's annotations.

    :raises ConfigurationError: names the first invalid key.
    """
    for position, key in enumerate(annotations):
        if not _ANNOTATION_KEY.match(key):
            raise ConfigurationError(
                f"annotation {position + 1}: a key must be at most 63 letters, digits, dashes, underscores and "
                "dots, with a letter or digit at both ends"
            )
    size = sum(len(key.encode()) + len(value.encode()) for key, value in annotations.items())
    if size + MARKS_SIZE >= _MAX_ANNOTATIONS:
        raise WrongOption(
            "annotations",
            f"must have less than {_MAX_ANNOTATIONS - MARKS_SIZE} bytes, keys and values together",
        )


def check_key(option: str, name: str, location: str) -> None:
    """Check the Cloud KMS key of the data in one location; ``global`` if Google chooses the locations.

    :param option: that the key is in.
    :raises WrongOption: it is not a key's full name, or the key is in another location.
    """
    match = _KMS_KEY.match(name)
    if match is None:
        raise WrongOption(option, "must be projects/P/locations/L/keyRings/R/cryptoKeys/K")
    if match[1] != location:
        raise WrongOption(option, f"is not a key in location {location}")
