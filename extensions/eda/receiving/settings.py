# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The event source's options, checked once.

The broker and the batch are those of the AdapterConfig that the playbook also reads. Without one, they are
given directly, in the same form.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.hyperfleet.pull_secret.extensions.eda.receiving.brokers.base import Broker
from ansible_collections.hyperfleet.pull_secret.extensions.eda.receiving.brokers.kinds import BROKERS
from ansible_collections.hyperfleet.pull_secret.extensions.eda.receiving.run_directories import default_base
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.adapter_settings import (
    BatchSettings,
    BrokerSettings,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import ConfigurationError
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.limits import is_path
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.shown import shown
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.adapter.config.config import (
    AdapterConfig,
    load_adapter_config,
)

__all__ = ["ClusterEventsSettings", "parse_cluster_events_settings"]

_OPTIONS = ("adapter_config", "broker", "batch", "run_dir", "start_timeout", "tries")
_PATHS = ("url_file", "ca_cert", "token_file")
_BATCH = ("size", "window")
_MOST = 1000

_OPTION = re.compile(r"\bbroker\.([a-z_]+)")


@dataclass(frozen=True)
class ClusterEventsSettings:
    """The source's options; times in seconds.

    :param size: maximum number of clusters in one run.
    :param window: how long events are collected, from the first one.
    :param start: how long a run may take to begin while the engine is idle.
    :param tries: how many runs may die with a cluster before its message is acknowledged anyway.
    :param config: the AdapterConfig; None without one.
    """

    broker: Broker
    run_dir: Path
    size: int = 1000
    window: float = 1.0
    start: float = 60.0
    tries: int = 3
    config: AdapterConfig | None = None


def parse_cluster_events_settings(arguments: Mapping[str, Any]) -> ClusterEventsSettings:
    """Parse the event source's ``args``.

    :raises ConfigurationError: at once, so that it is seen when the rulebook is started.
    """
    # Names with eda_ are the engine's.
    _check_only({name for name in arguments if not name.startswith("eda_")}, _OPTIONS, "cluster_events")
    path = arguments.get("adapter_config")
    config = _load(path) if path else None
    batch = _mapping(arguments.get("batch"), "batch")
    _check_only(batch, _BATCH, "batch")
    default_batch = (
        config.batch if config else BatchSettings(ClusterEventsSettings.size, ClusterEventsSettings.window)
    )
    size = int(_number(batch, "size", default_batch.size, 1, _MOST))
    return ClusterEventsSettings(
        broker=_broker(arguments.get("broker"), config, size),
        run_dir=_directory(arguments.get("run_dir")),
        size=size,
        window=_number(batch, "window", default_batch.window, 0.0, 600.0),
        start=_number(arguments, "start_timeout", ClusterEventsSettings.start, 0.1, 3600.0),
        tries=int(_number(arguments, "tries", ClusterEventsSettings.tries, 1, 1000)),
        config=config,
    )


def _load(path: Any) -> AdapterConfig:
    if not isinstance(path, str):
        raise ConfigurationError("adapter_config must be a path")
    if not path.startswith("/"):
        # Checked here, so that not every run fails.
        raise ConfigurationError(
            "adapter_config must be an absolute path", "playbooks run in another directory"
        )
    return load_adapter_config(path)


def _directory(given: Any) -> Path:
    if not given:
        return default_base()
    if not isinstance(given, str) or not is_path(given):
        raise ConfigurationError("run_dir must be the path of a directory")
    return Path(given)


def _broker(given: Any, config: AdapterConfig | None, size: int) -> Broker:
    """:raises ConfigurationError: no broker, two brokers, or an unusable one."""
    if bool(given) == (config is not None):
        raise ConfigurationError("exactly one of adapter_config and broker is required")
    if config is not None:
        options = _described(config.broker)
    else:
        options = {_snake(name): value for name, value in _mapping(given, "broker").items()}
    kind = options.get("type")
    broker = BROKERS.get(str(kind))
    if broker is None:
        raise ConfigurationError(f"broker.type must be one of {', '.join(BROKERS)}")
    if config is None:
        # An AdapterConfig was checked when it was read, and has the fields of all kinds.
        _check_only(options, ("type", *broker.OPTIONS), f"broker of type {kind}")
    wanted = {name: options.get(name) for name in broker.OPTIONS if options.get(name) is not None}
    for name in _PATHS:
        path = wanted.get(name)
        if path is not None and not (isinstance(path, str) and is_path(path)):
            raise ConfigurationError(f"broker.{name} must be the path of a file")
    # While a run is working, the next batch can reach the maximum size.
    try:
        return broker.validate(wanted, 2 * size)
    except ConfigurationError as error:
        if config is None:
            raise
        raise ConfigurationError(_OPTION.sub(_field, error.message), error.hint) from None


def _field(found: re.Match[str]) -> str:
    """Return an option's name in the AdapterConfig."""
    return "spec.broker." + re.sub(r"_([a-z])", lambda one: one.group(1).upper(), found.group(1))


def _described(broker: BrokerSettings) -> dict[str, Any]:
    """Return the AdapterConfig's broker as options; it was checked when it was read."""
    options: dict[str, Any] = {one.name: getattr(broker, one.name) for one in dataclasses.fields(broker)}
    if options["type"] not in BROKERS:
        raise ConfigurationError("spec.broker is missing; set it to the broker that events come from")
    options["project_id"] = options.get("project")
    options["listen"] = f"{broker.listen_address}:{broker.listen_port}"
    if options.get("queue"):
        # `queue` is the full name.
        options["subscription"] = options["subscription"] if options["type"] != "rabbitmq" else None
    return options


def _snake(name: Any) -> str:
    return re.sub(r"(?<=[a-z])([A-Z])", lambda found: "_" + found.group(1).lower(), str(name))


def _mapping(value: Any, where: str) -> Mapping[str, Any]:
    if value is None or value == "":
        return {}
    if not isinstance(value, Mapping):
        raise ConfigurationError(f"{where} must be a mapping")
    return value


def _check_only(given: Any, known: tuple[str, ...], where: str) -> None:
    unknown = sorted(shown(str(name)) for name in given if name not in known)
    if unknown:
        raise ConfigurationError(f"{where}: unknown keys: {', '.join(unknown)}")


def _number(options: Mapping[str, Any], name: str, default: float, least: float, most: float) -> float:
    value = options.get(name)
    if value is None or value == "":
        value = default
    try:
        found = float(value)
    except (TypeError, ValueError, OverflowError):
        found = least - 1
    if isinstance(value, bool) or not least <= found <= most:
        raise ConfigurationError(f"{name} must be a number from {least:g} to {most:g}")
    return found
