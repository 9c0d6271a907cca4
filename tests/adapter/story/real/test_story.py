# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The timeline of the job contract with real parts and the documented permissions, without manual steps."""

from __future__ import annotations

import base64
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.lab.pubsub import pubsub
from tests.lab.rabbitmq import rabbitmq
from tests.lab.supervisor import wait_until
from tests.support import monitoring
from tests.support.adapter_jobs.place import CLUSTER
from tests.support.adapter_jobs.rights import documented, granted

if TYPE_CHECKING:
    from tests.adapter.story.world import StoryWorld
    from tests.lab.nodes.cluster import ClusterLab

pytestmark = pytest.mark.real("nodes", "go", "java", "apt-get")

TOPIC = "hyperfleet-clusters"
# Permissions that this test does not use: (verb, resource, namespace).
RARE = {
    # An existing Job or Secret of that name; a pod without a Job; a namespace that may exist.
    ("get", "jobs", "hyperfleet-system"),
    ("patch", "secrets", "hyperfleet-system"),
    ("delete", "pods", "hyperfleet-system"),
    ("get", "namespaces", None),
}


# Panels without data when nothing fails: (title, metric).
SILENT = {
    ("Top error types", "pullsecret_job_failures_total"),
    ("Top error types", "pullsecret_adapter_failures_total"),
    ("GCP API errors", "pullsecret_gcp_api_calls_total"),
    ("Garbage", "pullsecret_adapter_garbage_total"),
}


@pytest.fixture(scope="module")
def lab() -> Iterator[ClusterLab]:
    """A cluster with one node, used as the management cluster."""
    from tests.lab.nodes.cluster import cluster_lab

    with cluster_lab(1) as found:
        yield found


@pytest.fixture
def over_rabbitmq(lab: ClusterLab, tmp_path: Path) -> Iterator[StoryWorld]:
    from tests.adapter.story.world import story_world

    with rabbitmq() as broker:
        address = tmp_path / "address"
        address.write_text(broker.url)
        receiving = {
            "type": "rabbitmq",
            "urlFile": str(address),
            "topic": TOPIC,
            "subscription": "pullsecret",
        }
        sending = {"type": "rabbitmq", "url_file": str(address), "topic": TOPIC}
        with story_world(lab, tmp_path, receiving, sending) as world:
            yield world


@pytest.fixture
def over_pubsub(lab: ClusterLab, tmp_path: Path) -> Iterator[StoryWorld]:
    from tests.adapter.story.world import story_world

    with pubsub() as emulator:
        emulator.create("pullsecret")
        endpoint = f"http://{emulator.emulator.host}"
        receiving = {
            "type": "gcp-pubsub",
            "projectId": emulator.project,
            "subscription": "pullsecret",
            "endpoint": endpoint,
        }
        sending = {
            "type": "gcp-pubsub",
            "project_id": emulator.project,
            "topic": emulator.topic,
            "endpoint": endpoint,
        }
        with story_world(lab, tmp_path, receiving, sending) as world:
            yield world


@pytest.fixture
def by_hand(lab: ClusterLab, tmp_path: Path) -> Iterator[StoryWorld]:
    """Start the adapter's playbooks directly, without events."""
    from tests.adapter.story.world import story_world

    with story_world(lab, tmp_path, {"type": "webhook"}, {}) as world:
        yield world


