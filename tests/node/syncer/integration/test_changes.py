# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""From a change of the Secret to the node's file, kubelet and status."""

from __future__ import annotations

import base64
import json
from unittest.mock import Mock

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.programs.syncer import program, status
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.programs.syncer.api import PodApi
from tests.node.syncer.conftest import NewNode
from tests.node.syncer.world import Cluster, blocked, document, eventually
from tests.support.nightly import some


def test_a_change_reaches_the_file_and_kubelet(cluster: Cluster, new_node: NewNode) -> None:
    version = cluster.put(document("example-one"))
    node = new_node().start()
    cluster.wait("in-sync", version)
    assert base64.b64decode(node.auths()["quay.io"]["auth"]) == b"robot:example-one"
    assert node.kubelet.restarts == 1
    eventually(lambda: cluster.holder() == "", "the slot is given back")
    version = cluster.put(document("example-two", "quay.io", "registry.example.com"))
    cluster.wait("in-sync", version)
    assert sorted(node.auths()) == ["quay.io", "registry.example.com"]
    assert node.kubelet.restarts == 2
    assert node.stop() == 0


def test_the_file_does_not_wait_for_the_slot(cluster: Cluster, new_node: NewNode) -> None:
    cluster.lab.faults.add(path="*/leases/*", status=503, times=None)
    node = new_node().start()
    version = cluster.put(document())
    eventually(node.auths, "the file is written")
    message = cluster.wait("pending", version)
    assert "Lease restart-0" in message
    assert "503" in message
    assert node.kubelet.restarts == 0
    cluster.lab.faults.clear()
    cluster.wait("in-sync", version)
    assert node.kubelet.restarts == 1


@pytest.mark.nightly
def test_a_newer_secret_is_written_while_the_older_is_still_being_tried(
    cluster: Cluster, new_node: NewNode
) -> None:
    node = new_node()
    go_on = blocked(node)
    node.start()
    cluster.put(document("example-one"))
    eventually(lambda: node.kubelet.restarts, "kubelet is being restarted")
    version = cluster.put(document("example-two"))
    eventually(
        lambda: base64.b64decode(node.auths()["quay.io"]["auth"]) == b"robot:example-two", "it is written"
    )
    go_on.set()
    cluster.wait("in-sync", version)
    assert node.kubelet.restarts == 2, "one restart for what was written after the first had begun"


@pytest.mark.nightly
def test_equal_meaning_is_no_restart(cluster: Cluster, new_node: NewNode) -> None:
    node = new_node().start()
    version = cluster.put(document())
    cluster.wait("in-sync", version)
    before = node.path.stat().st_ino
    for number in range(20):
        version = cluster.put(json.dumps(json.loads(document()), indent=number % 4).encode() + b"\n" * number)
    cluster.wait("in-sync", version)
    assert node.kubelet.restarts == 1
    assert node.path.stat().st_ino == before, "the file must not be written"


@pytest.mark.nightly
def test_restart_never(cluster: Cluster, new_node: NewNode) -> None:
    node = new_node(SYNCER_RESTART="never").start()
    version = cluster.put(document())
    assert "5 minutes" in cluster.wait("in-sync", version)
    assert "quay.io" in node.auths()
    assert node.kubelet.restarts == 0
    assert cluster.lab.calls.count("*", "*/leases/*") == 0


@pytest.mark.parametrize(
    ("content", "said"),
    some(
        [
            (b'{"auths":{"quay.io":{"auth":"bm8gY29sb24="}}}', "quay.io"),
            (b'{"auths":{"registry.example.com":{"auth":"example password"}}}', "registry.example.com"),
            (b'{"auths":[]}', "auths-not-an-object"),
            (b'{"auths":{}}', "auths-empty"),
            (None, ".dockerconfigjson"),
        ]
    ),
)
def test_an_invalid_secret_never_reaches_the_file(
    cluster: Cluster, new_node: NewNode, content: bytes | None, said: str
) -> None:
    good = cluster.put(document())
    node = new_node().start()
    cluster.wait("in-sync", good)
    before = node.path.read_bytes()
    version = cluster.put(content)
    message = cluster.wait("failed", version)
    assert said in message
    assert "bm8gY29sb24" not in message
    assert "example password" not in message + json.dumps(node.log)
    assert node.path.read_bytes() == before
    assert node.kubelet.restarts == 1
    version = cluster.put(document("example-two"))
    cluster.wait("in-sync", version)


