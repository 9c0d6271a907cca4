# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A vaulted docker config (``!vault`` in a task), which each ansible-core passes on in its own way."""

from __future__ import annotations

import textwrap

import pytest
from ansible import __version__ as ansible_version
from ansible.parsing.vault import VaultLib, VaultSecret

from tests.secrecy.watcher import Recording, Watcher
from tests.secrecy.world import World
from tests.support.secrecy.canary import Canary
from tests.support.secrecy.labs import Labs
from tests.support.secrecy.needles import Leak

_PASSWORD = "a-password-of-a-test"


def _merged(watcher: Watcher, canary: Canary, **settings: str) -> Recording:
    """Run one module: all three receive an inline document in the same way, and this one needs no service."""
    password = watcher.inputs / "vault-password"
    password.write_text(_PASSWORD)
    vault = VaultLib([("default", VaultSecret(_PASSWORD.encode()))])
    encrypted = vault.encrypt(canary.text).decode()
    playbook = watcher.inputs / "vaulted.yml"
    playbook.write_text(
        textwrap.dedent(
            f"""\
            - hosts: localhost
              gather_facts: false
              tasks:
                - name: merge
                  hyperfleet.pull_secret.dockerconfig_merge:
                    dest: {watcher.dest / "merged.json"}
                    source:
                      inline: !vault |
            """
        )
        + textwrap.indent(encrypted, " " * 16)
        + "      ignore_errors: true\n"
    )
    return watcher.play(
        str(playbook),
        options=["-vvvv", "--diff", "--vault-password-file", str(password)],
        settings=settings,
        module_process=bool(settings),
    )


def _leaks(world: World, recording: Recording) -> list[Leak]:
    """Return the leaks, except those of ansible-core 2.18's junit callback, which decrypts a task before the
    collection runs (page *Secrecy*).
    """
    found = world.leaks(recording)
    if not ansible_version.startswith("2.18."):
        return found
    return [leak for leak in found if not (leak.kind == "file in log" and leak.name.endswith(".xml"))]


@pytest.mark.parametrize(
    "settings", [{}, {"ANSIBLE_PIPELINING": "True"}], ids=["ansible's process", "a module's"]
)
@pytest.mark.cores
def test_it_is_used_and_shows_nowhere(watcher: Watcher, labs: Labs, settings: dict[str, str]) -> None:
    world = World(watcher, labs)
    recording = _merged(watcher, world.canary("vault"), **settings)
    assert not recording.results["merge"].get("failed"), recording.output
    assert (watcher.dest / "merged.json").exists()
    assert _leaks(world, recording) == []


@pytest.mark.cores
def test_it_is_refused_where_it_would_be_written_to_a_file(watcher: Watcher, labs: Labs) -> None:
    world = World(watcher, labs)
    recording = _merged(watcher, world.canary("vault"), ANSIBLE_KEEP_REMOTE_FILES="1")
    assert recording.results["merge"]["failed"]
    assert "source.inline needs pipelining on the connection" in recording.results["merge"]["msg"]
    assert not (watcher.dest / "merged.json").exists()
    assert _leaks(world, recording) == []
