# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The event source refuses numbers and paths that it cannot use, and names the setting."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.extensions.eda.receiving.settings import (
    parse_cluster_events_settings,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import ConfigurationError

RABBITMQ = {"type": "rabbitmq", "exchange": "e", "queue": "q"}


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"tries": 1e300}, "tries must be a number from 1 to 1000"),
        ({"start_timeout": float("nan")}, "start_timeout must be a number from 0.1 to 3600"),
        ({"batch": {"size": 10**400}}, "size must be a number from 1 to 1000"),
        ({"batch": {"window": 601}}, "window must be a number from 0 to 600"),
        ({"run_dir": "/tmp/a\0b"}, "run_dir must be the path of a directory"),
        ({"run_dir": 5}, "run_dir must be the path of a directory"),
        (
            {"broker": {"type": "webhook", "token_file": "/a\0"}},
            "broker.token_file must be the path of a file",
        ),
        ({"broker": {**RABBITMQ, "url_file": "/a\0"}}, "broker.url_file must be the path of a file"),
    ],
)
def test_settings_that_cannot_be_used_are_refused(arguments: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        parse_cluster_events_settings({"broker": {"type": "webhook"}, **arguments})
    assert str(caught.value) == complaint