def test_kubelet_does_not_come_up_and_the_file_is_rolled_back(cluster: Cluster, new_node: NewNode) -> None:
    good = cluster.put(document("example-good"))
    node = new_node().start()
    cluster.wait("in-sync", good)
    before = node.path.read_bytes()
    # Three attempts fail; kubelet comes up with the previous file.
    node.kubelet.on_restart = lambda number: "crash" if number in (2, 3, 4) else "done"
    bad = cluster.put(document("example-bad"))
    message = cluster.wait("failed", bad)
    assert "rolled back" in message
    assert "auto-restart" in message
    assert node.path.read_bytes() == before
    assert node.kubelet.restarts == 5
    eventually(lambda: cluster.holder() == "", "the slot is given back")
    calls = [call.verb for call in cluster.lab.calls.matching() if call.verb in ("patch", "update")]
    assert calls[-2:] == ["patch", "update"], "status first: others read it once the slot is free"
    # The same content is not tried again; other content is.
    again = cluster.put(document("example-bad") + b"\n")
    assert "not tried again" in cluster.wait("failed", again)
    assert node.kubelet.restarts == 5
    better = cluster.put(document("example-better"))
    cluster.wait("in-sync", better)
    assert node.kubelet.restarts == 6


@pytest.mark.nightly
def test_absence_is_restored_as_absence(cluster: Cluster, new_node: NewNode) -> None:
    node = new_node()
    node.kubelet.on_restart = lambda number: "failed" if number < 4 else "done"
    node.start()
    cluster.wait("failed", cluster.put(document()))
    assert not node.path.exists()


@pytest.mark.parametrize(
    "outcomes",
    [
        # A dependency of kubelet fails, and later starts.
        ["dependency"] * 3,
        # Kubelet comes up with neither the new file nor the previous one.
        ["failed"] * 6,
        ["crash"] * 6,
    ],
)
@pytest.mark.nightly
def test_a_sick_node_is_not_the_documents_fault(
    cluster: Cluster, new_node: NewNode, outcomes: list[str]
) -> None:
    node = new_node()
    node.kubelet.on_restart = lambda number: (["done", *outcomes, *["done"] * 9])[number - 1]
    node.start()
    cluster.wait("in-sync", cluster.put(document("example-good")))
    version = cluster.put(document("example-better"))
    cluster.wait("failed", version)
    assert cluster.status()["by"] == "node"
    # The next syncer knows it too, although its status is gone, whatever it reported meanwhile.
    for _start in range(2):
        node.stop()
        cluster.say("node-1", None)
        node.start()
        cluster.wait("failed", version)
        eventually(lambda: cluster.holder() == "" and node.kubelet.now.active == "active", "kubelet is up")
        assert cluster.status()["by"] == "node"
    other = new_node("node-2").start()
    cluster.wait("in-sync", version, other.name)


@pytest.mark.nightly
def test_what_fails_and_is_well_with_the_file_of_before_is_the_documents_fault(
    cluster: Cluster, new_node: NewNode
) -> None:
    node = new_node()
    # First a dependency failed, then the file was the cause.
    node.kubelet.on_restart = lambda number: ["done", "dependency", "failed", "failed", "done"][number - 1]
    node.start()
    cluster.wait("in-sync", cluster.put(document("example-good")))
    version = cluster.put(document("example-bad"))
    cluster.wait("failed", version)
    assert "by" not in cluster.status()
    node.stop()
    cluster.say("node-1", None)
    node.start()
    cluster.wait("failed", version)
    assert "by" not in cluster.status()


@pytest.mark.nightly
def test_a_unit_that_cannot_be_restarted_is_the_nodes_fault(cluster: Cluster, new_node: NewNode) -> None:
    node = new_node()
    node.kubelet.now = node.kubelet.now._replace(load="masked")
    node.start()
    message = cluster.wait("failed", cluster.put(document()))
    assert "masked" in message
    assert cluster.status()["by"] == "node"
    assert node.kubelet.restarts == 0


