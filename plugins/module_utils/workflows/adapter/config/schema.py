# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The JSON Schema of the AdapterConfig, the same as extensions/adapter/adapter-config.schema.json."""

from __future__ import annotations

from .broker_schema import BROKER
from .schema_fields import (
    ANNOTATIONS,
    DNS_LABEL,
    LABEL_NAME,
    LABELS,
    QUANTITIES,
    SUBDOMAIN,
    Schema,
    boolean_field,
    choice_field,
    duration_field,
    integer_field,
    kubernetes_name_field,
    list_field,
    map_field,
    object_field,
    path_field,
    text_field,
)

__all__ = ["SCHEMA"]

# A registry with an optional port, a path, a tag, a digest.
_IMAGE = (
    r"^[a-z0-9]([a-z0-9._-]*[a-z0-9])?(:[0-9]{1,5})?(/[a-z0-9]+([._-]+[a-z0-9]+)*)*"
    r"(:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(@sha256:[a-f0-9]{64})?$"
)
_LEVELS = ["debug", "info", "warn", "error"]
_FORMATS = ["json", "text"]


_CRITERIA = object_field(
    {
        "preconditions": list_field(
            object_field(
                {
                    "expression": text_field(
                        "a CEL expression of at most 2000 characters", longest=2000, pattern=r"\S"
                    )
                },
                ["expression"],
            ),
            32,
        ),
        "dependencies": {
            **list_field(text_field("the name of an adapter", DNS_LABEL, 63), 32),
            "uniqueItems": True,
        },
    }
)

_PLACEMENT = object_field(
    {
        "allowedNamespaces": {
            **list_field(
                text_field(
                    "a namespace (at most 63 lower case letters, digits and dashes, with a letter or digit "
                    "at both "
                    "ends), in which * may stand for any part",
                    r"^[a-z0-9*]([a-z0-9*-]{0,61}[a-z0-9*])?$",
                    63,
                )
            ),
            # An empty list would look like no limit.
            "minItems": 1,
            "uniqueItems": True,
            "description": "a list of one namespace or more",
        },
        "managementCluster": text_field(
            "a management cluster's name: at most 253 letters, digits and -._:/@, with a letter or digit at both "
            "ends",
            r"^[A-Za-z0-9]([A-Za-z0-9._:/@-]{0,251}[A-Za-z0-9])?$",
            253,
        ),
    }
)

_HYPERFLEET_API = object_field(
    {
        "url": text_field("an http or https address", r"^https?://\S+$", 2048),
        "timeout": duration_field("10s"),
        "flavour": choice_field(["current", "contract"], "current"),
        "headers": map_field(
            "^[A-Za-z0-9_-]{1,128}$",
            "the name of an HTTP header",
            text_field("text that an HTTP header can carry", r"^[ -~]*$", 4096) | {"minLength": 0},
        ),
        "tokenFile": path_field(),
        "caCert": path_field(),
        "validateCerts": boolean_field(True),
    }
)

