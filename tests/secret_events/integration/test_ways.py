# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The connection to an API server: TLS, proxies and the ``K8S_AUTH_*`` variables."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.login import TlsFront
from tests.support.relay import Listener, pump
from tests.support.secret_events.api_server import TOKEN, ApiServer
from tests.support.secret_events.source import running, token_file
from tests.support.waiting import until

pytestmark = pytest.mark.usefixtures("no_secret_anywhere")

NAME = ("kube-system", "additional-pull-secret")
PASSWORD = "example-proxy-password"


class Proxy(Listener):
    """An HTTP proxy that connects anywhere; ``heads`` are the headers of its requests."""

    def __init__(self, to: str | None = None) -> None:
        self.heads: list[str] = []
        self._to = to

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            head = await reader.readuntil(b"\r\n\r\n")
            self.heads.append(head.decode())
            method, target = head.decode().split()[:2]
            address = self._to or (target if method == "CONNECT" else target.split("/")[2])
            host, _colon, port = address.rpartition(":")
            behind, ahead = await asyncio.open_connection(host, int(port))
            if method == "CONNECT":
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            else:
                # Servers want the path alone.
                ahead.write(head.replace(target.encode(), f"/{target.split('/', 3)[3]}".encode(), 1))
            await asyncio.gather(pump(reader, ahead), pump(behind, writer))
        writer.close()


def kubeconfig(path: Path, server: str, authority: Path | None = None, **cluster: Any) -> str:
    if authority:
        cluster["certificate-authority"] = str(authority)
    document = {
        "current-context": "one",
        "contexts": [{"name": "one", "context": {"cluster": "one", "user": "one"}}],
        "clusters": [{"name": "one", "cluster": {"server": server, **cluster}}],
        "users": [{"name": "one", "user": {"token": TOKEN}}],
    }
    path.write_text(json.dumps(document))
    return str(path)


@contextlib.asynccontextmanager
async def behind_tls(directory: Path) -> AsyncIterator[tuple[ApiServer, TlsFront]]:
    async with ApiServer() as server:
        front = TlsFront(server.url.removeprefix("http://"), directory)
        try:
            yield server, front
        finally:
            await asyncio.to_thread(front.stop)


async def changes_are_seen(server: ApiServer, **options: Any) -> None:
    """A cluster with these options is listed and watched."""
    watches = [dict(zip(("namespace", "name"), NAME, strict=True))]
    async with running([{"cluster_id": "cls-1", "watches": watches, **options}]) as source:
        await until(lambda: server.watches == 1)
        version = str(server.change(*NAME))
        # If the Secret exists, the first list is a change, too: of the same batch, or of an earlier one.
        await source.until(
            lambda it: [(one, to) for one, _kind, to in it.changes[-1:]] == [("cls-1", version)]
        )
        assert source.problems == []
    await until(lambda: server.watches == 0)


async def is_refused(words: str, **options: Any) -> None:
    watches = [dict(zip(("namespace", "name"), NAME, strict=True))]
    async with running([{"cluster_id": "cls-1", "watches": watches, **options}]) as source:
        await source.until(lambda it: bool(it.problems))
        assert words in str(source.problems[0][2])


