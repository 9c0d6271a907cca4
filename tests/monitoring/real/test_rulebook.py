# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The monitoring port in ansible-rulebook's own process, with its event loop and its logging."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from conftest import COLLECTIONS_PATH
from tests.lab.supervisor import free_ports
from tests.tools import env

pytestmark = [pytest.mark.real("java"), pytest.mark.alone]

# Stands in for cluster_events: it starts monitoring in the same way and logs a few lines.
SOURCE = """
import asyncio, logging, sys, types
sys.path.append({collections!r})
from ansible_collections.hyperfleet.pull_secret.extensions.eda.monitoring.start import start_monitoring

async def main(queue, args):
    config = types.SimpleNamespace(
        metrics=types.SimpleNamespace(port=args["port"], address="127.0.0.1", per_cluster=False),
        logging=types.SimpleNamespace(level="info", format=args["format"]),
    )
    async with start_monitoring(config) as surface:
        surface.broker(True)
        surface.event("com.example.reconcile")
        logger = logging.getLogger("hyperfleet.pull_secret.cluster_events")
        logger.info("ours")
        logger.debug("not at this level")
        logging.getLogger("ansible_rulebook.engine").error("theirs")
        await queue.put({{"go": True}})
        await asyncio.Event().wait()
"""
RULEBOOK = [
    {
        "name": "A rulebook",
        "hosts": "all",
        "sources": [{"name": "a source", "surfaced": {"port": "{{ port }}", "format": "{{ form }}"}}],
        "rules": [
            {
                "name": "Go",
                "condition": "event.go is defined",
                "action": {"debug": {"msg": "it went on"}},
            }
        ],
    }
]


def command(directory: Path, port: int, form: str) -> list[str]:
    """The command line of ansible-rulebook. The rulebook is written as JSON, which is valid YAML."""
    (directory / "sources").mkdir()
    (directory / "sources" / "surfaced.py").write_text(SOURCE.format(collections=str(COLLECTIONS_PATH)))
    for name, content in (
        ("rulebook.yml", RULEBOOK),
        ("vars.yml", {"port": port, "form": form}),
        ("inventory.yml", {"all": {"hosts": {"localhost": {"ansible_connection": "local"}}}}),
    ):
        (directory / name).write_text(json.dumps(content))
    given = ["--rulebook", "rulebook.yml", "-i", "inventory.yml", "--vars", "vars.yml", "-S", "sources"]
    return [str(tools() / "ansible-rulebook"), *given]


def tools() -> Path:
    return env.make("rulebook", sys.executable).absolute() / "bin"


def parsed(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


@pytest.mark.parametrize("form", ["json", "text"])
@pytest.mark.nightly
def test_probes_are_answered_and_both_logs_are_whole(tmp_path: Path, form: str) -> None:
    counted = 'pullsecret_adapter_events_received_total{kind="com.example.reconcile"} 1.0'

    async def scenario() -> str:
        (port,) = free_ports(1)
        output = tmp_path / "output"
        with output.open("w") as written:
            process = await asyncio.create_subprocess_exec(
                *command(tmp_path, port, form),
                cwd=tmp_path,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=written,
                stderr=asyncio.subprocess.STDOUT,
                env={**os.environ, "HOME": str(tmp_path), "PATH": f"{tools()}:{os.environ['PATH']}"},
            )
        try:
            async with asyncio.timeout(120), aiohttp.ClientSession() as session:
                # The rule has run: the engine works beside the HTTP server.
                while "it went on" not in output.read_text():
                    assert process.returncode is None, output.read_text()
                    await asyncio.sleep(0.1)
                for path, said in (("/healthz", "ok"), ("/readyz", "ok"), ("/metrics", counted)):
                    async with session.get(f"http://127.0.0.1:{port}{path}") as answer:
                        assert answer.status == 200
                        assert said in await answer.text()
        finally:
            if process.returncode is None:
                process.terminate()
            await process.wait()
        return output.read_text()

    text = asyncio.run(scenario())
    ours = parsed(text)
    assert "not at this level" not in text
    assert text.count("theirs") == 1
    assert "- ansible_rulebook.engine - ERROR - theirs" in text
    if form == "json":
        (line,) = ours
        assert (line["message"], line["component"], line["level"]) == ("ours", "pullsecret-adapter", "info")
        assert "- ours" not in text
    else:
        assert not ours
        assert text.count("- hyperfleet.pull_secret.cluster_events - INFO - ours\n") == 1
