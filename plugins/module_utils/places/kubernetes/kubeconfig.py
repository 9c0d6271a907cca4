# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Kubeconfig files, read by the official client once it is sure that they are files."""

from __future__ import annotations

import logging
import os
from typing import Any

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.atomic_file import read_regular
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.errors import (
    ConfigurationError,
    PermissionDenied,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.secrecy import is_name

__all__ = ["load", "shown"]


def shown(name: str, otherwise: str = "(not shown)") -> str:
    """A path or a name for a message."""
    return name if is_name(name) else otherwise


def load(kubeconfig: str | None, context: str | None, configuration: Any) -> bool:
    """Fill the official client's configuration in; whether its token is a plugin's, which may take its time.

    :param kubeconfig: a path or several with colons between, as in ``KUBECONFIG``, which counts where None.
    :param context: the file's current one where None.
    :raises ConfigurationError: a path leads to something that is no file.
    """
    from kubernetes.config.kube_config import KubeConfigLoader, KubeConfigMerger

    # The client reads the variable when it is imported, and never again.
    files = _files(kubeconfig or os.environ.get("KUBECONFIG") or "~/.kube/config")
    for path in files:
        _check(path)
    _hush()
    # What the client's load_kube_config does, which does not say who the user is.
    config = KubeConfigMerger(os.pathsep.join(files)).config
    if config is None:
        raise ConfigurationError("no usable kubeconfig: no configuration found")
    # Without a base path what is relative in a file is relative to that file.
    loader = KubeConfigLoader(config_dict=config, active_context=context, config_base_path=None)
    loader.load_and_set(configuration)
    user = _user(config, loader)
    if "exec" in user and not _has_credentials(configuration):
        raise _nothing_of(user["exec"])
    return "exec" in user or "auth-provider" in user


def _user(config: Any, loader: Any) -> Any:
    """The user that the context names, or nothing."""
    name = loader.current_context["context"].get("user")
    users = config.safe_get("users")
    entry = config["users"].get_with_name(name, safe=True) if name and users else None
    return entry["user"] if entry else {}


def _has_credentials(configuration: Any) -> bool:
    # The client makes "Bearer None" of a token that is null.
    token = configuration.api_key.get("BearerToken") or ""
    return token.strip() not in ("", "Bearer", "Bearer None") or bool(configuration.cert_file)


def _nothing_of(plugin: Any) -> PermissionDenied:
    """The client goes on without a token, and the API server would be blamed."""
    command = os.path.basename(str(plugin.safe_get("command") or ""))
    named = f"{command}: " if is_name(command) else ""
    return PermissionDenied(
        "the exec plugin of the kubeconfig's user gave no credentials",
        f"{named}run it by hand as the user who runs the task; its output is not shown here",
    )


def _hush() -> None:
    """The client logs a failed plugin's stderr, which may hold anything, and from there it is printed."""
    logging.getLogger().addFilter(_not_of_the_client)


def _not_of_the_client(record: logging.LogRecord) -> bool:
    return not record.pathname.endswith(os.path.join("kubernetes", "config", "kube_config.py"))


def _files(kubeconfig: str) -> list[str]:
    return [os.path.expanduser(path) for path in kubeconfig.split(os.pathsep) if path]


def _check(path: str) -> None:
    """The client would wait without end for a pipe's writer."""
    try:
        read_regular(path)
    except FileNotFoundError:
        # Of several, those that are not there do not count.
        return
    except OSError as error:
        raise ConfigurationError(
            f"the kubeconfig {shown(path, '(path not shown)')} cannot be read: {error.strerror}"
        ) from None
