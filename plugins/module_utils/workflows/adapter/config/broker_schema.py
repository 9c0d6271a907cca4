# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The schema of ``spec.broker``: each type of broker has fields of its own."""

from __future__ import annotations

from .schema_fields import Schema, choice_field, integer_field, object_field, path_field, text_field

__all__ = ["BROKER"]

BROKER = object_field(
    {
        "type": choice_field(["gcp-pubsub", "rabbitmq", "webhook"]),
        "subscription": text_field(
            "the name of a subscription",
            r"^(projects/[a-z0-9.:-]{1,100}/subscriptions/)?[A-Za-z][A-Za-z0-9._~%+-]{2,254}$",
            512,
        ),
        "projectId": text_field("a project of Google Cloud", r"^[a-z0-9][a-z0-9.:-]{0,99}$", 100),
        "endpoint": text_field("host:port, or an http address", r"^(https?://)?[A-Za-z0-9._\[\]:-]+/?$", 300),
        "url": text_field("an amqp or amqps address", r"^amqps?://\S+$", 2048),
        "urlFile": path_field(),
        "topic": text_field("the name of a topic", r"^[A-Za-z0-9._~%+/:-]+$", 255),
        "exchange": text_field("the name of an exchange", r"^[A-Za-z0-9._~%+/:-]+$", 255),
        "exchangeType": choice_field(["topic", "fanout"], "topic"),
        "queue": text_field("the name of a queue", r"^[A-Za-z0-9._~%+/:-]+$", 255),
        "caCert": path_field(),
        "prefetch": integer_field(1, 65535),
        "listen": object_field(
            {
                "address": {
                    **text_field("an address to listen on", r"^[A-Za-z0-9._:-]+$", 253),
                    "default": "127.0.0.1",
                },
                "port": integer_field(1, 65535, 8081),
            }
        ),
        "tokenFile": path_field(),
    },
    ["type"],
)
_OF_BROKERS = {
    "gcp-pubsub": ["subscription", "projectId", "endpoint", "topic", "prefetch"],
    "rabbitmq": [
        "subscription",
        "url",
        "urlFile",
        "topic",
        "exchange",
        "exchangeType",
        "queue",
        "caCert",
        "prefetch",
    ],
    "webhook": ["listen", "tokenFile"],
}
_NEEDED: dict[str, Schema] = {
    "gcp-pubsub": {"required": ["subscription"]},
    "rabbitmq": {
        "allOf": [
            {
                "description": "must have exchange or topic",
                "anyOf": [{"required": ["exchange"]}, {"required": ["topic"]}],
            },
            {
                "description": "must have queue or subscription",
                "anyOf": [{"required": ["queue"]}, {"required": ["subscription"]}],
            },
            {"description": "must not have both url and urlFile", "not": {"required": ["url", "urlFile"]}},
        ]
    },
    "webhook": {},
}
BROKER["allOf"] = [
    {
        "if": {"properties": {"type": {"const": kind}}, "required": ["type"]},
        "then": {
            **_NEEDED[kind],
            "properties": {
                name: {"not": {}, "description": "must not be set for a broker of this type"}
                for name in BROKER["properties"]
                if name not in _OF_BROKERS[kind] and name != "type"
            },
        },
    }
    for kind in _OF_BROKERS
]