@pytest.mark.nightly
def test_a_secret_that_is_deleted_leaves_the_file(cluster: Cluster, new_node: NewNode) -> None:
    node = new_node().start()
    version = cluster.put(document())
    cluster.wait("in-sync", version)
    cluster.delete()
    eventually(lambda: node.logged("secret gone"), "it is seen")
    assert "quay.io" in node.auths()
    assert cluster.status()["state"] == "in-sync"
    version = cluster.put(document("example-two"))
    cluster.wait("in-sync", version)
    assert node.kubelet.restarts == 2


@pytest.mark.nightly
def test_no_secret_yet(cluster: Cluster, new_node: NewNode) -> None:
    node = new_node().start()
    assert "does not exist" in cluster.wait("pending", "")
    assert not node.path.exists()


def test_a_foreign_write_is_repaired(cluster: Cluster, new_node: NewNode) -> None:
    node = new_node().start()
    cluster.wait("in-sync", cluster.put(document()))
    node.path.write_text('{"auths":{"foreign.example.com":{"auth":"ZXhhbXBsZTpleGFtcGxl"}}}')
    eventually(lambda: sorted(node.auths()) == ["foreign.example.com", "quay.io"], "both are in the file")
    eventually(lambda: node.kubelet.restarts == 2, "kubelet may have read the file without ours")
    assert node.logged("file changed"), "the file's metadata must show the change, not one of the rare reads"
    node.path.unlink()
    eventually(lambda: "quay.io" in node.auths(), "it is there again")


@pytest.mark.nightly
def test_a_file_that_cannot_be_written_is_tried_again(cluster: Cluster, new_node: NewNode) -> None:
    node = new_node()
    node.path.mkdir()
    node.start()
    version = cluster.put(document())
    message = cluster.wait("failed", version)
    assert "config.json" in message
    assert cluster.status()["by"] == "node"
    node.path.rmdir()
    cluster.wait("in-sync", version)
    assert "quay.io" in node.auths()


@pytest.mark.parametrize("code", [403, 404, 409, 500])
@pytest.mark.nightly
def test_a_status_that_cannot_be_written_stops_nothing(
    cluster: Cluster, new_node: NewNode, code: int
) -> None:
    cluster.lab.faults.add(path="*/configmaps/*", status=code, times=None)
    node = new_node().start()
    version = cluster.put(document())
    eventually(lambda: node.logged("restarted"), "kubelet runs with it")
    assert cluster.status() == {}
    assert node.logged("status not written")
    cluster.lab.faults.clear()
    cluster.wait("in-sync", version)


