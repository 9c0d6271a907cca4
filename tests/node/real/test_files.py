# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Files and file systems that cannot be written, and concurrent writers, on real nodes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.node.rows import NO_FILE, another_run, row
from tests.node.world import DIRECTORY, FILE, World, assert_silent, document

pytestmark = pytest.mark.real("nodes")


def refused(world: World, *registries: str) -> dict[str, Any]:
    before = world.kubelet()
    done = world.sync(*registries)
    assert done.code != 0, done.output
    assert_silent(done.output)
    assert world.kubelet() == before
    return done.result


@row("read-only or full file system")
@pytest.mark.nightly
def test_a_read_only_file_system(world: World) -> None:
    world.install()
    world.mount("1m")
    world.put(document("ecr.example"))
    world.node.run(["mount", "-o", "remount,ro", DIRECTORY], check=True)
    assert "Read-only file system" in refused(world, "quay.io")["msg"]
    assert world.beside() == ["config.json"]


@row("read-only or full file system")
@pytest.mark.nightly
def test_a_full_disk(world: World) -> None:
    world.install()
    world.mount("64k")
    world.put(document("ecr.example"))
    before = world.node.read(FILE)
    world.node.run(["sh", "-c", f"dd if=/dev/zero of={DIRECTORY}/full bs=1k"])
    assert "No space left on device" in refused(world, "quay.io")["msg"]
    assert world.node.read(FILE) == before
    assert world.beside() == ["config.json", "full"]
    # Room for a part of what is written.
    for pages in range(1, 6):
        script = (
            f"rm {DIRECTORY}/full; head -c $(( (12 - {pages}) * 4096 )) /dev/zero > {DIRECTORY}/full || true"
        )
        world.node.run(["sh", "-c", script])
        done = world.sync("quay.io", window=0.2)
        assert world.auths() in ({"ecr.example"}, {"ecr.example", "quay.io"})
        if done.code == 0:
            break
        assert "No space left on device" in done.result["msg"]
    world.node.run(["rm", f"{DIRECTORY}/full"], check=True)
    assert world.sync("quay.io", window=0.2).code == 0
    assert world.auths() == {"ecr.example", "quay.io"}
    assert world.beside() == ["config.json", "config.json.hyperfleet", "config.json.hyperfleet-backup"]


@row("`config.json` is a link, a directory, a pipe")
@pytest.mark.parametrize(("command", "says"), NO_FILE)
@pytest.mark.nightly
def test_something_else_than_a_file(world: World, command: str, says: str) -> None:
    world.install()
    world.node.run(command.split(), check=True)
    assert says in refused(world, "quay.io")["msg"]
    assert world.beside() == ["config.json"]


def test_mode_and_owner_are_kept(world: World) -> None:
    world.install()
    world.put(document("ecr.example"), mode=0o644)
    world.node.run(["chown", "12:34", FILE], check=True)
    world.sync("quay.io", window=0.2)
    assert world.node.run(["stat", "-c", "%a %u %g", FILE]).stdout == "644 12 34\n"
    for name in ("hyperfleet", "hyperfleet-backup"):
        assert world.node.run(["stat", "-c", "%a %u", f"{FILE}.{name}"]).stdout == "600 0\n"


@row("another run is at work")
@pytest.mark.nightly
def test_another_run_that_does_not_end(world: World) -> None:
    world.install()
    world.put(document("ecr.example"))
    before = world.kubelet()
    with another_run(world.node.root / "var/lib/kubelet"):
        done = world.sync("quay.io", lock_timeout=0.5)
        assert "another process holds the lock for writing on this node; waited 0.5 s" in done.result["msg"]
    assert (world.auths(), world.kubelet()) == ({"ecr.example"}, before)
    after = world.sync("quay.io", window=0.2)
    assert after.code == 0, after.result["msg"]


@pytest.mark.nightly
def test_two_writers_at_once(world: World) -> None:
    """Two runs with different pull secrets, and another program that ignores our lock."""
    world.install()
    script = (
        "import json, os, sys, time\n"
        f"path = {FILE!r}\n"
        "end = time.monotonic() + 8\n"
        "count = 0\n"
        "while time.monotonic() < end:\n"
        "    there = json.load(open(path)) if os.path.exists(path) else {'auths': {}}\n"
        "    count += 1\n"
        "    there['auths']['ecr.example'] = {'auth': 'cm9ib3Q6eA==', 'count': count}\n"
        "    json.dump(there, open(path + '.theirs', 'w'))\n"
        "    os.replace(path + '.theirs', path)\n"
        "    time.sleep(0.05)\n"
    )
    world.node.write("/root/theirs.py", script)
    plays = []
    for registry in ("quay.io", "ghcr.io"):
        source = world.directory / f"{registry}.json"
        source.write_text(json.dumps(document(registry)))
        options = {"source": {"file": str(source)}, "window": 0.5, "backoff": 0.1}
        play = {
            "hosts": "nodes",
            "gather_facts": False,
            "tasks": [{"name": registry, "hyperfleet.pull_secret.kubelet_auth_sync": options}],
        }
        plays.append(
            world.ansible.start_playbook(
                [play], flags=["-i", str(world.inventory)]
            )  # runs on both nodes at once
        )
    world.node.run(["python3", "/root/theirs.py"], check=True)
    for running in plays:
        done = running.wait()
        assert done.code == 0, done.output
    there = world.auths()
    assert "ecr.example" in there
    assert len(there & {"quay.io", "ghcr.io"}) == 1
    assert world.kubelet()[0] == "active"
    assert world.ledger()["pending"] is None
    assert world.sync("docker.io", window=0.2).code == 0
    assert world.auths() == {"docker.io", "ecr.example"}
