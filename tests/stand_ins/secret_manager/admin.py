# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lab's own routes on the REST port: faults, counters, seed, reset."""

from __future__ import annotations

import json
from typing import Any

from .calls import Calls
from .errors import ApiError, invalid, not_found
from .faults import FaultTable
from .seed import seed
from .store import Store

__all__ = ["Admin"]


class Admin:
    """Routes below `/_lab/`; bodies and answers are JSON.

    POST faults (a rule or a list), GET faults, DELETE faults
    GET calls, DELETE calls, POST calls {"per_resource": bool}
    POST seed (a secret or a list), POST reset (secrets, faults, counters), GET health
    """

    def __init__(self, store: Store, faults: FaultTable, calls: Calls) -> None:
        self._store = store
        self._faults = faults
        self._calls = calls

    def handle(self, verb: str, path: str, body: bytes) -> Any:
        """The answer as JSON data; INVALID_ARGUMENT, without a word of the body, if that is wrong."""
        try:
            data = json.loads(body) if body else {}
        except ValueError:
            raise invalid("The body is not JSON.") from None
        try:
            return self._dispatch(verb, path.removeprefix("/_lab/"), data)
        except ApiError:
            raise
        except ValueError as error:
            raise invalid(str(error)) from None
        except (TypeError, KeyError, AttributeError) as error:
            raise invalid(f"The body does not fit: {type(error).__name__}.") from None

    def _dispatch(self, verb: str, what: str, data: Any) -> Any:
        match verb, what:
            case "POST", "faults":
                for rule in data if isinstance(data, list) else [data]:
                    self._faults.add(**rule)
                return {"faults": self._faults.snapshot()}
            case "GET", "faults":
                return {"faults": self._faults.snapshot()}
            case "DELETE", "faults":
                self._faults.clear()
                return {}
            case "GET", "calls":
                return self._calls.snapshot()
            case "POST", "calls":
                self._calls.per_resource = bool(data["per_resource"])
                return {"per_resource": self._calls.per_resource}
            case "DELETE", "calls":
                self._calls.reset()
                return {}
            case "POST", "seed":
                return {"secrets": seed(self._store, data if isinstance(data, list) else [data])}
            case "POST", "reset":
                self._store.reset()
                self._faults.clear()
                self._calls.reset()
                return {}
            case "GET", "health":
                return {"secrets": len(self._store)}
        raise not_found("The requested URL was not found on this server.")
