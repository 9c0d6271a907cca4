# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Arguments at which Ansible's own validation ends with an exception, at both doors to a module's work."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.entry import validated
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.errors import ConfigurationError
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.run import key_of_digests
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import dockerconfig_merge
from ansible_collections.hyperfleet.pull_secret.plugins.modules import dockerconfig_merge as module

GOOD = {"id": "a", "source": {"env": "A"}}
WRONG: list[tuple[dict[str, Any], str]] = [
    ({"source": 0}, "source"),
    ({"source": 7411}, "source"),
    ({"retry": 7411}, "retry"),
    ({"gcp": 7411}, "gcp"),
    ({"kubernetes": 7411}, "kubernetes"),
    ({"hyperfleet": 7411}, "hyperfleet"),
    ({"concurrency": float("inf")}, "concurrency"),
    ({"retry": {"tries": float("inf")}}, "retry.tries"),
    ({"source": {"kubernetes": 7411}}, "source.kubernetes"),
    ({"layers": [{"name": "a", "source": {"env": "A"}}, {"name": "b", "source": 7411}]}, "layers[1].source"),
    ({"targets": [GOOD, {"id": "b", "source": 7411}]}, "targets[1].source"),
]
# JSON makes strings of keys, so a module's own process never sees these.
HERE = [({name: {7411: 2}}, name) for name in ("source", "retry", "gcp", "kubernetes", "hyperfleet")]


@pytest.mark.parametrize(("arguments", "option"), [*WRONG, *HERE, ({"layers": {7411: 2}}, "layers")])
def test_what_breaks_validation_is_named_and_not_quoted(arguments: dict[str, Any], option: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        validated(dockerconfig_merge.target_options, arguments)
    assert option in str(caught.value)
    assert "7411" not in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "option"), [WRONG[1], WRONG[6], WRONG[10]], ids=["mapping", "number", "target"]
)
def test_in_a_process_of_its_own_too(arguments: dict[str, Any], option: str) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-m", module.__name__],
        input=json.dumps({"ANSIBLE_MODULE_ARGS": arguments}).encode(),
        env=environment,
        stdout=subprocess.PIPE,
        check=False,
    )
    told = json.loads(done.stdout)
    assert told["failed"] is True
    assert told["msg"].startswith(f"{option} is not of the type")
    assert b"7411" not in done.stdout


def test_a_digest_key_that_cannot_be_encoded_is_not_told() -> None:
    with pytest.raises(ConfigurationError, match="digest_key") as caught:
        key_of_digests("example-password\ud800")
    assert "example" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert key_of_digests("ä") == "ä".encode()
