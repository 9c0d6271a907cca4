# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A callback like a log shipper's: writes every event's result and task arguments to a file."""

from __future__ import annotations

import json
import os
from typing import Any

from ansible.plugins.callback import CallbackBase

DOCUMENTATION = """
name: canary_recorder
type: notification
short_description: Write everything that a callback receives to CANARY_RECORD
description: For the secrecy tests only.
"""


class CallbackModule(CallbackBase):  # type: ignore[misc]  # ansible has no types
    """Records every event."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "notification"
    CALLBACK_NAME = "canary_recorder"

    def v2_on_any(self, *args: Any, **kwargs: Any) -> None:
        """Write everything that the event's first argument refers to."""
        shown: dict[str, Any] = {"type": type(args[0]).__name__ if args else None}
        for name in ("_result", "result", "_task_fields", "task_fields"):
            value = getattr(args[0], name, None) if args else None
            if value is not None and not callable(value):
                shown[name] = value
        with open(os.environ["CANARY_RECORD"], "a", encoding="utf-8", errors="surrogateescape") as stream:
            stream.write(json.dumps(shown, default=repr, ensure_ascii=False) + "\n")
