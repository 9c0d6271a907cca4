# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One cluster description for all interfaces; errors name the fields as each interface does."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.cluster import (
    CLUSTER_KEYS,
    OPTIONS,
    Cluster,
    words_of,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import (
    ConfigurationError,
    WrongOption,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.naming import with_secret_names
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.provision.checking import (
    check_cluster,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.provision.environment import (
    read_environment,
)
from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.clusters import (
    checked_cluster,
    read_cluster,
)
from tests.support.job.around import REQUIRED

CLUSTER = {
    "cluster_id": "cls-123",
    "cluster_name": "production-cluster",
    "gcp_project_id": "customer-prod-12345",
    "management_namespace": "clusters-cls-123",
}
REQUIRED = {
    **REQUIRED,
    "CLUSTER_ID": "cls-123",
    "MANAGEMENT_NAMESPACE": "clusters-cls-123",
}


def test_a_variable_and_an_option_mean_one_field() -> None:
    for attribute in ("store", "place", "variable"):
        names = [getattr(option, attribute) for option in OPTIONS.values() if getattr(option, attribute)]
        assert len(names) == len(set(names))
    words = words_of("name")
    assert (words["project"], words["name"]) == ("gcp_project_id", "k8s_secret_name")
    # Options of the two modules with the same name must mean the same field.
    for name, option in OPTIONS.items():
        assert all(words[called] == name for called in (option.store, option.place) if called)


def test_two_ways_in_describe_one_cluster() -> None:
    """Except for what only the Job fills in: both names, the policy and the source of its docker config."""
    listed = with_secret_names(
        read_cluster(
            {
                **CLUSTER,
                "replication_policy": "user_managed",
                "replication_locations": ["europe-west1"],
                "source": {"env": "PULL_SECRET_DATA"},
            }
        )
    )
    policy = "user-managed:europe-west1"
    told = read_environment({**REQUIRED, "REPLICATION_POLICY": policy}).cluster
    assert told == Cluster(**{**vars(listed), "replication_text": policy})


@pytest.mark.parametrize(
    ("wrong", "listed", "told"),
    [
        (
            {"gcp_project_id": "No Project"},
            "gcp_project_id must be the id or number of a",
            "GCP_PROJECT_ID must be",
        ),
        (
            {"k8s_secret_name": "No Name"},
            "k8s_secret_name must be lower case",
            "K8S_SECRET_NAME must be lower",
        ),
        (
            {"cluster_id": "No Id"},
            "cluster_id must be at most 63 lower case",
            "CLUSTER_ID must be at most 63 lower case",
        ),
    ],
)
def test_each_way_in_has_its_words(wrong: dict[str, str], listed: str, told: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        checked_cluster({**CLUSTER, **wrong})
    assert str(caught.value).startswith(listed)
    variables = {str(OPTIONS[name].variable): value for name, value in wrong.items()}
    with pytest.raises(ConfigurationError) as caught:
        check_cluster(read_environment({**REQUIRED, **variables}).cluster, words_of("variable"))
    assert str(caught.value).startswith(told)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (WrongOption("project", "is missing"), "gcp_project_id is missing"),
        (WrongOption("locations[1]", "is empty"), "replication_locations[1] is empty"),
        (WrongOption("retention.keep", "must be 1"), "retention.keep must be 1"),
        (
            WrongOption("kms_key", "belongs to {replication}: automatic"),
            "kms_key belongs to replication_policy: ",
        ),
        (WrongOption("labels.{name}", "has no value"), "labels.{name} has no value"),
        (WrongOption("placement's namespace", "is empty"), "placement's namespace is empty"),
    ],
)
def test_an_error_is_put_into_other_words_by_its_option(error: WrongOption, said: str) -> None:
    assert str(error.called(words_of("name"))).startswith(said)
    assert "{replication}" not in str(error)


def test_the_address_of_an_emulator_is_a_variable_of_the_job() -> None:
    words = {"gcp.endpoint": "SECRET_MANAGER_EMULATOR_HOST"}
    assert str(WrongOption("gcp.endpoint", "has no host").called(words)) == (
        "SECRET_MANAGER_EMULATOR_HOST has no host"
    )


@pytest.mark.parametrize("key", sorted(CLUSTER_KEYS))
def test_what_is_not_said_is_none(key: str) -> None:
    if key == "cluster_id":
        return
    empty: dict[str, Any] = {"cluster_id": "cls-1", key: ""}
    assert getattr(read_cluster(empty), key) is None
