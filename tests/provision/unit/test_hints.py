# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The hints of errors after something was forgotten or misspelt."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.google.auth import (
    GoogleConnection,
    credentials_for,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.kubernetes.connection import (
    kubernetes_connection,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import (
    ConfigurationError,
    PermissionDenied,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.summary import state_of
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.hyperfleet_spec import (
    HyperFleetSource,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.run_settings import RunSettings


def test_a_credentials_file_that_does_not_exist(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "no-such-key.json"
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(path))
    with pytest.raises(PermissionDenied) as caught:
        credentials_for(GoogleConnection())
    assert f"GOOGLE_APPLICATION_CREDENTIALS names a file that does not exist: {path}; " in str(caught.value)
    monkeypatch.delenv("GOOGLE_APPLICATION_CREDENTIALS")
    with pytest.raises(PermissionDenied, match=r"gcp\.credentials_file cannot be used \(it does not exist: "):
        credentials_for(GoogleConnection(credentials_file=str(path)))


@pytest.mark.parametrize(
    ("options", "environ", "said"),
    [
        ({}, {"K8S_AUTH_HOST": "https://h"}, "check K8S_AUTH_SSL_CA_CERT, "),
        (
            {},
            {"K8S_AUTH_HOST": "https://h", "K8S_AUTH_CA_CERT": "/ca"},
            "check K8S_AUTH_CA_CERT and K8S_AUTH_HOST",
        ),
        ({"host": "https://h"}, {}, "check kubernetes.ca_cert and kubernetes.host"),
        ({}, {}, "check kubernetes.ca_cert, or the kubeconfig's certificate-authority and server"),
    ],
)
def test_a_certificate_that_is_not_trusted(
    options: dict[str, str], environ: dict[str, str], said: str
) -> None:
    assert kubernetes_connection(options, environ=environ).trust_hint().startswith(said)


def test_a_cluster_without_a_source_is_told_where_it_was_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HYPERFLEET_API_URL", raising=False)
    settings = RunSettings()
    for _time in range(2):
        with pytest.raises(ConfigurationError) as caught:
            HyperFleetSource(settings).read({"cluster_id": "cls-1"}, settings.deadline())
        assert str(caught.value) == (
            "no address of the HyperFleet API; set hyperfleet.url or HYPERFLEET_API_URL; a cluster without source "
            "or layers is read from the HyperFleet API; if its pull secret is elsewhere, give it a source"
        )


def test_a_table_shows_what_was_done_before_a_failure() -> None:
    assert state_of({"failed": True, "actions": ["created"]}) == "created, failed"
    assert state_of({"failed": True, "actions": []}) == "failed"