def test_the_contracts_timeline_then_rotation_an_edit_and_deletion(
    over_rabbitmq: StoryWorld, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from tests.adapter.story.scraped import scraping
    from tests.adapter.story.timeline import audited, in_order, table, timeline, used
    from tests.adapter.story.world import PASSWORDS, document

    world = over_rabbitmq
    one, two = map(document, PASSWORDS)
    begun = time.time()
    seen = []
    with scraping(tmp_path, world.port) as scraped, world.rulebook() as output:
        # the timeline of the job contract
        published = world.publish()
        world.until(1, Applied="True", Available="True", Health="True", Finalized="False")
        steps = timeline(world, published, time.time())
        with capsys.disabled():
            print("", *table(steps), sep="\n")
        assert in_order(steps)
        assert world.contents() == [one]
        assert world.placed(CLUSTER) == one
        assert world.jobs() == ["pullsecret-cls-123-gen1"]
        seen.append(world.everything())

        # rotate the pull secret
        world.edit(CLUSTER, two)
        world.publish()
        world.until(2, Applied="True", Available="True", Health="True", Finalized="False")
        assert world.contents() == [one, two]
        assert world.placed(CLUSTER) == two
        assert world.jobs() == ["pullsecret-cls-123-gen1", "pullsecret-cls-123-gen2"]
        seen.append(world.everything())

        # change a label: same content, no Job
        world.edit(CLUSTER, team="clusters")
        world.publish()
        status = world.until(3, Applied="True", Available="True", Health="True", Finalized="False")
        assert status["data"]["job_name"] == "pullsecret-cls-123-gen2"
        assert world.jobs() == ["pullsecret-cls-123-gen1", "pullsecret-cls-123-gen2"]
        assert world.contents() == [one, two]

        # delete the cluster
        world.delete(CLUSTER)
        world.publish()
        world.until(world.read(CLUSTER)["generation"], Finalized="True")
        assert world.left() == []
        world.say(CLUSTER, "placement", "False", {}, Applied="False", Finalized="True")
        assert world.is_gone(CLUSTER)
        wait_until(lambda: counts(world), "all is counted")

        # Metrics and dashboards show all of it, and no alert fires.
        assert scraped.silent(SILENT) == SILENT, scraped.trouble()
        assert scraped.choices() == {name: [value] for name, value in monitoring.NAMES.items()}
        assert set(scraped.alerts().values()) == {"inactive"}
    said = output.read_text() + Path(world.lab.hosted.audit_log).read_text() + "".join(seen)
    assert len(said) > 5000
    assert [form for password in PASSWORDS for form in forms(password) if form in said] == []

    requests = audited(world, begun)
    # No request is refused, and every permission is used.
    ours = [one for one in requests if "pullsecret-adapter" in one.user]
    assert [one for one in ours if one.code in (401, 403)] == []
    never = {(verb, resource, where) for _user, where, verb, resource in granted(documented()) - used(ours)}
    assert never == RARE


@pytest.mark.real("pubsub-emulator")
@pytest.mark.nightly
def test_over_pubsub(over_pubsub: StoryWorld) -> None:
    from tests.adapter.story.world import PASSWORDS, document

    world = over_pubsub
    with world.rulebook():
        world.publish()
        world.until(1, Applied="True", Available="True", Health="True", Finalized="False")
        assert world.contents() == [document(PASSWORDS[0])]
        assert world.placed(CLUSTER) == document(PASSWORDS[0])
        world.delete(CLUSTER)
        world.publish()
        world.until(world.read(CLUSTER)["generation"], Finalized="True")
        assert world.left() == []


@pytest.mark.nightly
def test_the_management_namespace_goes_before_the_cluster(by_hand: StoryWorld) -> None:
    """The adapter's rights there go with it: later requests are refused, whether or not a Secret exists."""
    world = by_hand
    world.run("adapter", cluster_ids=[CLUSTER])
    wait_until(lambda: world.placed(CLUSTER), "the job has done its work", 120)
    wait_until(
        lambda: world.run("reconcile") and world.reported(1, Applied="True", Available="True"),
        "it is reported",
        120,
    )
    world.delete(CLUSTER)
    world.remove_place()
    world.run("adapter", cluster_ids=[CLUSTER])
    assert world.reported(world.read(CLUSTER)["generation"], Finalized="True"), world.word(CLUSTER)
    assert world.left() == []


def counts(world: StoryWorld) -> bool:
    found = world.metrics()
    return (
        found['pullsecret_job_total{result="success"}'] == 2
        and found["pullsecret_adapter_jobs_created_total"] == 2
        and found['pullsecret_adapter_events_processed_total{result="success"}'] == 4
    )


def forms(password: str) -> list[str]:
    """The forms of a password in documents: plain, inside an ``auth``, or in the data of a Secret."""
    from tests.adapter.story.world import document

    auth = document(password)["auths"]["quay.io"]["auth"]
    return [password, auth[20:], *(base64.b64encode(auth[cut:].encode()).decode()[30:-4] for cut in range(3))]
