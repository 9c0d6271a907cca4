# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Request bodies in Kubernetes' protobuf encoding, which ``kubectl create secret`` and the like send.

The field numbers are those of ``generated.proto`` in k8s.io/api v0.34; the fields are those that kubectl
fills in. All others are skipped.
"""

from __future__ import annotations

import functools
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message, message_factory

CONTENT_TYPE = "application/vnd.kubernetes.protobuf"
_MAGIC = b"k8s\0"
# name=number:type; [] marks a list, {} a map from strings.
_MESSAGES = {
    "Unknown": "typeMeta=1:TypeMeta raw=2:bytes",
    "TypeMeta": "apiVersion=1:string kind=2:string",
    "ObjectMeta": "name=1:string generateName=2:string namespace=3:string labels=11:string{} "
    "annotations=12:string{}",
    "Namespace": "metadata=1:ObjectMeta",
    "Secret": "metadata=1:ObjectMeta data=2:bytes{} type=3:string stringData=4:string{} immutable=5:bool",
    "ConfigMap": "metadata=1:ObjectMeta data=2:string{} binaryData=3:bytes{} immutable=4:bool",
    "Reference": "name=1:string",
    "ServiceAccount": "metadata=1:ObjectMeta imagePullSecrets=3:Reference[]",
    "Job": "metadata=1:ObjectMeta spec=2:JobSpec",
    "JobSpec": "template=6:PodTemplateSpec",
    "PodTemplateSpec": "metadata=1:ObjectMeta spec=2:PodSpec",
    "PodSpec": "containers=2:Container[] restartPolicy=3:string serviceAccountName=8:string",
    "SelfSubjectAccessReview": "metadata=1:ObjectMeta spec=2:AccessSpec",
    "AccessSpec": "resourceAttributes=1:ResourceAttributes nonResourceAttributes=2:PathAttributes",
    "ResourceAttributes": "namespace=1:string verb=2:string group=3:string version=4:string "
    "resource=5:string subresource=6:string name=7:string",
    "PathAttributes": "path=1:string verb=2:string",
    "Container": "name=1:string image=2:string command=3:string[] args=4:string[]",
}


def decode_body(body: bytes, kind: str) -> dict[str, Any] | None:
    """Return the object as JSON has it; None if the body is not an object of this kind that can be read."""
    known = _classes()
    if kind not in known or not body.startswith(_MAGIC):
        return None
    try:
        envelope: Any = known["Unknown"].FromString(body.removeprefix(_MAGIC))
        head = _as_json(envelope.typeMeta)
        if head.get("kind") != kind:
            return None
        return {**head, **_as_json(known[kind].FromString(envelope.raw))}
    except message.DecodeError:
        return None


def _as_json(found: message.Message) -> dict[str, Any]:
    read: dict[str, Any] = json_format.MessageToDict(found, preserving_proto_field_name=True)
    return read


@functools.cache
def _classes() -> dict[str, type[message.Message]]:
    file = descriptor_pb2.FileDescriptorProto(name="kubernetes.proto", package="k", syntax="proto3")
    for name, fields in _MESSAGES.items():
        described = file.message_type.add(name=name)
        for text in fields.split():
            _add_field(described, text)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"k.{name}")) for name in _MESSAGES
    }


def _add_field(described: descriptor_pb2.DescriptorProto, text: str) -> None:
    name, _equals, rest = text.partition("=")
    number, _colon, kind = rest.partition(":")
    field = described.field.add(name=name, number=int(number), label="LABEL_OPTIONAL")
    if kind.endswith("{}"):
        entry = described.nested_type.add(name=f"{name[0].upper()}{name[1:]}Entry")
        entry.options.map_entry = True
        _add_field(entry, "key=1:string")
        _add_field(entry, f"value=2:{kind[:-2]}")
        field.label, kind = field.LABEL_REPEATED, f"{described.name}.{entry.name}"
    elif kind.endswith("[]"):
        field.label, kind = field.LABEL_REPEATED, kind[:-2]
    if kind in ("string", "bytes", "bool"):
        field.type = descriptor_pb2.FieldDescriptorProto.Type.Value(f"TYPE_{kind.upper()}")
    else:
        field.type, field.type_name = field.TYPE_MESSAGE, f".k.{kind}"
