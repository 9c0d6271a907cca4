# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Options that work in the environment of ``world.py``, from which inputs are made. All their waits are short."""

from __future__ import annotations

from typing import Any

from tests.fuzz.values import path

__all__ = [
    "ADAPTER_CONFIG",
    "CLUSTER",
    "FILTERS",
    "HOSTED",
    "JOB",
    "LOOKUPS",
    "MODULES",
    "PLAYBOOKS",
    "ROLES",
    "RULEBOOKS",
    "SOURCES",
    "VARIABLES",
]

_RETRY = {"tries": 2, "delay": 0.01, "max_delay": 0.02}
_FAST: dict[str, Any] = {"timeout": 3, "api_timeout": 1, "retry": _RETRY}
_FILE: dict[str, Any] = {"source": {"file": path("good.json")}}
# The emulator of the environment variable speaks gRPC. Options with REST need another address.
_GCP: dict[str, Any] = {"project": "project-1", "cluster_id": "cls-1"}
_NODE: dict[str, Any] = {
    "path": path("node/config.json"),
    "healthz": "",
    "systemd": "systemctl",
    "attempts": 1,
    "backoff": 0,
    "restart_timeout": 1,
    "ready_timeout": 0.1,
    "window": 0,
}
_HOSTED: dict[str, Any] = {
    "control_plane_namespace": "clusters",
    "original": {"namespace": "sources", "name": "one", "key": "config.json"},
    "hosted_context": "mgmt-1",
    "syncer_image": "registry.example.com/syncer:1",
    "wait": False,
}

_GUESTS: dict[str, Any] = {"namespace_pattern": "clusters.*", "kubernetes": {"context": "mgmt-1"}}
_OBJECT: dict[str, Any] = {
    "object": {
        "apiVersion": "pullsecret.hyperfleet.io/v1alpha1",
        "kind": "PullSecret",
        "metadata": {"name": "one", "namespace": "sources", "uid": "1"},
        "spec": {"clusterId": "cls-1", "gcpProjectId": "project-1", "managementNamespace": "clusters"},
    },
    "kubernetes": {"context": "mgmt-1"},
}

MODULES: dict[str, dict[str, Any]] = {
    "check_variables": {"role": "provision", "playbook": ["cluster_id"]},
    "cloud_event": {
        "broker": {"type": "rabbitmq", "url": "amqp://127.0.0.1:9/", "topic": "events"},
        "cluster_ids": ["cls-1"],
        "timeout": 1,
    },
    "dockerconfig_merge": {**_FAST, **_FILE, "dest": path("made.json")},
    "gcp_pull_secret": {**_FAST, **_FILE, **_GCP},
    "guest_cluster_pull_secret": {**_FAST, **_FILE, **_GUESTS},
    "hosted_cluster_pull_secret": {**_FAST, **_HOSTED, "cluster_id": "cls-1"},
    "hosted_cluster_report": {"clusters": "tried_clusters", "result": "tried_result"},
    "hyperfleet_adapter": {**_FAST, "config": path("adapter.json"), "cluster_ids": ["cls-1"]},
    "hyperfleet_cluster_info": {**_FAST, "cluster_ids": ["cls-1"]},
    "hyperfleet_status": {
        **_FAST,
        "cluster_id": "cls-1",
        "adapter": "dns",
        "generation": 1,
        "conditions": [
            {"type": kind, "status": "True", "reason": "Done"} for kind in ("Applied", "Available", "Health")
        ],
    },
    "k8s_pull_secret": {**_FAST, **_FILE, "namespace": "clusters", "cluster_id": "cls-1"},
    "kubelet_auth_sync": {**_FAST, **_FILE, **_NODE, "lock_timeout": 0.1},
    "operator_check": {**_FAST, **_OBJECT},
    "operator_status": {**_FAST, **_OBJECT, "rows": [{"cluster": "cls-1", "version": "1"}]},
    "pull_secret_info": {**_FAST, **_FILE, **_GCP, "namespace": "clusters", "cluster_id": "cls-1"},
    "pull_secret_job": {"retry": _RETRY},
    "pull_secret_report": {
        "clusters": "tried_clusters",
        "secret_manager": "tried_result",
        "management": "tried_result",
    },
}

