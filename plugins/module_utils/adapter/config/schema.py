# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The JSON Schema of seed 002's AdapterConfig, as extensions/adapter/adapter-config.schema.json has it.

A field's ``description`` ends the sentence "… is not" of an error, and is what an editor shows.
"""

from __future__ import annotations

from typing import Any

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.duration import DURATION

__all__ = ["SCHEMA"]

_Schema = dict[str, Any]

_LABEL_NAME = r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?"
_DNS_LABEL = r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$"
_SUBDOMAIN = r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?){0,8}$"
_QUANTITY = r"^([0-9]{1,15}(\.[0-9]{0,9})?|\.[0-9]{1,9})(m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei|e[0-9]{1,2})?$"
# A registry with its port, a path, a tag, a digest.
_IMAGE = (
    r"^[a-z0-9]([a-z0-9._-]*[a-z0-9])?(:[0-9]{1,5})?(/[a-z0-9]+([._-]+[a-z0-9]+)*)*"
    r"(:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(@sha256:[a-f0-9]{64})?$"
)
_LEVELS = ["debug", "info", "warn", "error"]
_FORMATS = ["json", "text"]


def _text(description: str, pattern: str = r"^\S(.*\S)?$", longest: int = 1024) -> _Schema:
    return {
        "type": "string",
        "description": description,
        "minLength": 1,
        "maxLength": longest,
        "pattern": pattern,
    }


def _choice(choices: list[str], default: str | None = None) -> _Schema:
    made: _Schema = {"enum": choices, "description": "one of " + ", ".join(choices)}
    return made if default is None else {**made, "default": default}


def _whole(lowest: int, highest: int, default: int | None = None) -> _Schema:
    made: _Schema = {
        "type": "integer",
        "description": f"a whole number from {lowest} to {highest}",
        "minimum": lowest,
        "maximum": highest,
    }
    return made if default is None else {**made, "default": default}


def _bool(default: bool) -> _Schema:
    return {"type": "boolean", "description": "true or false", "default": default}


def _duration(default: str) -> _Schema:
    return {
        "type": ["string", "number"],
        "description": "a duration such as 10s or 1m30s",
        "maxLength": 64,
        "pattern": DURATION,
        "exclusiveMinimum": 0,
        "maximum": 86400,
        "default": default,
    }


def _object(properties: dict[str, Any], required: list[str] | None = None) -> _Schema:
    made: _Schema = {
        "type": "object",
        "description": "a mapping",
        "additionalProperties": False,
        "properties": properties,
    }
    return {**made, "required": required} if required else made


def _list(items: _Schema, most: int = 64) -> _Schema:
    return {"type": "array", "description": "a list", "items": items, "maxItems": most}


def _texts(keys: str, key_description: str, values: _Schema, most: int = 64) -> _Schema:
    return {
        "type": "object",
        "description": "a mapping",
        "maxProperties": most,
        "propertyNames": {"description": key_description, "pattern": keys},
        "additionalProperties": values,
    }


def _path() -> _Schema:
    return _text("the path of a file", r"^[^\u0000-\u001f]+$", 4096)


def _kubernetes_name(what: str) -> _Schema:
    return _text(f"the name of {what}: lower case letters, digits, dashes and dots", _SUBDOMAIN, 253)


_LABELS = _texts(
    rf"^([a-z0-9]([a-z0-9.-]{{0,251}}[a-z0-9])?/)?{_LABEL_NAME}$",
    "a label's key",
    _text("a label's value", rf"^({_LABEL_NAME})?$", 63) | {"minLength": 0},
)
_ANNOTATIONS = _texts(
    rf"^([a-z0-9]([a-z0-9.-]{{0,251}}[a-z0-9])?/)?{_LABEL_NAME}$",
    "an annotation's key",
    {"type": "string", "description": "text", "maxLength": 65536},
)
_QUANTITIES = _object(
    {
        name: {
            "type": ["string", "number"],
            "description": f"a quantity such as {example}",
            "maxLength": 32,
            "pattern": _QUANTITY,
            "minimum": 0,
            "maximum": 1e15,
        }
        for name, example in (("cpu", "100m"), ("memory", "128Mi"), ("ephemeral-storage", "1Gi"))
    }
)

_CRITERIA = _object(
    {
        "preconditions": _list(
            _object({"expression": _text("an expression", longest=2000, pattern=r"\S")}, ["expression"]), 32
        ),
        "dependencies": {**_list(_text("the name of an adapter", _DNS_LABEL, 63), 32), "uniqueItems": True},
    }
)

_HYPERFLEET_API = _object(
    {
        "url": _text("an http or https address", r"^https?://\S+$", 2048),
        "timeout": _duration("10s"),
        "flavour": _choice(["current", "seed"], "current"),
        "headers": _texts(
            "^[A-Za-z0-9_-]{1,128}$",
            "the name of an HTTP header",
            _text("text that an HTTP header can carry", r"^[ -~]*$", 4096) | {"minLength": 0},
        ),
        "tokenFile": _path(),
        "caCert": _path(),
        "validateCerts": _bool(True),
    }
)

_BROKER = _object(
    {
        "type": _choice(["gcp-pubsub", "rabbitmq", "webhook"]),
        "subscription": _text(
            "the name of a subscription",
            r"^(projects/[a-z0-9.:-]{1,100}/subscriptions/)?[A-Za-z][A-Za-z0-9._~%+-]{2,254}$",
            512,
        ),
        "projectId": _text("a project of Google Cloud", r"^[a-z0-9][a-z0-9.:-]{0,99}$", 100),
        "endpoint": _text("host:port, or an http address", r"^(https?://)?[A-Za-z0-9._\[\]:-]+/?$", 300),
        "url": _text("an amqp or amqps address", r"^amqps?://\S+$", 2048),
        "urlFile": _path(),
        "topic": _text("the name of a topic", r"^[A-Za-z0-9._~%+/:-]+$", 255),
        "exchange": _text("the name of an exchange", r"^[A-Za-z0-9._~%+/:-]+$", 255),
        "exchangeType": _choice(["topic", "fanout"], "topic"),
        "queue": _text("the name of a queue", r"^[A-Za-z0-9._~%+/:-]+$", 255),
        "caCert": _path(),
        "prefetch": _whole(1, 65535),
        "listen": _object(
            {
                "address": {
                    **_text("an address to listen at", r"^[A-Za-z0-9._:-]+$", 253),
                    "default": "127.0.0.1",
                },
                "port": _whole(1, 65535, 8081),
            }
        ),
        "tokenFile": _path(),
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
_NEEDED: dict[str, _Schema] = {
    "gcp-pubsub": {"required": ["subscription"]},
    "rabbitmq": {
        "allOf": [
            {
                "description": "without exchange or topic",
                "anyOf": [{"required": ["exchange"]}, {"required": ["topic"]}],
            },
            {
                "description": "without queue or subscription",
                "anyOf": [{"required": ["queue"]}, {"required": ["subscription"]}],
            },
            {"description": "with url and urlFile at once", "not": {"required": ["url", "urlFile"]}},
        ]
    },
    "webhook": {},
}
_BROKER["allOf"] = [
    {
        "if": {"properties": {"type": {"const": kind}}, "required": ["type"]},
        "then": {
            **_NEEDED[kind],
            "properties": {
                name: {"not": {}, "description": "not for a broker of this type"}
                for name in _BROKER["properties"]
                if name not in _OF_BROKERS[kind] and name != "type"
            },
        },
    }
    for kind in _OF_BROKERS
]

_JOB_TEMPLATE = _object(
    {
        "image": _text("an image's name", _IMAGE, 512),
        "serviceAccountName": {**_kubernetes_name("a service account"), "default": "pullsecret-adapter-job"},
        "resources": _object({"requests": _QUANTITIES, "limits": _QUANTITIES}),
        "imagePullSecrets": _list(_object({"name": _kubernetes_name("a Secret")}, ["name"])),
        # A Job that is gone before a look, which may be a minute later, would be made again for ever.
        "ttlSecondsAfterFinished": _whole(120, 31536000, 3600),
        "backoffLimit": _whole(0, 100, 3),
        "activeDeadlineSeconds": _whole(1, 86400, 600),
        "keepGenerations": _whole(0, 100, 1),
        "nodeSelector": _LABELS,
        "tolerations": _list(
            _object(
                {
                    "key": _text(
                        "a taint's key", rf"^([a-z0-9]([a-z0-9.-]{{0,251}}[a-z0-9])?/)?{_LABEL_NAME}$", 317
                    ),
                    "operator": _choice(["Equal", "Exists"], "Equal"),
                    "value": _text("a taint's value", rf"^({_LABEL_NAME})?$", 63) | {"minLength": 0},
                    "effect": _choice(["NoSchedule", "PreferNoSchedule", "NoExecute"]),
                    "tolerationSeconds": _whole(0, 2**31 - 1),
                }
            )
        ),
        "env": _list(
            _object(
                {
                    "name": _text("the name of an environment variable", r"^[A-Za-z_][A-Za-z0-9_]*$", 255),
                    "value": {"type": "string", "description": "text", "maxLength": 32768},
                },
                ["name", "value"],
            )
        ),
        "labels": _LABELS,
        "annotations": _ANNOTATIONS,
        "priorityClassName": _kubernetes_name("a priority class"),
        "logLevel": _choice(_LEVELS, "info"),
        "logFormat": _choice(_FORMATS, "json"),
        "gcpApiTimeout": _duration("30s"),
    }
)

SCHEMA: _Schema = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$id": "https://github.com/openshift-hyperfleet/ansible-pull-secret/adapter-config.schema.json",
    "title": "AdapterConfig of hyperfleet.pull_secret",
    **_object(
        {
            "apiVersion": {
                "const": "hyperfleet.redhat.com/v1alpha1",
                "description": "hyperfleet.redhat.com/v1alpha1",
            },
            "kind": {"const": "AdapterConfig", "description": "AdapterConfig"},
            "metadata": _object(
                {
                    "name": _text(
                        "a name of lower case letters, digits, dashes and dots, 63 at most", _SUBDOMAIN, 63
                    ),
                    "namespace": {
                        **_text(
                            "a namespace: lower case letters, digits and dashes, 63 at most", _DNS_LABEL, 63
                        ),
                        "default": "hyperfleet-system",
                    },
                    "labels": _LABELS,
                    "annotations": _ANNOTATIONS,
                },
                ["name"],
            ),
            "spec": {
                **_object(
                    {
                        "adapterType": {
                            **_text(
                                "an adapter's name: lower case letters, digits and dashes, 63 at most",
                                _DNS_LABEL,
                                63,
                            ),
                            "default": "pullsecret",
                        },
                        "criteria": _CRITERIA,
                        "hyperfleetAPI": _HYPERFLEET_API,
                        "broker": _BROKER,
                        "jobTemplate": _JOB_TEMPLATE,
                        "execution": _choice(["job", "inline"], "job"),
                        "deletion": _object({"store": _choice(["delete", "keep"], "delete")}),
                        "batch": _object({"size": _whole(1, 1000, 1000), "window": _duration("1s")}),
                        "kubernetes": _object(
                            {
                                "kubeconfig": _path(),
                                "context": _text("the name of a context", longest=253),
                                "host": _text("an http or https address", r"^https?://[^\s@]+$", 2048),
                                "caCert": _path(),
                                "validateCerts": _bool(True),
                            }
                        ),
                        "gcp": _object(
                            {
                                "transport": _choice(["grpc", "rest"], "grpc"),
                                "endpoint": _text("a host, or an address", r"^[^\s@]+$", 2048),
                                "credentialsFile": _path(),
                                "impersonateServiceAccount": _text(
                                    "a service account's address", r"^[^\s@]+@[^\s@]+$", 253
                                ),
                            }
                        ),
                        "logging": _object(
                            {"level": _choice(_LEVELS, "info"), "format": _choice(_FORMATS, "json")}
                        ),
                        "metrics": _object(
                            {
                                "port": _whole(0, 65535, 8080),
                                "address": {
                                    **_text("an address to listen at", r"^[A-Za-z0-9._:-]+$", 253),
                                    "default": "0.0.0.0",  # noqa: S104 - a pod's
                                },
                                "perCluster": _bool(False),
                            }
                        ),
                    }
                ),
                "if": {"properties": {"execution": {"const": "inline"}}, "required": ["execution"]},
                "else": {
                    "required": ["jobTemplate"],
                    "properties": {"jobTemplate": {"required": ["image"]}},
                },
            },
        },
        ["apiVersion", "kind", "metadata", "spec"],
    ),
}
"""Draft 2020-12."""
