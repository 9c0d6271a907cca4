# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A private registry: Debian's docker-registry, which answers 401 to whom it does not know.

Its accounts are a file that it reads again when it changes, so a test can rotate a password while it runs.
"""

from __future__ import annotations

import base64
import json
import tempfile
import urllib.error
import urllib.request
from pathlib import Path

from tests.lab.supervisor import Supervisor, run, write_private

# What nodes call it, whatever the address of their lab.
REGISTRY = "registry.lab.test:5000"
COMMANDS = ("docker-registry", "htpasswd", "skopeo")
PORT = 5000
_PUSHER = ("lab-pusher", "example-pusher-password")


class Registry:
    """The registry of one state directory, at one address of the host."""

    def __init__(self, directory: Path, address: str) -> None:
        self.directory = directory
        self.endpoint = f"{address}:{PORT}"
        self._accounts = dict([_PUSHER])
        self._supervisor = Supervisor(directory)

    def up(self, seconds: float = 60) -> None:
        """Start it; LabError when it does not answer in time."""
        self.directory.mkdir(parents=True, exist_ok=True)
        self._write_accounts()
        settings = {
            "version": "0.1",
            "log": {"level": "warn", "accesslog": {"disabled": True}},
            "storage": {"filesystem": {"rootdirectory": str(self.directory / "images")}},
            "http": {"addr": self.endpoint, "secret": "example-secret-of-the-lab"},
            "auth": {"htpasswd": {"realm": "lab", "path": str(self._passwords)}},
        }
        configuration = write_private(self.directory / "config.yml", json.dumps(settings))
        self._supervisor.start("registry", ["docker-registry", "serve", str(configuration)])
        self._supervisor.wait(lambda: self.answer() == 401, "registry", seconds=seconds)

    def down(self) -> None:
        self._supervisor.stop("registry")

    def set_account(self, user: str, password: str | None) -> None:
        """Let a user in with this password and no other; None: not at all. In force on return."""
        if password is None:
            self._accounts.pop(user, None)
        else:
            self._accounts[user] = password
        self._write_accounts()

    def users(self) -> list[str]:
        """The users that ``set_account`` let in."""
        return [user for user in self._accounts if user != _PUSHER[0]]

    def answer(self, user: str | None = None, password: str = "") -> int | None:
        """Return the status it gives someone, without a user to no one; None when it does not answer."""
        request = urllib.request.Request(f"http://{self.endpoint}/v2/")
        if user is not None:
            token = base64.b64encode(f"{user}:{password}".encode()).decode()
            request.add_header("Authorization", f"Basic {token}")
        try:
            with urllib.request.urlopen(request, timeout=5) as reply:
                return int(reply.status)
        except urllib.error.HTTPError as error:
            return error.code
        except OSError:
            return None

    def push(self, source: str, name: str) -> str:
        """Copy an image (``docker-archive:FILE`` and the like) to ``name``; return what nodes call it."""
        with tempfile.TemporaryDirectory() as scratch:
            document = {"auths": {self.endpoint: {"auth": _basic(*_PUSHER)}}}
            auth_file = write_private(Path(scratch) / "auth.json", json.dumps(document))
            command = ["skopeo", "--insecure-policy", "copy", "--quiet", "--dest-tls-verify=false"]
            command += [f"--dest-authfile={auth_file}", source, f"docker://{self.endpoint}/{name}"]
            run(*command)
        return f"{REGISTRY}/{name}"

    def docker_config(self, user: str, password: str) -> str:
        """A docker config that names this registry as nodes do."""
        return json.dumps({"auths": {REGISTRY: {"auth": _basic(user, password)}}})

    @property
    def _passwords(self) -> Path:
        return self.directory / "htpasswd"

    def _write_accounts(self) -> None:
        """Replace the file at once: the registry looks at its time of change."""
        accounts = self._accounts.items()
        lines = [run("htpasswd", "-niBC4", user, input=password).strip() for user, password in accounts]
        write_private(self._passwords.with_suffix(".new"), "\n".join(lines) + "\n").replace(self._passwords)


def _basic(user: str, password: str) -> str:
    return base64.b64encode(f"{user}:{password}".encode()).decode()
