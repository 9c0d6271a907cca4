# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Installs Debian packages for tests with real parts if this user is root; otherwise names the missing packages.

``python -m tests.tools.apt COMMAND...`` provides commands by name (see ``PACKAGES``).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable

from tests.tools import env

# Command to the Debian package that contains it.
PACKAGES = {
    "systemd-nspawn": "systemd-container",
    "mmdebstrap": "mmdebstrap",
    "nsenter": "util-linux",
    "ip": "iproute2",
    "iptables": "iptables",
    "docker-registry": "docker-registry",
    "htpasswd": "apache2-utils",
    "prometheus": "prometheus",
    "promtool": "prometheus",
    "skopeo": "skopeo",
    "buildah": "buildah",
    "rabbitmq-server": "rabbitmq-server",
    "gpg": "gnupg",
}


def missing(commands: Iterable[str]) -> list[str]:
    """Return the commands that are neither on PATH nor in the system's own directories."""
    path = os.environ.get("PATH", "") + ":/usr/local/sbin:/usr/sbin:/sbin"
    return [command for command in commands if shutil.which(command, path=path) is None]


def can_install() -> bool:
    return os.geteuid() == 0 and shutil.which("apt-get") is not None


def provide(commands: Iterable[str]) -> None:
    """Install the packages of missing commands.

    :raises ToolError: they cannot be installed.
    """
    wanted = list(commands)
    if not missing(wanted):
        return
    with env.lock("apt"):
        packages = sorted({PACKAGES[command] for command in missing(wanted)})
        if not packages:
            return
        if not can_install():
            raise env.ToolError("these Debian packages are needed: " + " ".join(packages))
        env.say("installing " + " ".join(packages))
        quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
        for command in (["update", "-q"], ["install", "-qy", "--no-install-recommends", *packages]):
            done = subprocess.run(
                ["apt-get", "-o", "DPkg::Lock::Timeout=300", *command],
                env=quiet,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode:
                last = "\n".join((done.stdout + done.stderr).splitlines()[-15:])
                raise env.ToolError(f"apt-get {command[0]} failed:\n{last}")
        if missing(wanted):
            raise env.ToolError("still not on PATH: " + " ".join(missing(wanted)))


def main() -> int:
    try:
        provide(sys.argv[1:])
    except env.ToolError as error:
        env.say(f"error: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
