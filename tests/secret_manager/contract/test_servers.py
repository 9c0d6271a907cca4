# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The stand-in's process and its HTTP server, and what they never show. Not for a real project."""

from __future__ import annotations

import json
import signal
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import grpc
import pytest

from tests.secret_manager.contract.support import AUTOMATIC, REAL_PROJECT, TRANSPORTS, lab_client
from tests.stand_ins.process import stand_in_command
from tests.stand_ins.secret_manager import SecretManagerLab
from tests.stand_ins.secret_manager.protos import SERVICE

pytestmark = pytest.mark.skipif(bool(REAL_PROJECT), reason="a real project has no such server")

ROOT = Path(__file__).resolve().parents[3]
CANARY = "example-canary-password"


def http(lab: SecretManagerLab, verb: str, path: str, body: bytes | None = None) -> tuple[int, Any]:
    request = urllib.request.Request(lab.rest + path, data=body, method=verb)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def test_the_process_says_where_it_listens_and_stops_on_sigterm(tmp_path: Path) -> None:
    ready = tmp_path / "ready.json"
    command = stand_in_command(ready, "secret_manager")
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        limit = time.monotonic() + 180
        while not ready.exists():
            assert process.poll() is None
            assert time.monotonic() < limit
            time.sleep(0.01)
        where = json.loads(ready.read_text())
        assert where["pid"] == process.pid
        for transport in TRANSPORTS:
            client = lab_client(transport, where["grpc"], where["rest"])
            name = client.create_secret(parent="projects/p-1", secret_id=transport, secret=AUTOMATIC).name
            client.add_secret_version(parent=name, payload={"data": CANARY.encode()})
            assert next(iter(client.list_secrets(parent="projects/p-1"))).name == name
        process.send_signal(signal.SIGTERM)
        output, dummy = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    assert (process.returncode, output) == (0, b"")


def test_the_end_waits_for_no_call_that_hangs() -> None:
    with SecretManagerLab() as lab:
        lab.faults.add(method="GetSecret", delay=3600)
        client = lab_client("grpc", lab.grpc, lab.rest)
        with pytest.raises(Exception, match="Deadline"):
            client.get_secret(name="projects/p-1/secrets/grpc", timeout=0.1)


@pytest.mark.parametrize(
    ("verb", "path", "body", "status"),
    [
        ("GET", "/v1/projects/p-1/nothing", None, 404),
        ("GET", "/nothing", None, 404),
        ("PATCH", "/v1/projects/p-1/secrets", b"{}", 404),
        ("GET", "/v1/projects/p-1/secrets/missing", None, 404),
        ("GET", "/v1/projects/p-1/secrets?pageSize=many", None, 400),
        ("GET", "/v1/projects/p-1/secrets?colour=red", None, 400),
        ("POST", "/v1/projects/p-1/secrets/s:addVersion", f'{{"payload": "{CANARY}"'.encode(), 400),
        ("POST", "/v1/projects/p-1/secrets/s:addVersion", f'{{"payload": "{CANARY}"}}'.encode(), 400),
        (
            "POST",
            "/v1/projects/p-1/secrets/s:addVersion",
            f'{{"payload": {{"data": {{"{CANARY}": 1}}}}}}'.encode(),
            400,
        ),
    ],
)
def test_plain_http_is_refused_without_a_word_of_the_body(
    lab: SecretManagerLab,
    capfd: pytest.CaptureFixture[str],
    verb: str,
    path: str,
    body: bytes | None,
    status: int,
) -> None:
    answered, answer = http(lab, verb, path, body)
    assert (answered, answer["error"]["code"]) == (status, status)
    assert CANARY not in json.dumps(answer)
    assert capfd.readouterr() == ("", "")


def test_answers_are_the_documented_json(lab: SecretManagerLab) -> None:
    """As curl receives it: names of enums, 64-bit numbers as strings, bytes in base64."""
    http(lab, "POST", "/v1/projects/p-1/secrets?secretId=s", b'{"replication": {"automatic": {}}}')
    payload = b'{"payload": {"data": "ZXhhbXBsZQ==", "dataCrc32c": "1"}}'
    assert http(lab, "POST", "/v1/projects/p-1/secrets/s:addVersion", payload)[0] == 400
    status, version = http(
        lab, "POST", "/v1/projects/p-1/secrets/s:addVersion", b'{"payload": {"data": "ZXhhbXBsZQ=="}}'
    )
    assert (status, version["state"]) == (200, "ENABLED")
    status, answer = http(lab, "GET", "/v1/projects/p-1/secrets/s/versions/latest:access")
    assert (status, answer["payload"]["data"]) == (200, "ZXhhbXBsZQ==")
    assert isinstance(answer["payload"]["dataCrc32c"], str)


@pytest.mark.parametrize("method", ["GetIamPolicy", "RotateSecret", "NoSuchMethod"])
def test_methods_that_are_not_served_are_unimplemented(lab: SecretManagerLab, method: str) -> None:
    with grpc.insecure_channel(lab.grpc) as channel, pytest.raises(grpc.RpcError) as caught:
        channel.unary_unary(f"/{SERVICE}/{method}")(b"", timeout=60)
    assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("ttl", "3600s"),
        ("expireTime", "2100-01-01T00:00:00Z"),
        ("rotation", {"rotationPeriod": "3600s"}),
        ("topics", [{"name": "projects/p-1/topics/t"}]),
        ("versionAliases", {"stable": "1"}),
    ],
)
def test_fields_of_a_new_secret_that_the_stand_in_lacks(
    lab: SecretManagerLab, field: str, value: Any
) -> None:
    body = json.dumps({"replication": {"automatic": {}}, field: value}).encode()
    status, answer = http(lab, "POST", "/v1/projects/p-1/secrets?secretId=s", body)
    assert (status, answer["error"]["status"]) == (400, "INVALID_ARGUMENT")
    assert "stand-in does not support" in answer["error"]["message"]


def test_payloads_stay_out_of_reprs(lab: SecretManagerLab) -> None:
    lab.seed([{"project": "p-1", "secret": "s", "versions": [{"data": CANARY}]}])
    record = lab.store.get("p-1", "s")
    assert record.versions[0].payload == CANARY.encode()
    assert CANARY not in repr([record, record.versions, lab.store, lab])