LOOKUPS = ("cluster_files", "cluster_variables", "given")

# Arguments after the list of clusters.
FILTERS: dict[str, list[Any]] = {
    "credential_for": ["quay.io/team/app:1"],
    "gcp_targets": [],
    "hosted_targets": [{"state": "present"}],
    "info_targets": [],
    "kubernetes_targets": [
        {"targets": [{"id": "cls-1", "place": "projects/project-1/secrets/one", "version": "1"}]}
    ],
}

# The variables of one cluster, in addition to those in a playbook's text.
VARIABLES: dict[str, dict[str, Any]] = {
    "provision": {
        "cluster_id": "cls-1",
        "gcp_project_id": "project-1",
        "management_namespace": "clusters",
        **_FILE,
    },
    "hosted_cluster": {"cluster_id": "cls-1", **_HOSTED},
}
VARIABLES["inspect"] = VARIABLES["provision"]


def _prefixed(name: str, options: dict[str, Any]) -> dict[str, Any]:
    return {f"{name}_{option}": value for option, value in options.items()}


ROLES: dict[str, dict[str, Any]] = {
    "adapter": {
        "adapter_config": path("adapter.json"),
        "adapter_cluster_ids": ["cls-1"],
        **_prefixed("adapter", _FAST),
    },
    "guest_cluster": _prefixed("guest_cluster", {**_FAST, **_FILE, **_GUESTS}),
    "hosted_cluster": {
        "hosted_cluster_clusters": [{"cluster_id": "cls-1", **_HOSTED}],
        **_prefixed("hosted_cluster", _FAST),
    },
    "node": {**_prefixed("node", {**_FAST, **_FILE, **_NODE}), "node_digest_key": "a-key"},
    "provision": {
        "provision_clusters": [VARIABLES["provision"]],
        **_prefixed("provision", _FAST),
    },
}

PLAYBOOKS: dict[str, dict[str, Any]] = {
    "adapter": {
        "adapter_config": path("adapter.json"),
        "cluster_ids": ["cls-1"],
        **_prefixed("adapter", _FAST),
    },
    "guest_cluster": ROLES["guest_cluster"],
    "hosted_cluster": {**VARIABLES["hosted_cluster"], **_prefixed("hosted_cluster", _FAST)},
    "inspect": {**VARIABLES["inspect"], **_prefixed("provision", _FAST)},
    "job": {"job_retry": _RETRY},
    "node": {"node_hosts": "localhost", **ROLES["node"]},
    "provision": {**VARIABLES["provision"], **_prefixed("provision", _FAST)},
    "reconcile": {"adapter_config": path("adapter.json"), **_prefixed("adapter", _FAST)},
}

HOSTED = {"cluster_id": "cls-1", **_HOSTED}
# The variables of a rulebook, and an event of its source.
RULEBOOKS: dict[str, tuple[dict[str, Any], Any]] = {
    "adapter": (
        {"adapter_config": path("adapter.json"), "adapter_run_dir": path("tmp/runs")},
        {"cluster_events": {"cluster_ids": ["cls-1"], "run": path("run"), "traceparents": {}}},
    ),
    "hosted_cluster": (
        {
            "hosted_clusters_file": path("clusters.yml"),
            "watch_rollout_timeout": 0,
            **{f"hosted_cluster_{name}": value for name, value in _FAST.items()},
        },
        {"kubernetes_secret": {"clusters": ["cls-1"], "targets": [HOSTED]}},
    ),
    "guest_cluster": (
        {
            "guest_cluster_source": {"kubernetes": {"namespace": "sources", "name": "one"}},
            "guest_cluster_namespace_pattern": "clusters-.*",
            **{f"guest_cluster_{name}": value for name, value in _FAST.items()},
        },
        {"kubernetes_secret": {"clusters": ["crs-pull-secret"], "targets": []}},
    ),
}

