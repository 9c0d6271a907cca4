# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The environment variables of the syncer have the same limits as the module's options."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.syncer_limits import (
    LONGEST_LEASE,
    LONGEST_SECONDS,
    MOST_SLOTS,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.programs.syncer import program
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.programs.syncer.log import JsonLog
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.programs.syncer.settings import (
    SyncerSettingsError,
    settings_from_environment,
)

LEAST = {"NODE_NAME": "node-1", "KUBERNETES_SERVICE_HOST": "10.96.0.1"}


def test_what_is_not_said() -> None:
    settings = settings_from_environment(LEAST)
    assert (settings.port, settings.tls, settings.leases) == (443, True, ())
    assert settings.healthz == "http://127.0.0.1:10248/healthz"
    assert settings.health_window == 12


@pytest.mark.parametrize(
    ("name", "value", "field", "expected"),
    [
        ("SYNCER_HEALTH_WINDOW", "0", "health_window", 0),
        ("SYNCER_HEALTH_WINDOW", str(LONGEST_SECONDS), "health_window", LONGEST_SECONDS),
        ("SYNCER_HEALTH_WINDOW", "", "health_window", 12),
        ("SYNCER_HEALTHZ", "", "healthz", ""),
        ("SYNCER_HEALTHZ", "http://[::1]:65535/", "healthz", "http://[::1]:65535/"),
        ("SYNCER_LEASES", " a, b ,,a", "leases", ("a", "b")),
        ("SYNCER_LEASES", ",".join(f"s-{n}" for n in range(MOST_SLOTS)), "leases", None),
        ("SYNCER_LEASE_SECONDS", str(LONGEST_LEASE), "lease_seconds", LONGEST_LEASE),
        ("KUBERNETES_SERVICE_HOST", "fd00::1", "host", "fd00::1"),
        ("KUBERNETES_SERVICE_PORT", "65535", "port", 65535),
    ],
)
def test_what_makes_sense(name: str, value: str, field: str, expected: Any) -> None:
    found = getattr(settings_from_environment({**LEAST, name: value}), field)
    assert found == expected or (expected is None and len(found) == MOST_SLOTS)


NONSENSE = [
    ("NODE_NAME", ""),
    ("NODE_NAME", "Node 1"),
    ("NODE_NAME", "a" * 254),
    ("NODE_NAME", "node\udcff"),
    ("SYNCER_NAMESPACE", "../kube-system"),
    ("SYNCER_SECRET", "a/b"),
    ("SYNCER_RESTART", "sometimes"),
    ("SYNCER_LEASES", "a,B"),
    ("SYNCER_LEASES", ",".join(f"s-{n}" for n in range(MOST_SLOTS + 1))),
    *(
        ("SYNCER_HEALTH_WINDOW", value)
        for value in ("-1", "86401", "nan", "inf", "1e9", "soon", "\xb2", "12 s", "0x10")
    ),
    ("SYNCER_LEASE_SECONDS", "0"),
    ("SYNCER_LEASE_SECONDS", str(LONGEST_LEASE + 1)),
    ("SYNCER_RECHECK", "0"),
    *(
        ("SYNCER_HEALTHZ", f"http://127.0.0.1:{port}/healthz")
        for port in ("0", "65536", "99999", "\xb2", "-1", "", "1 0", "9" * 5000)
    ),
    ("SYNCER_HEALTHZ", "https://127.0.0.1:10248/healthz"),
    ("SYNCER_HEALTHZ", "http://169.254.169.254:80/latest"),
    ("SYNCER_HEALTHZ", "http://user@127.0.0.1:10248/"),
    ("SYNCER_HEALTHZ", "http://127.0.0.1:10248/\r\nHost: x"),
    ("SYNCER_UNIT", "kubelet"),
    ("SYNCER_UNIT", "kubelet.service\nx.service"),
    ("SYNCER_KUBELET_DIR", "var/lib/kubelet"),
    ("SYNCER_KUBELET_DIR", "/var\udcff"),
    ("SYNCER_ACCOUNT_DIR", "~"),
    ("KUBERNETES_SERVICE_HOST", ""),
    ("KUBERNETES_SERVICE_HOST", ".example.com"),
    ("KUBERNETES_SERVICE_HOST", "a b"),
    ("KUBERNETES_SERVICE_HOST", "\udcff"),
    ("KUBERNETES_SERVICE_HOST", "a" * 300),
    *(("KUBERNETES_SERVICE_PORT", value) for value in ("0", "65536", "\xb2", "-1", "tcp://10.0.0.1:443")),
    ("SYNCER_API", "http://10.0.0.1:80"),
    ("SYNCER_API", "http://127.0.0.1:0"),
]


@pytest.mark.parametrize(("name", "value"), NONSENSE)
def test_what_makes_none_is_one_line_and_an_exit_code(
    name: str, value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environ = {**LEAST, name: value}
    with pytest.raises(SyncerSettingsError) as caught:
        settings_from_environment(environ)
    assert name in str(caught.value)
    with (tmp_path / "log").open("wb") as stream:
        log = JsonLog(os.dup(stream.fileno()))
    monkeypatch.setattr(program, "JsonLog", lambda: log)
    assert program.main(environ) == 2
    (line,) = (tmp_path / "log").read_text().splitlines()
    said = json.loads(line)
    assert (said["event"], said["level"]) == ("ended", "error")
    assert name in said["why"]


def test_all_slots_fit_into_one_variable() -> None:
    """The kernel's MAX_ARG_STRLEN allows 32 pages for one string."""
    from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.hosted_cluster.names import (
        slot_name,
    )

    text = "SYNCER_LEASES=" + ",".join(slot_name(number) for number in range(MOST_SLOTS))
    assert len(text) < 128 * 1024
    assert (
        len(settings_from_environment({**LEAST, "SYNCER_LEASES": text.partition("=")[2]}).leases)
        == MOST_SLOTS
    )