_JOB_TEMPLATE = object_field(
    {
        "image": text_field("an image's name", _IMAGE, 512),
        "serviceAccountName": {
            **kubernetes_name_field("a service account"),
            "default": "pullsecret-adapter-job",
        },
        "resources": object_field({"requests": QUANTITIES, "limits": QUANTITIES}),
        "imagePullSecrets": list_field(object_field({"name": kubernetes_name_field("a Secret")}, ["name"])),
        # A Job that is deleted before the next look, up to a minute later, would be created again forever.
        "ttlSecondsAfterFinished": integer_field(120, 31536000, 3600),
        "backoffLimit": integer_field(0, 100, 3),
        "activeDeadlineSeconds": integer_field(1, 86400, 600),
        "keepGenerations": integer_field(0, 100, 1),
        "nodeSelector": LABELS,
        "tolerations": list_field(
            object_field(
                {
                    "key": text_field(
                        "a taint's key", rf"^([a-z0-9]([a-z0-9.-]{{0,251}}[a-z0-9])?/)?{LABEL_NAME}$", 317
                    ),
                    "operator": choice_field(["Equal", "Exists"], "Equal"),
                    "value": text_field("a taint's value", rf"^({LABEL_NAME})?$", 63) | {"minLength": 0},
                    "effect": choice_field(["NoSchedule", "PreferNoSchedule", "NoExecute"]),
                    "tolerationSeconds": integer_field(0, 2**31 - 1),
                }
            )
        ),
        "env": list_field(
            object_field(
                {
                    "name": text_field(
                        "the name of an environment variable", r"^[A-Za-z_][A-Za-z0-9_]*$", 255
                    ),
                    "value": {"type": "string", "description": "text", "maxLength": 32768},
                },
                ["name", "value"],
            )
        ),
        "labels": LABELS,
        "annotations": ANNOTATIONS,
        "priorityClassName": kubernetes_name_field("a priority class"),
        "logLevel": choice_field(_LEVELS, "info"),
        "logFormat": choice_field(_FORMATS, "json"),
        "gcpApiTimeout": duration_field("30s"),
    }
)

SCHEMA: Schema = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$id": "https://github.com/openshift-hyperfleet/ansible-pull-secret/adapter-config.schema.json",
    "title": "AdapterConfig of hyperfleet.pull_secret",
    **object_field(
        {
            "apiVersion": {
                "const": "hyperfleet.redhat.com/v1alpha1",
                "description": "hyperfleet.redhat.com/v1alpha1",
            },
            "kind": {"const": "AdapterConfig", "description": "AdapterConfig"},
            "metadata": object_field(
                {
                    "name": text_field(
                        "a name: at most 63 lower case letters, digits, dashes and dots, with a letter or "
                        "digit at "
                        "both ends of each part",
                        SUBDOMAIN,
                        63,
                    ),
                    "namespace": {
                        **text_field(
                            "a namespace: at most 63 lower case letters, digits and dashes, with a letter or "
                            "digit at both ends",
                            DNS_LABEL,
                            63,
                        ),
                        "default": "hyperfleet-system",
                    },
                    "labels": LABELS,
                    "annotations": ANNOTATIONS,
                },
                ["name"],
            ),
            "spec": {
                **object_field(
                    {
                        "adapterType": {
                            **text_field(
                                "an adapter's name: at most 63 lower case letters, digits and dashes, with a "
                                "letter or digit at both ends",
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
                        "execution": choice_field(["job", "inline"], "job"),
                        "deletion": object_field({"store": choice_field(["delete", "keep"], "delete")}),
                        "batch": object_field(
                            {"size": integer_field(1, 1000, 1000), "window": duration_field("1s")}
                        ),
                        "kubernetes": object_field(
                            {
                                "kubeconfig": path_field(),
                                "context": text_field("the name of a context", longest=253),
                                "host": text_field("an http or https address", r"^https?://[^\s@]+$", 2048),
                                "caCert": path_field(),
                                "validateCerts": boolean_field(True),
                            }
                        ),
                        "gcp": object_field(
                            {
                                "transport": choice_field(["grpc", "rest"], "grpc"),
                                "endpoint": text_field(
                                    "a host, host:port or http(s) address", r"^[^\s@]+$", 2048
                                ),
                                "credentialsFile": path_field(),
                                "impersonateServiceAccount": text_field(
                                    "the e-mail address of a Google service account",
                                    r"^[^\s@]+@[^\s@]+$",
                                    253,
                                ),
                            }
                        ),
                        "logging": object_field(
                            {"level": choice_field(_LEVELS, "info"), "format": choice_field(_FORMATS, "json")}
                        ),
                        "metrics": object_field(
                            {
                                "port": integer_field(0, 65535, 8080),
                                "address": {
                                    **text_field("an address to listen on", r"^[A-Za-z0-9._:-]+$", 253),
                                    "default": "0.0.0.0",  # noqa: S104 - a pod's address
                                },
                                "perCluster": boolean_field(False),
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