SOURCES: dict[str, list[dict[str, Any]]] = {
    "cluster_events": [
        {"adapter_config": path("adapter.json"), "batch": {"size": 10, "window": 1}},
        {
            "broker": {
                "type": "rabbitmq",
                "url": "amqp://127.0.0.1:9/",
                "topic": "events",
                "subscription": "one",
                "exchangeType": "topic",
                "prefetch": 10,
            },
            "run_dir": path("tmp/runs"),
            "start_timeout": 60,
            "tries": 3,
        },
        {
            "broker": {
                "type": "gcp-pubsub",
                "projectId": "project-1",
                "subscription": "one",
                "ackDeadline": 60,
            }
        },
        {
            "broker": {
                "type": "webhook",
                "listen": {"address": "127.0.0.1", "port": 8081},
                "path": "/events",
                "tokenFile": path("token"),
            }
        },
    ],
    "kubernetes_secret": [
        {
            "clusters": [
                {
                    "cluster_id": "cls-1",
                    "kubeconfig": path("kubeconfig"),
                    "watches": [{"namespace": "a", "name": "b"}],
                }
            ],
            "kubernetes": {"kubeconfig": path("kubeconfig"), "context": "mgmt-1", "validate_certs": True},
            "batch": {"delay": 1, "max": 500},
            "resync": 900,
            "silence": 330,
        },
        {
            "clusters": path("clusters.yml"),
            "kubernetes": {"host": "http://127.0.0.1:9", "api_key_file": path("token")},
        },
    ],
}

ADAPTER_CONFIG: dict[str, Any] = {
    "apiVersion": "hyperfleet.redhat.com/v1alpha1",
    "kind": "AdapterConfig",
    "metadata": {"name": "pullsecret-adapter", "namespace": "hyperfleet-system", "labels": {"team": "x"}},
    "spec": {
        "adapterType": "pullsecret",
        "execution": "inline",
        "deletion": {"store": "keep"},
        "criteria": {"preconditions": [{"expression": "spec.pullSecret.data != nil"}], "dependencies": []},
        "hyperfleetAPI": {
            "url": "http://127.0.0.1:9",
            "timeout": "2s",
            "flavour": "current",
            "tokenFile": path("token"),
            "headers": {"X-Tenant": "one"},
        },
        "jobTemplate": {
            "image": "registry.example.com/pullsecret-job:1",
            "resources": {
                "requests": {"cpu": "100m", "memory": "128Mi"},
                "limits": {"cpu": "1", "memory": "1Gi"},
            },
            "serviceAccountName": "job",
            "backoffLimit": 3,
            "activeDeadlineSeconds": 300,
            "ttlSecondsAfterFinished": 600,
            "env": [{"name": "A", "value": "b"}],
            "nodeSelector": {"kubernetes.io/os": "linux"},
            "tolerations": [{"key": "a", "operator": "Exists"}],
        },
        "broker": {
            "type": "rabbitmq",
            "url": "amqp://127.0.0.1:9/",
            "topic": "events",
            "subscription": "one",
        },
        "batch": {"size": 100, "window": "1s"},
        "kubernetes": {"kubeconfig": path("kubeconfig"), "validateCerts": True},
        "gcp": {"transport": "rest", "endpoint": "http://127.0.0.1:9"},
        "logging": {"level": "debug", "format": "json"},
        "metrics": {"port": 0, "address": "127.0.0.1", "perCluster": True},
    },
}

# The environment of a Job. The pull secret comes from the canary.
JOB: dict[str, str] = {
    "CLUSTER_ID": "cls-1",
    "CLUSTER_NAME": "first",
    "GCP_PROJECT_ID": "project-1",
    "MANAGEMENT_NAMESPACE": "clusters",
    "GCP_API_TIMEOUT": "1s",
    "TERMINATION_MESSAGE_PATH": path("message"),
}

CLUSTER: dict[str, Any] = {
    "id": "cls-3",
    "name": "third",
    "generation": 1,
    "labels": {"team": "platform"},
    "deleted_time": None,
    "spec": {
        "provider": "gcp",
        "gcp": {"projectId": "project-1", "replicationPolicy": "automatic"},
        "pullSecret": {"data": "{}", "name": "cls-3-pull-secret"},
    },
    "status": {
        "conditions": [{"type": "Ready", "status": "False", "reason": "R", "message": "m"}],
        "adapters": {"placement": {"available": "True", "data": {"namespace": "clusters"}}},
    },
}
