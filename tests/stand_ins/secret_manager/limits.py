# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules for what a client may send. Source: the field comments of `secretmanager_v1.types.Secret`."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping

from google.api_core.exceptions import InvalidArgument

from .protos import Message

MAX_PAYLOAD = 64 * 1024  # bytes
MAX_LABELS = 64
MAX_ANNOTATIONS_SIZE = 16 * 1024  # bytes, keys and values together; "must be less than"

_SECRET_ID = re.compile(r"[A-Za-z0-9_-]{1,255}")
_ANNOTATION_KEY = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?")
_LOCATION = re.compile(r"[a-z]+(-[a-z]+[0-9]+)?")
_KMS_KEY = re.compile(r"projects/[^/]+/locations/([^/]+)/keyRings/[^/]+/cryptoKeys/[^/]+")


def check_secret_id(secret_id: str) -> None:
    if _SECRET_ID.fullmatch(secret_id) is None:
        raise InvalidArgument("Secret ID must be 1 to 255 characters of [A-Za-z0-9_-].")


def check_secret(secret: Message) -> None:
    """What a client may set of a secret."""
    _check_replication(secret.replication)
    _check_labels(secret.labels)
    _check_annotations(secret.annotations)


def _label_text(text: str) -> bool:
    if len(text) > 63 or len(text.encode()) > 128:
        return False
    return all(c in "_-" or unicodedata.category(c) in {"Ll", "Lo", "Nd", "Nl", "No"} for c in text)


def _check_labels(labels: Mapping[str, str]) -> None:
    if len(labels) > MAX_LABELS:
        raise InvalidArgument(f"A resource can have at most {MAX_LABELS} labels.")
    for key, value in labels.items():
        if not key or unicodedata.category(key[0]) not in {"Ll", "Lo"} or not _label_text(key):
            raise InvalidArgument(f"Label key [{key}] is invalid.")
        if not _label_text(value):
            raise InvalidArgument(f"The value of label [{key}] is invalid.")


def _check_annotations(annotations: Mapping[str, str]) -> None:
    size = 0
    for key, value in annotations.items():
        if len(key) > 63 or _ANNOTATION_KEY.fullmatch(key) is None:
            raise InvalidArgument(f"Annotation key [{key}] is invalid.")
        size += len(key.encode()) + len(value.encode())
    if size >= MAX_ANNOTATIONS_SIZE:
        raise InvalidArgument("The total size of annotations must be less than 16 KiB.")


def _check_replication(replication: Message) -> None:
    kind = replication.WhichOneof("replication")
    if kind is None:
        raise InvalidArgument("Field [secret.replication] is required.")
    if kind == "automatic":
        _check_key(replication.automatic, "global")
        return
    replicas = replication.user_managed.replicas
    if not replicas:
        raise InvalidArgument("Field [secret.replication.user_managed.replicas] is required.")
    seen: set[str] = set()
    for replica in replicas:
        if _LOCATION.fullmatch(replica.location) is None:
            raise InvalidArgument(f"Location [{replica.location}] is invalid.")
        if replica.location in seen:
            raise InvalidArgument(f"Location [{replica.location}] is given twice.")
        seen.add(replica.location)
        _check_key(replica, replica.location)
    if len({replica.HasField("customer_managed_encryption") for replica in replicas}) > 1:
        raise InvalidArgument("Either all replicas or none must use customer-managed encryption.")


def _check_key(policy: Message, location: str) -> None:
    """A key lies where the data lies: `global` for automatic replication, else the replica's own location."""
    if not policy.HasField("customer_managed_encryption"):
        return
    match = _KMS_KEY.fullmatch(policy.customer_managed_encryption.kms_key_name)
    if match is None:
        raise InvalidArgument("Field [kms_key_name] is malformed.")
    if match[1] != location:
        raise InvalidArgument(f"The Cloud KMS key must reside in location [{location}].")