def test_tls_with_the_kubeconfigs_authority_and_name(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with behind_tls(tmp_path) as (server, front):
            path = kubeconfig(tmp_path / "k", front.url, front.authority)
            await changes_are_seen(server, kubeconfig=path)
            # The certificate is for localhost and 127.0.0.1.
            other = front.url.replace("localhost", "0.0.0.0")
            path = kubeconfig(tmp_path / "k", other, front.authority, **{"tls-server-name": "localhost"})
            await changes_are_seen(server, kubeconfig=path)

    asyncio.run(scenario())


def test_a_certificate_that_is_not_trusted_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    quick(monkeypatch)

    async def scenario() -> None:
        async with behind_tls(tmp_path) as (server, front):
            words = "the API server's certificate is not accepted"
            await is_refused(words, kubeconfig=kubeconfig(tmp_path / "k", front.url))
            other = front.url.replace("localhost", "0.0.0.0")
            await is_refused(words, kubeconfig=kubeconfig(tmp_path / "k", other, front.authority))
            assert len(server.calls) == 0

    asyncio.run(scenario())


@pytest.mark.parametrize("tls", [True, False])
def test_the_kubeconfigs_proxy_is_used(tmp_path: Path, tls: bool) -> None:
    async def scenario() -> None:
        async with behind_tls(tmp_path) as (server, front):
            to = (front.url if tls else server.url).partition("//")[2]
            async with Proxy(to) as proxy:
                url = "https://localhost:1" if tls else "http://api.example:6443"
                through = proxy.url.replace("//", f"//user:{PASSWORD}@")
                path = kubeconfig(
                    tmp_path / "k", url, front.authority if tls else None, **{"proxy-url": through}
                )
                await changes_are_seen(server, kubeconfig=path)
                login = base64.b64encode(f"user:{PASSWORD}".encode()).decode()
                assert all(f"basic {login}" in head.replace("Basic", "basic") for head in proxy.heads)
                # Inside the tunnel only the server sees the token.
                assert any(TOKEN in head for head in proxy.heads) is not tls

    asyncio.run(scenario())


@pytest.mark.parametrize("near", [False, True])
def test_the_environments_proxy_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, near: bool) -> None:
    async def scenario() -> None:
        async with ApiServer() as server, Proxy() as proxy:
            monkeypatch.setenv("http_proxy", proxy.url)
            monkeypatch.setenv("no_proxy", "127.0.0.1" if near else "")
            await changes_are_seen(server, host=server.url, api_key_file=token_file(tmp_path))
            assert bool(proxy.heads) is not near

    asyncio.run(scenario())


@pytest.mark.parametrize("address", ["ftp://127.0.0.1:9", f"{PASSWORD}:3128", "http://a:b"])
def test_a_proxy_that_is_no_address_is_not_quoted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    quick(monkeypatch)

    async def scenario() -> None:
        path = kubeconfig(tmp_path / "k", "http://127.0.0.1:1", None, **{"proxy-url": address})
        await is_refused("proxy must be an address such as http://HOST:3128", kubeconfig=path)

    asyncio.run(scenario())


def test_what_the_variables_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        async with behind_tls(tmp_path) as (server, front), Proxy() as proxy:
            monkeypatch.setenv("K8S_AUTH_HOST", front.url)
            monkeypatch.setenv("K8S_AUTH_API_KEY", TOKEN)
            monkeypatch.setenv("K8S_AUTH_VERIFY_SSL", "no")
            await changes_are_seen(server)
            monkeypatch.setenv("K8S_AUTH_VERIFY_SSL", "yes")
            monkeypatch.setenv("K8S_AUTH_SSL_CA_CERT", str(front.authority))
            monkeypatch.setenv("K8S_AUTH_PROXY", proxy.url)
            monkeypatch.setenv("K8S_AUTH_NO_PROXY", "elsewhere.example")
            server.store.reset()
            await changes_are_seen(server)
            assert proxy.heads
            seen = len(proxy.heads)
            monkeypatch.setenv("K8S_AUTH_NO_PROXY", "elsewhere.example,localhost")
            server.store.reset()
            await changes_are_seen(server)
            assert len(proxy.heads) == seen
            # An option names another server, so this server's credentials are not sent there.
            path = kubeconfig(tmp_path / "k", server.url)
            monkeypatch.setenv("K8S_AUTH_API_KEY", "example-other-token")
            server.store.reset()
            await changes_are_seen(server, kubeconfig=path)

    asyncio.run(scenario())


def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the pauses between two attempts, which are minutes."""
    from ansible_collections.hyperfleet.pull_secret.extensions.eda.watching import watch

    monkeypatch.setattr(watch.Pauses.__init__, "__defaults__", (0.05, 0.05, 0.05))
