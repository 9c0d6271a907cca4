# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Kubeconfig files, read by the official client once it is sure that they are files."""

from __future__ import annotations

import errno
import logging
import os
import re
from typing import Any

from ...model.errors import ConfigurationError, PermissionDenied
from ...model.shown import is_name, shown_path
from ...runtime.atomic_file import read_regular
from ...runtime.yaml_text import NotYAML, load_yaml

__all__ = ["load", "problem"]


# What the client says of names and keys. A node's own name, after "in", may be its whole content.
_SENTENCES = (
    (re.compile(r"Expected key ([\w-]+) in "), "it, or an entry of it, has no {}"),
    (
        re.compile(
            r"Expected (?:only one )?object with name (.+) in (?:.*/)?(contexts|clusters|users) list\Z"
        ),
        "not exactly one entry {} in its {}",
    ),
    (re.compile(r"File does not exist: (.+)\Z"), "{} does not exist, or is no file"),
    (re.compile(r"file is empty\Z"), "it is empty"),
)


def load(kubeconfig: str | None, context: str | None, configuration: Any) -> bool:
    """Fill the official client's configuration in; whether its token is a plugin's, which may take its time.

    :param kubeconfig: a path or several with colons between, as in ``KUBECONFIG``, which counts where None.
    :param context: the file's current one where None.
    :raises ConfigurationError: a path leads to something that is no file.
    """
    from kubernetes.config.kube_config import KubeConfigLoader, KubeConfigMerger

    files = _files(_wanted(kubeconfig))
    for path in files:
        _check(path)
    _hush()
    # What the client's load_kube_config does, which does not say who the user is.
    config = _merged(KubeConfigMerger, files)
    # Without a base path what is relative in a file is relative to that file.
    loader = KubeConfigLoader(config_dict=config, active_context=context, config_base_path=None)
    loader.load_and_set(configuration)
    user = _user(config, loader)
    if "exec" in user and not _has_credentials(configuration):
        raise _nothing_of(user["exec"])
    plugin = "exec" in user or "auth-provider" in user
    if not plugin:
        # It would set again, at each request, what is in the files and was read once.
        configuration.refresh_api_key_hook = None
    return plugin


def problem(error: Exception, kubeconfig: str | None) -> ConfigurationError:
    """What to say of an exception of the official client's; its text may quote a user's token."""
    text = " ".join(str(error).split())
    said = type(error).__name__
    for pattern, words in _SENTENCES:
        found = pattern.search(text)
        if found and all(is_name(part) for part in found.groups()):
            said = words.format(*found.groups())
            break
    if isinstance(error, OSError) and isinstance(error.filename, str):
        said = f"{shown_path(error.filename)}: {error.strerror}"
    named = ", ".join(shown_path(path) for path in _files(_wanted(kubeconfig)))
    return ConfigurationError(f"no usable kubeconfig: {named}: {said}")


def _wanted(kubeconfig: str | None) -> str:
    # The client reads the variable when it is imported, and never again.
    return kubeconfig or os.environ.get("KUBECONFIG") or "~/.kube/config"


def _merged(merger: Any, files: list[str]) -> Any:
    """The files as one; raises a ConfigurationError that names the one that is at fault."""
    try:
        config = merger(os.pathsep.join(files)).config
    except Exception:
        for path in files:
            try:
                merger(path)
            except Exception as error:  # noqa: BLE001 - likewise
                raise problem(error, path) from None
        raise
    if config is None:
        named = ", ".join(map(shown_path, files))
        raise ConfigurationError(f"no usable kubeconfig: {named}: {os.strerror(errno.ENOENT)}")
    return config


def _user(config: Any, loader: Any) -> Any:
    """The user that the context names, or nothing."""
    name = loader.current_context["context"].get("user")
    users = config.safe_get("users")
    entry = config["users"].get_with_name(name, safe=True) if name and users else None
    return entry["user"] if entry else {}


def _has_credentials(configuration: Any) -> bool:
    # Older clients have the other name. "Bearer None" is what they make of a token that is null.
    token = configuration.api_key.get("BearerToken") or configuration.api_key.get("authorization") or ""
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
    """The client would wait without end for a pipe's writer, and for the end of a bomb of merges."""
    try:
        load_yaml(read_regular(path)[0])
    except FileNotFoundError:
        # Of several, those that are not there do not count.
        return
    except OSError as error:
        raise ConfigurationError(
            f"the kubeconfig {shown_path(path)} cannot be read: {error.strerror}"
        ) from None
    except NotYAML as error:
        raise ConfigurationError(f"no usable kubeconfig: {shown_path(path)}: it {error}") from None