@pytest.mark.parametrize("what", ["configmaps", "leases"])
@pytest.mark.nightly
def test_a_change_does_not_wait_for_a_silent_api_server(
    cluster: Cluster, new_node: NewNode, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """The watch still works, for example where a webhook blocks writes."""
    monkeypatch.setattr(program, "_CALL_SECONDS", 600.0)
    node = new_node().start()
    version = cluster.put(document("example-one"))
    cluster.wait("in-sync", version)
    eventually(lambda: node.is_at_rest, "it rests")
    silence = cluster.lab.faults.add(path=f"*/{what}/*", delay=600)
    cluster.put(document("example-two"))
    eventually(lambda: silence.hits, "the node asks, and gets no answer")
    version = cluster.put(document("example-three"))
    eventually(
        lambda: base64.b64decode(node.auths()["quay.io"]["auth"]) == b"robot:example-three", "it is written"
    )
    cluster.wait("in-sync", version)


@pytest.mark.nightly
def test_a_report_that_was_lost_is_repeated(
    cluster: Cluster, new_node: NewNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    rest = Mock()
    monkeypatch.setattr(PodApi, "rest", rest)
    monkeypatch.setattr(status, "_REWRITE_SECONDS", (0.2, 0.3))
    node = new_node().start()
    version = cluster.put(document())
    cluster.wait("in-sync", version)
    eventually(lambda: node.is_at_rest, "it rests")
    before = rest.call_count
    cluster.say("node-1", None)
    cluster.wait("in-sync", version)
    assert node.kubelet.restarts == 1
    eventually(lambda: rest.call_count > before, "and what is needed for it is let go each time")


def test_the_watch_survives_what_an_api_server_does(cluster: Cluster, new_node: NewNode) -> None:
    node = new_node().start()
    cluster.wait("in-sync", cluster.put(document("example-0")))
    cluster.lab.faults.add(verb="watch", drop=True, times=2)
    cluster.lab.faults.add(verb="list", status=503, times=1)
    for number in range(1, 4):
        # Each time all connections break and the history is compacted.
        cluster.lab.store.compact()
        cluster.lab.server.drop()
        version = cluster.put(document(f"example-{number}"))
        cluster.lab.store.compact()
        cluster.wait("in-sync", version)
    assert node.kubelet.restarts == 4
    assert node.logged("watch broken")
    assert node.logged("watching")


@pytest.mark.nightly
def test_a_token_is_rotated(cluster: Cluster, new_node: NewNode) -> None:
    node = new_node()
    node.token("an-old-token")
    node.start()
    version = cluster.put(document())
    eventually(lambda: any("401" in line["why"] for line in node.logged("watch broken")), "it is refused")
    node.token(cluster.lab.admin_token)
    cluster.wait("in-sync", version)


@pytest.mark.nightly
def test_an_invalid_secret_comes_while_kubelet_is_being_restarted(
    cluster: Cluster, new_node: NewNode
) -> None:
    """The restart for the good Secret must not count for the bad one."""
    node = new_node()
    go_on = blocked(node)
    node.start()
    cluster.put(document())
    eventually(lambda: node.kubelet.restarts, "kubelet is being restarted")
    bad = cluster.put(b'{"auths":{}}')
    cluster.wait("failed", bad)
    go_on.set()
    eventually(lambda: node.logged("restarted") and cluster.holder() == "", "the restart is over")
    assert "auths-empty" in cluster.wait("failed", bad)
    assert "quay.io" in node.auths()


@pytest.mark.nightly
def test_an_invalid_secret_does_not_take_away_the_restart_of_the_good_one(
    cluster: Cluster, new_node: NewNode
) -> None:
    cluster.hold("node-9", seconds=600)
    node = new_node().start()
    cluster.wait("pending", cluster.put(document()))
    bad = cluster.put(b'{"auths":{}}')
    cluster.wait("failed", bad)
    looked = cluster.lab.calls.count("*", "*/leases/*")
    eventually(lambda: cluster.lab.calls.count("*", "*/leases/*") > looked + 3, "it waits for a slot")
    assert cluster.status()["state"] == "failed", "the state must stay failed"
    cluster.hold("", seconds=1)
    eventually(
        lambda: node.kubelet.restarts == 1 and cluster.holder() == "", "kubelet runs with the good one"
    )
    assert cluster.wait("failed", bad)


@pytest.mark.nightly
def test_a_file_that_cannot_be_written_while_kubelet_is_being_restarted(
    cluster: Cluster, new_node: NewNode
) -> None:
    node = new_node()
    go_on = blocked(node)
    node.start()
    cluster.put(document("example-one"))
    eventually(lambda: node.kubelet.restarts, "kubelet is being restarted")
    kept = node.path.rename(node.directory / "kept")
    node.path.mkdir()
    version = cluster.put(document("example-two"))
    cluster.wait("failed", version)
    go_on.set()
    node.path.rmdir()
    kept.rename(node.path)
    cluster.wait("in-sync", version)
    assert base64.b64decode(node.auths()["quay.io"]["auth"]) == b"robot:example-two"


@pytest.mark.nightly
def test_without_slots_every_node_restarts_at_once(cluster: Cluster, new_node: NewNode) -> None:
    node = new_node(SYNCER_LEASES="").start()
    cluster.wait("in-sync", cluster.put(document()))
    assert node.kubelet.restarts == 1
    assert cluster.lab.calls.count("*", "*/leases/*") == 0
