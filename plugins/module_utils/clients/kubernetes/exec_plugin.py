# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Runs exec plugins of kubeconfigs: programs that print an ExecCredential.

The protocol is client.authentication.k8s.io/v1 (and v1beta1): input in KUBERNETES_EXEC_INFO, output on
standard output. The program's output may be a credential and is never shown.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping
from typing import Any, cast

from ...model.errors import (
    ConfigurationError,
    PermissionDenied,
    PullSecretError,
    TimedOut,
)
from ...model.shown import shown

__all__ = ["credentials"]

_LARGEST = 1024 * 1024


async def credentials(plugin: Mapping[str, Any], cluster: Mapping[str, Any], limit: float) -> dict[str, Any]:
    """Return the ``status`` of the plugin's output: token, clientCertificateData and clientKeyData.

    :param cluster: the kubeconfig's cluster, which is passed to a plugin that requests it.
    :param limit: seconds, after which the program is killed.
    """
    command = plugin.get("command")
    if not isinstance(command, str) or not command:
        raise ConfigurationError("the exec plugin of the kubeconfig's user has no command")
    named = f"the exec plugin {shown(os.path.basename(command))}"
    try:
        process = await asyncio.create_subprocess_exec(
            command,
            *[str(argument) for argument in plugin.get("args") or []],
            env=_environment(plugin, cluster),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise ConfigurationError(f"{named} cannot be started: {reason}") from None
    try:
        output = await asyncio.wait_for(_output(process), limit)
    except asyncio.TimeoutError:
        raise TimedOut(f"{named} did not answer within {limit:g} s") from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        raise _nothing(named)
    try:
        status = json.loads(output)["status"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise _nothing(named) from None
    if not isinstance(status, dict) or not (status.get("token") or status.get("clientCertificateData")):
        raise _nothing(named)
    return status


async def _output(process: asyncio.subprocess.Process) -> bytes:
    # stdout is a pipe.
    stdout = cast(asyncio.StreamReader, process.stdout)
    output = b""
    while len(output) < _LARGEST and (part := await stdout.read(_LARGEST)):
        output += part
    await process.wait()
    return output


def _environment(plugin: Mapping[str, Any], cluster: Mapping[str, Any]) -> dict[str, str]:
    spec: dict[str, Any] = {"interactive": False}
    if plugin.get("provideClusterInfo"):
        names = (
            "server",
            "tls-server-name",
            "insecure-skip-tls-verify",
            "certificate-authority-data",
            "proxy-url",
        )
        spec["cluster"] = {name: cluster[name] for name in names if cluster.get(name)}
    info = {"apiVersion": plugin.get("apiVersion"), "kind": "ExecCredential", "spec": spec}
    given = plugin.get("env") or []
    return {
        **os.environ,
        **{str(one.get("name")): str(one.get("value")) for one in given if isinstance(one, Mapping)},
        "KUBERNETES_EXEC_INFO": json.dumps(info),
    }


def _nothing(named: str) -> PullSecretError:
    return PermissionDenied(
        f"{named} gave no credentials",
        "run it by hand as the user who runs ansible-rulebook; its output is not shown here",
    )
