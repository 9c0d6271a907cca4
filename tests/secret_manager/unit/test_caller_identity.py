# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The caller and the IAM binding that a permission error names, with google-auth's credentials."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import google.auth.credentials
import pytest
from google.auth import compute_engine, identity_pool, impersonated_credentials
from google.oauth2 import credentials as personal
from google.oauth2 import service_account

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.google.auth import (
    CallerIdentity,
    GoogleConnection,
    credentials_for,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.google.errors import (
    NoToken,
    PlainApiRefused,
    translate_google_error,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import ConfigurationError

ACCOUNT = "manager@customer-prod-12345.iam.gserviceaccount.com"
PERSON: Any = personal.Credentials(token="example-token")


class _Signer:
    key_id = "example"


def _pool() -> Any:
    url = f"https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/{ACCOUNT}:generateAccessToken"
    return identity_pool.Credentials(
        audience="//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/k",
        subject_token_type="urn:ietf:params:oauth:token-type:jwt",
        credential_source={"file": "/none"},
        service_account_impersonation_url=url,
    )


def _key() -> Any:
    return service_account.Credentials(_Signer(), ACCOUNT, "https://oauth2.example.com/token")


def _refusal(credentials: Any, **connection: Any) -> str:
    caller = CallerIdentity(credentials, GoogleConnection(**connection))
    refused = PlainApiRefused(403, "PERMISSION_DENIED", "", None)
    return str(translate_google_error(refused, "GetSecret", "projects/p-1/secrets/s", caller))


@pytest.mark.parametrize(
    ("credentials", "connection", "who"),
    [
        pytest.param(PERSON, {}, "the identity of the application default credentials", id="a person"),
        pytest.param(_key(), {}, f"service account {ACCOUNT}", id="a key"),
        pytest.param(
            google.auth.credentials.AnonymousCredentials(),
            {"plaintext": True},
            "an anonymous caller (connection without TLS)",
            id="an emulator",
        ),
    ],
)
def test_where_no_binding_is_needed_none_is_named(credentials: Any, connection: Any, who: str) -> None:
    """A user at a laptop has no Kubernetes service account."""
    assert _refusal(credentials, **connection) == (
        f"PERMISSION_DENIED: GetSecret on projects/p-1/secrets/s as {who}; check that {who} has "
        "secretmanager.secrets.get in project p-1 (roles/secretmanager.admin includes it)"
    )


def test_workload_identity_has_the_pods_binding_checked() -> None:
    ending = (
        "Kubernetes service account of the pod, if this runs in one, has roles/iam.workloadIdentityUser on "
    )
    assert _refusal(_pool()).endswith(f"; check also that the {ending}{ACCOUNT}")
    # The account is unknown before the first token.
    unknown = compute_engine.Credentials()
    assert _refusal(unknown).endswith(f"{ending}the Google service account")


@pytest.mark.parametrize("connection", [{}, {"impersonate": ACCOUNT}], ids=["a file", "the option"])
def test_impersonation_has_the_other_accounts_right_checked(connection: dict[str, str]) -> None:
    impersonated = impersonated_credentials.Credentials(PERSON, ACCOUNT, ["scope"])
    assert _refusal(impersonated, **connection).endswith(
        f"; check also that the account that impersonates {ACCOUNT} has roles/iam.serviceAccountTokenCreator on "
        "it, and that its own credentials are still valid"
    )


def test_a_kubernetes_account_without_a_google_one_is_no_service_account() -> None:
    metadata = compute_engine.Credentials(service_account_email="p-1.svc.id.goog")
    assert "p-1.svc.id.goog" not in _refusal(metadata)


def test_without_a_token_no_permission_is_asked_for() -> None:
    """Without a token Secret Manager checks no permission."""

    def refusal(credentials: Any) -> str:
        caller = CallerIdentity(credentials, GoogleConnection())
        failed = NoToken("RefreshError", retryable=False)
        return str(translate_google_error(failed, "GetSecret", "projects/p-1/secrets/s", caller))

    assert refusal(PERSON).endswith(
        "(RefreshError); check that the credentials are still valid, or log in again "
        "(gcloud auth application-default login)"
    )
    assert refusal(_pool()).endswith(
        "(RefreshError); check that the Kubernetes service account of the pod, if this runs in one, has "
        f"roles/iam.workloadIdentityUser on {ACCOUNT}"
    )


def test_a_file_that_the_environment_names_is_not_called_an_option(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path))
    with pytest.raises(
        ConfigurationError,
        match=r"^the file that GOOGLE_APPLICATION_CREDENTIALS names, .*, cannot be used \(Is",
    ):
        credentials_for(GoogleConnection())
