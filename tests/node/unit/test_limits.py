# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Numbers too large for a clock are rejected before anything is written; the largest allowed ones work."""

from __future__ import annotations

import math
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import ConfigurationError
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.kubelet.result import (
    SECONDS,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import kubelet_auth_sync
from tests.node.unit.support import Place, config, document

MOST_ATTEMPTS, MOST_SECONDS = 100, 86400.0
TOO_MUCH: list[dict[str, Any]] = [
    *({name: value} for name in SECONDS for value in (1e300, math.inf, math.nan, -1.0, 2.0**70)),
    *({"attempts": value} for value in (0, -1, 101, 10**9, 2**70)),
]


@pytest.mark.parametrize("options", TOO_MUCH, ids=str)
def test_too_much_is_refused_before_the_write(place: Place, options: dict[str, Any]) -> None:
    (name,) = options
    with pytest.raises(ConfigurationError, match=f"^{name} must be a number"):
        place.sync(**options).apply(config(quay_io="new"))
    params = {name: row.get("default") for name, row in kubelet_auth_sync.spec().items()}
    params |= {"path": str(place.path), "source": {"inline": document(quay_io="new")}, **options}
    with pytest.raises(ConfigurationError, match=f"^{name} must be a number"):
        kubelet_auth_sync.run({**params, "restart": "never"}, check_mode=False, diff=False)
    assert place.beside() == []


def test_as_much_as_is_taken(place: Place) -> None:
    place.systemd.script = ["failed"] * MOST_ATTEMPTS
    most = dict.fromkeys(SECONDS, MOST_SECONDS)
    result = place.sync(attempts=MOST_ATTEMPTS, **{**most, "window": 1.0}).apply(config(quay_io="new"))
    assert result.state == "failed"
    assert f"({MOST_ATTEMPTS} attempts)" in result.message
    assert result.rolled_back
