# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The API server's rules for the user's settings of the syncer's pods.

The API server would refuse the DaemonSet only after the account, the Leases and the Secret were written.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ...model.errors import ConfigurationError
from ...model.naming import KUBERNETES_NAME, texts
from ...model.shown import is_name
from ...places.kubernetes_secret.compare import parse_quantity

__all__ = ["checked_directory", "checked_node_selector", "checked_resources", "checked_tolerations"]

_LABEL = re.compile(r"[A-Za-z0-9]([\w.-]{0,61}[A-Za-z0-9])?\Z", re.ASCII)
_DBUS = "/run/dbus"
_COMPUTE = ("cpu", "memory", "ephemeral-storage")
_RESOURCE = re.compile(
    r"(?:cpu|memory|ephemeral-storage|hugepages-[0-9A-Za-z]{1,16}|[a-z0-9.-]{1,253}/[A-Za-z0-9_.-]{1,63})\Z"
)


def checked_directory(path: str) -> str:
    """The kubelet's directory, a volume of the pod and where it is mounted.

    :raises ConfigurationError: it cannot be.
    """
    if not path.startswith("/") or path.rstrip("/") == "" or not is_name(path):
        raise ConfigurationError("kubelet_dir must be an absolute path below /")
    if ".." in path.split("/") or ":" in path:
        raise ConfigurationError("kubelet_dir must not contain .. or a colon")
    if path.rstrip("/") == _DBUS:
        raise ConfigurationError(f"kubelet_dir is {_DBUS}, which the syncer needs for another volume")
    return path.rstrip("/")


def checked_node_selector(given: Mapping[Any, Any] | None) -> dict[str, str]:
    """:raises ConfigurationError: a key or a value can be no label's."""
    labels = texts("syncer_node_selector", given)
    for key, value in labels.items():
        _check_key("syncer_node_selector", key)
        _check_value("syncer_node_selector", value)
    return labels


def checked_tolerations(given: Sequence[Mapping[str, Any]] | None) -> tuple[Mapping[str, Any], ...]:
    """As a pod has them; without any it tolerates all.

    :raises ConfigurationError: one says what it cannot.
    """
    if given is None:
        return ({"operator": "Exists"},)
    names = {"toleration_seconds": "tolerationSeconds"}
    made = []
    for number, one in enumerate(given):
        where = f"syncer_tolerations[{number}]"
        key, exists = one.get("key"), one.get("operator") == "Exists"
        if key:
            _check_key(where, key)
        elif not exists:
            raise ConfigurationError(f"{where} has no key; only the operator Exists may omit it")
        if exists and one.get("value"):
            raise ConfigurationError(f"{where} has a value, which the operator Exists does not take")
        _check_value(where, one.get("value") or "")
        if one.get("toleration_seconds") is not None and one.get("effect") != "NoExecute":
            raise ConfigurationError(f"{where}: toleration_seconds needs the effect NoExecute")
        made.append({names.get(name, name): value for name, value in one.items() if value is not None})
    return tuple(made)


def checked_resources(given: Mapping[str, Any] | None) -> dict[str, dict[str, str]]:
    """:raises ConfigurationError: they are invalid, or a request exceeds its limit."""
    made: dict[str, dict[str, str]] = {}
    for kind, amounts in (given or {}).items():
        if kind not in ("requests", "limits") or not isinstance(amounts, Mapping):
            raise ConfigurationError("syncer_resources must have requests and limits only, each a mapping")
        for name, amount in amounts.items():
            known = bool(_RESOURCE.match(str(name)))
            where = f"syncer_resources.{kind}.{name if known else '?'}"
            if not known:
                raise ConfigurationError(f"{where} is not a resource, such as cpu or memory")
            try:
                number = parse_quantity(str(amount))
            except ValueError:
                raise ConfigurationError(f"{where} is not a quantity such as 35Mi") from None
            if number < 0:
                raise ConfigurationError(f"{where} must be 0 or greater")
            made.setdefault(kind, {})[str(name)] = str(amount)
    limits = made.get("limits", {})
    for name, amount in made.get("requests", {}).items():
        where = f"syncer_resources.requests.{name}"
        if name in limits and parse_quantity(amount) > parse_quantity(limits[name]):
            raise ConfigurationError(f"{where} is more than its limit")
        if name not in _COMPUTE and (
            name not in limits or parse_quantity(amount) != parse_quantity(limits[name])
        ):
            raise ConfigurationError(
                f"{where} needs an equal value in syncer_resources.limits; only {', '.join(_COMPUTE)} may differ"
            )
    return made


def _check_key(where: str, key: str) -> None:
    prefix, slash, name = key.rpartition("/")
    if not _LABEL.match(name) or (slash and not KUBERNETES_NAME.match(prefix)):
        raise ConfigurationError(f"{where}: the key is not valid; an example is example.com/name")


def _check_value(where: str, value: str) -> None:
    if value and not _LABEL.match(value):
        raise ConfigurationError(
            f"{where}: the value must be at most 63 letters, digits, dots, dashes and underscores, with a "
            "letter or digit at both ends"
        )
