# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The argument spec decides which arguments are secret."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import (
    k8s_pull_secret,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks.secret_options import (
    hidden_texts,
    public_texts,
    quiet_arguments,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.options import with_targets

SPEC = with_targets(k8s_pull_secret.target_options())
HIDDEN = "********"


def test_callbacks_see_names_and_no_secret() -> None:
    given = {
        "namespace": "clusters",
        "digest_key": "canary-digest-key",
        "kubernetes": {"host": "https://api.example.com", "api_key": "canary-api-key", "api_kei": "canary"},
        "hyperfleet": {"url": "http://user:canary@api.example.com/", "headers": {"X-Key": "canary-header"}},
        "gcp": {"endpoint": "http://user:canary@127.0.0.1:1/"},
        "targets": [{"id": "cls-1", "source": {"inline": "canary"}, "souce": "canary", "name": None}],
        "souce": "canary",
    }
    assert quiet_arguments(SPEC, given) == {
        "namespace": "clusters",
        "digest_key": HIDDEN,
        "kubernetes": {"host": "https://api.example.com", "api_key": HIDDEN, "api_kei": HIDDEN},
        "hyperfleet": {"url": HIDDEN, "headers": HIDDEN},
        "gcp": {"endpoint": HIDDEN},
        "targets": [{"id": "cls-1", "source": {"inline": HIDDEN}, "souce": HIDDEN, "name": None}],
        "souce": HIDDEN,
    }


@pytest.mark.parametrize(
    "given",
    [
        {"host": "h", "api_key": "canary-api-key"},
        "host=h api_key=canary-api-key",
        "host=h,api_key=canary-api-key",
        '{"host": "h", "api_key": "canary-api-key"}',
    ],
)
def test_a_mapping_may_be_a_text(given: Any) -> None:
    """Ansible parses it."""
    arguments = {"kubernetes": given}
    assert "canary" not in str(quiet_arguments(SPEC, arguments))
    assert hidden_texts(SPEC, arguments) == {"canary-api-key"}


def test_what_cannot_be_a_mapping_is_hidden_whole() -> None:
    for given in ("canary", ["canary"], 5):
        assert quiet_arguments(SPEC, {"kubernetes": given})["kubernetes"] in (HIDDEN, [HIDDEN])
        assert hidden_texts(SPEC, {"kubernetes": given}) == set()


def test_headers_are_hidden_but_for_what_is_public() -> None:
    headers = {"Authorization": "Bearer canary-token", "X-Tenant": "customer", "X-Version": 1, "X-On": True}
    arguments = {"hyperfleet": {"headers": headers}, "targets": [{"id": "customer-1"}]}
    assert hidden_texts(SPEC, arguments) == {"Bearer canary-token", "canary-token"}
    assert public_texts(SPEC, arguments) == {"customer", "1"}
    assert hidden_texts(SPEC, {"hyperfleet": {"headers": headers}}) >= {"customer"}


def test_a_token_is_hidden_wherever_it_stands() -> None:
    """A token that also stands in another option was put there by mistake."""
    arguments = {"kubernetes": {"api_key": "canary-api-key"}, "context": "canary-api-key"}
    assert hidden_texts(SPEC, arguments) == {"canary-api-key"}
    assert public_texts(SPEC, arguments) == set()
