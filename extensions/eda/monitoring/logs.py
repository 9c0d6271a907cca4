# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The event source's log in the form of the adapter contract: one JSON object per line, none about one cluster.

ansible-rulebook sets a handler and the level WARNING on the root logger. This module changes only the loggers
below ``hyperfleet.pull_secret``. For JSON, they get their own handler, and do not propagate to the root logger.
For text, they propagate to it, with the configured level.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import time
from typing import Any, Callable, TextIO

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import ConfigurationError

__all__ = ["configure_logging"]

_COMPONENT = "pullsecret-adapter"
_ROOT = "hyperfleet.pull_secret"
_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warn": logging.WARNING, "error": logging.ERROR}
_LONGEST = 4000


class _JsonFormatter(logging.Formatter):
    """Formats a record as a line of JSON. An exception's text could contain a secret, so only its type and place
    are logged.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, without a newline."""
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        line: dict[str, Any] = {
            "timestamp": f"{stamp}.{int(record.created % 1 * 1000):03d}Z",
            "level": _level(record.levelno),
            "component": _COMPONENT,
        }
        try:
            line["message"] = record.getMessage()[:_LONGEST]
        except (TypeError, ValueError):
            line["message"] = str(record.msg)[:_LONGEST]
        if record.exc_info and record.exc_info[1] is not None:
            line["error"] = _where(record.exc_info[1])
        return json.dumps(line)


def configure_logging(
    *, form: str = "json", level: str = "info", stream: TextIO | None = None
) -> Callable[[], None]:
    """Configure the log, and return a function that restores it.

    :param form: ``json`` or ``text``.
    :param level: ``debug``, ``info``, ``warn`` or ``error``.
    :param stream: the output; by default standard error, as in ansible-rulebook.
    :raises ConfigurationError: the form or the level is invalid.
    """
    if form not in ("json", "text"):
        raise ConfigurationError("logging.format must be json or text")
    if level not in _LEVELS:
        raise ConfigurationError(f"logging.level must be one of {', '.join(_LEVELS)}")
    logger = logging.getLogger(_ROOT)
    before = logger.level, logger.propagate
    handler: logging.Handler | None = None
    logger.setLevel(_LEVELS[level])
    if form == "json":
        handler = logging.StreamHandler(stream or sys.stderr)
        handler.setFormatter(_JsonFormatter())
        logger.addHandler(handler)
        logger.propagate = False

    def undo() -> None:
        if handler is not None:
            logger.removeHandler(handler)
        logger.setLevel(before[0])
        logger.propagate = before[1]

    return undo


def _level(number: int) -> str:
    """Return the adapter contract's name of a level: ``warn``, and nothing above ``error``."""
    fitting = [name for name, least in _LEVELS.items() if number >= least]
    return fitting[-1] if fitting else "debug"


def _where(error: BaseException) -> str:
    trace, place = error.__traceback__, "an unknown place"
    while trace is not None:
        place = f"{os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno}"
        trace = trace.tb_next
    return f"{type(error).__name__} at {place}"
