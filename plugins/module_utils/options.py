# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Argument specs that the modules share, and how top-level options become each target's defaults.

Options that a target may have carry no default in the specs, since a default could not
be told from a choice; the defaults are in ``DEFAULTS`` and are applied last.
"""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Sequence

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.errors import ConfigurationError
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.sources import source_spec

__all__ = [
    "document_options",
    "resolve_targets",
    "run_options",
    "with_targets",
]

# What a target gets when neither it nor the task says anything.
_DEFAULTS: Dict[str, Any] = {"state": "present", "precedence": "additional", "adopt": False}
# Merged key by key; every other option of a target replaces the task's.
_MERGED = ("labels", "annotations")
# A target that names one of these does not want the task's other one.
_EXCLUSIVE = (("source", "layers", "restore_version"),)


def document_options() -> Dict[str, Any]:
    """Where a target's docker config comes from: ``source``, or ``layers`` to be merged."""
    return dict(
        source=source_spec(),
        layers=dict(
            type="list",
            elements="dict",
            options=dict(
                name=dict(type="str", required=True),
                source=source_spec(required=True),
                optional=dict(type="bool", default=False),
            ),
        ),
        precedence=dict(type="str", choices=["additional", "original"]),
        policy=dict(type="dict"),
        drop=dict(type="list", elements="str"),
    )


def run_options() -> Dict[str, Any]:
    """How the batch runs and how the places are reached."""
    return dict(
        concurrency=dict(type="int", default=16),
        timeout=dict(type="float", default=300.0),
        api_timeout=dict(type="float", default=30.0),
        retry=dict(
            type="dict",
            default={},
            options=dict(
                tries=dict(type="int", default=5),
                delay=dict(type="float", default=1.0),
                max_delay=dict(type="float", default=30.0),
            ),
        ),
        digest_key=dict(type="str", no_log=True),
        progress_file=dict(type="path"),
        gcp=dict(
            type="dict",
            options=dict(
                transport=dict(type="str", choices=["grpc", "rest"], default="grpc"),
                endpoint=dict(type="str"),
                credentials_file=dict(type="path"),
                impersonate_service_account=dict(type="str"),
            ),
        ),
        kubernetes=dict(
            type="dict",
            options=dict(
                kubeconfig=dict(type="path"),
                context=dict(type="str"),
                host=dict(type="str"),
                api_key=dict(type="str", no_log=True),
                ca_cert=dict(type="path"),
                validate_certs=dict(type="bool", default=True),
            ),
        ),
        hyperfleet=dict(
            type="dict",
            options=dict(
                url=dict(type="str"),
                token_file=dict(type="path"),
                headers=dict(type="dict"),
                ca_cert=dict(type="path"),
                validate_certs=dict(type="bool", default=True),
            ),
        ),
    )


def with_targets(target_options: Mapping[str, Any]) -> Dict[str, Any]:
    """A module's whole spec: the target options at the top level, again in ``targets``, and the run's."""
    return dict(
        target_options,
        targets=dict(type="list", elements="dict", options=dict(target_options)),
        **run_options(),
    )


def resolve_targets(params: Mapping[str, Any], names: Sequence[str]) -> List[Dict[str, Any]]:
    """Each target with the task's options as its defaults; the task itself where there is no list.

    :raises ConfigurationError: two targets have one id.
    """
    top = {name: params.get(name) for name in names}
    if params.get("targets") is None:
        return [_with_defaults(top)]
    resolved = [_with_defaults(_over(top, target, names)) for target in params["targets"]]
    seen: Dict[str, int] = {}
    for index, target in enumerate(resolved):
        identity = target.get("id") or target.get("cluster_id")
        if identity is not None and seen.setdefault(identity, index) != index:
            raise ConfigurationError(
                f"targets {seen[identity] + 1} and {index + 1} have the same id {identity}"
            )
    return resolved


def _over(top: Mapping[str, Any], target: Mapping[str, Any], names: Sequence[str]) -> Dict[str, Any]:
    merged: Dict[str, Any] = {}
    for name in names:
        value = target.get(name)
        if name in _MERGED:
            merged[name] = {**(top.get(name) or {}), **(value or {})}
        elif value is not None:
            merged[name] = value
        elif not any(
            name in group and any(target.get(other) is not None for other in group) for group in _EXCLUSIVE
        ):
            merged[name] = top.get(name)
    return merged


def _with_defaults(target: Dict[str, Any]) -> Dict[str, Any]:
    for name, value in _DEFAULTS.items():
        if target.get(name) is None:
            target[name] = value
    return target
