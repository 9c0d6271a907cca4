# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The JSON Schema of seed 002's AdapterConfig, as extensions/adapter/adapter-config.schema.json has it."""

from __future__ import annotations

from .broker_schema import BROKER
from .fields import (
    ANNOTATIONS,
    DNS_LABEL,
    LABEL_NAME,
    LABELS,
    QUANTITIES,
    SUBDOMAIN,
    Schema,
    choice,
    duration,
    flag,
    kubernetes_name,
    listing,
    mapping,
    path,
    text,
    texts,
    whole,
)

__all__ = ["SCHEMA"]

# A registry with its port, a path, a tag, a digest.
_IMAGE = (
    r"^[a-z0-9]([a-z0-9._-]*[a-z0-9])?(:[0-9]{1,5})?(/[a-z0-9]+([._-]+[a-z0-9]+)*)*"
    r"(:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(@sha256:[a-f0-9]{64})?$"
)
_LEVELS = ["debug", "info", "warn", "error"]
_FORMATS = ["json", "text"]


_CRITERIA = mapping(
    {
        "preconditions": listing(
            mapping({"expression": text("an expression", longest=2000, pattern=r"\S")}, ["expression"]), 32
        ),
        "dependencies": {**listing(text("the name of an adapter", DNS_LABEL, 63), 32), "uniqueItems": True},
    }
)

_PLACEMENT = mapping(
    {
        "allowedNamespaces": {
            **listing(
                text(
                    "a namespace, or with * for a part of it: lower case letters, digits and dashes",
                    r"^[a-z0-9*]([a-z0-9*-]{0,61}[a-z0-9*])?$",
                    63,
                )
            ),
            # None of them would look like no limit.
            "minItems": 1,
            "uniqueItems": True,
            "description": "a list of one namespace or more",
        }
    }
)

_HYPERFLEET_API = mapping(
    {
        "url": text("an http or https address", r"^https?://\S+$", 2048),
        "timeout": duration("10s"),
        "flavour": choice(["current", "seed"], "current"),
        "headers": texts(
            "^[A-Za-z0-9_-]{1,128}$",
            "the name of an HTTP header",
            text("text that an HTTP header can carry", r"^[ -~]*$", 4096) | {"minLength": 0},
        ),
        "tokenFile": path(),
        "caCert": path(),
        "validateCerts": flag(True),
    }
)

_JOB_TEMPLATE = mapping(
    {
        "image": text("an image's name", _IMAGE, 512),
        "serviceAccountName": {**kubernetes_name("a service account"), "default": "pullsecret-adapter-job"},
        "resources": mapping({"requests": QUANTITIES, "limits": QUANTITIES}),
        "imagePullSecrets": listing(mapping({"name": kubernetes_name("a Secret")}, ["name"])),
        # A Job that is gone before a look, which may be a minute later, would be made again for ever.
        "ttlSecondsAfterFinished": whole(120, 31536000, 3600),
        "backoffLimit": whole(0, 100, 3),
        "activeDeadlineSeconds": whole(1, 86400, 600),
        "keepGenerations": whole(0, 100, 1),
        "nodeSelector": LABELS,
        "tolerations": listing(
            mapping(
                {
                    "key": text(
                        "a taint's key", rf"^([a-z0-9]([a-z0-9.-]{{0,251}}[a-z0-9])?/)?{LABEL_NAME}$", 317
                    ),
                    "operator": choice(["Equal", "Exists"], "Equal"),
                    "value": text("a taint's value", rf"^({LABEL_NAME})?$", 63) | {"minLength": 0},
                    "effect": choice(["NoSchedule", "PreferNoSchedule", "NoExecute"]),
                    "tolerationSeconds": whole(0, 2**31 - 1),
                }
            )
        ),
        "env": listing(
            mapping(
                {
                    "name": text("the name of an environment variable", r"^[A-Za-z_][A-Za-z0-9_]*$", 255),
                    "value": {"type": "string", "description": "text", "maxLength": 32768},
                },
                ["name", "value"],
            )
        ),
        "labels": LABELS,
        "annotations": ANNOTATIONS,
        "priorityClassName": kubernetes_name("a priority class"),
        "logLevel": choice(_LEVELS, "info"),
        "logFormat": choice(_FORMATS, "json"),
        "gcpApiTimeout": duration("30s"),
    }
)

SCHEMA: Schema = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$id": "https://github.com/openshift-hyperfleet/ansible-pull-secret/adapter-config.schema.json",
    "title": "AdapterConfig of hyperfleet.pull_secret",
    **mapping(
        {
            "apiVersion": {
                "const": "hyperfleet.redhat.com/v1alpha1",
                "description": "hyperfleet.redhat.com/v1alpha1",
            },
            "kind": {"const": "AdapterConfig", "description": "AdapterConfig"},
            "metadata": mapping(
                {
                    "name": text(
                        "a name of lower case letters, digits, dashes and dots, 63 at most", SUBDOMAIN, 63
                    ),
                    "namespace": {
                        **text(
                            "a namespace: lower case letters, digits and dashes, 63 at most", DNS_LABEL, 63
                        ),
                        "default": "hyperfleet-system",
                    },
                    "labels": LABELS,
                    "annotations": ANNOTATIONS,
                },
                ["name"],
            ),
            "spec": {
                **mapping(
                    {
                        "adapterType": {
                            **text(
                                "an adapter's name: lower case letters, digits and dashes, 63 at most",
                                DNS_LABEL,
                                63,
                            ),
                            "default": "pullsecret",
                        },
                        "criteria": _CRITERIA,
                        "placement": _PLACEMENT,
                        "hyperfleetAPI": _HYPERFLEET_API,
                        "broker": BROKER,
                        "jobTemplate": _JOB_TEMPLATE,
                        "execution": choice(["job", "inline"], "job"),
                        "deletion": mapping({"store": choice(["delete", "keep"], "delete")}),
                        "batch": mapping({"size": whole(1, 1000, 1000), "window": duration("1s")}),
                        "kubernetes": mapping(
                            {
                                "kubeconfig": path(),
                                "context": text("the name of a context", longest=253),
                                "host": text("an http or https address", r"^https?://[^\s@]+$", 2048),
                                "caCert": path(),
                                "validateCerts": flag(True),
                            }
                        ),
                        "gcp": mapping(
                            {
                                "transport": choice(["grpc", "rest"], "grpc"),
                                "endpoint": text("a host, or an address", r"^[^\s@]+$", 2048),
                                "credentialsFile": path(),
                                "impersonateServiceAccount": text(
                                    "a service account's address", r"^[^\s@]+@[^\s@]+$", 253
                                ),
                            }
                        ),
                        "logging": mapping(
                            {"level": choice(_LEVELS, "info"), "format": choice(_FORMATS, "json")}
                        ),
                        "metrics": mapping(
                            {
                                "port": whole(0, 65535, 8080),
                                "address": {
                                    **text("an address to listen at", r"^[A-Za-z0-9._:-]+$", 253),
                                    "default": "0.0.0.0",  # noqa: S104 - a pod's
                                },
                                "perCluster": flag(False),
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
