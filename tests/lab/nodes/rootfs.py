# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The nodes' root file system: a small Debian, made once a machine and never changed afterwards.

It lies in the user's cache under a name made from what went into it; nodes put an overlay on top. Making it
takes one to two minutes and 350 MB. Its packages come from where this machine's own Debian packages do.
"""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tests.lab.cache import made_once
from tests.lab.supervisor import LabError, run

PACKAGES = (
    *("systemd", "systemd-sysv", "dbus", "iproute2", "procps", "python3", "ca-certificates"),
    # What a kubelet needs.
    *("containerd", "runc", "containernetworking-plugins"),
    *("iptables", "conntrack", "ethtool", "socat", "kmod", "mount", "util-linux"),
)
# No part of a node's job; systemd-sysctl would set the host's own settings.
MASKED = (
    *("systemd-sysctl.service", "systemd-logind.service", "console-getty.service", "getty@.service"),
    *("apt-daily.timer", "apt-daily-upgrade.timer", "dpkg-db-backup.timer", "e2scrub_all.timer"),
    *("systemd-udevd.service", "systemd-journal-flush.service", "systemd-update-utmp.service"),
    *("dev-hugepages.mount", "systemd-networkd.service", "systemd-resolved.service"),
)
# Started on nodes that have a kubelet.
DISABLED = ("containerd.service",)
LEFT_OUT = ("/usr/share/man/*", "/usr/share/doc/*", "/usr/share/locale/*", "/usr/share/info/*")
# Counts the ways in which the tree is finished: a change here makes a new one.
RECIPE = 1


def rootfs() -> Path:
    """Return the directory, making it if need be. LabError when it cannot be made."""
    release, sources = debian_sources()
    text = repr((release, sources, PACKAGES, MASKED, DISABLED, LEFT_OUT, RECIPE))
    name = f"nodes-rootfs-{hashlib.sha256(text.encode()).hexdigest()[:16]}"
    return made_once(name, _make)


def extract_packages(target: Path, include: Sequence[str]) -> None:
    """Make a tar of these packages' files and of what they depend on, without setting anything up."""
    _mmdebstrap(target, include, "--variant=extract", "--format=tar")


def _mmdebstrap(target: Path, include: Sequence[str], *options: str) -> None:
    release, sources = debian_sources()
    command = [
        *("mmdebstrap", "--quiet", "--mode=root", *options),
        f"--include={','.join(include)}",
        *(f"--dpkgopt=path-exclude={pattern}" for pattern in LEFT_OUT),
        *("--aptopt=APT::Install-Recommends false", release, str(target), "-"),
    ]
    run(*command, input=sources)


def debian_sources() -> tuple[str, str]:
    """Return the release's code name and apt sources: this machine's own, less what is not Debian's."""
    found = _index_targets()
    if not found:
        # A machine that never ran `apt-get update` knows the addresses but not what is behind them.
        subprocess.run(["apt-get", "update", "-q"], capture_output=True, check=False)
        found = _index_targets()
    if not found:
        raise LabError("apt knows no Debian archive here: the nodes' root file system cannot be made")
    release = min((row[0] for row in found), key=len)  # beside bookworm there is bookworm-security
    return release, "".join(f"deb {address} {suite} {part}\n" for _name, address, suite, part in found)


def _index_targets() -> list[tuple[str, str, str, str]]:
    wanted = "$(ORIGIN)|$(CODENAME)|$(REPO_URI)|$(RELEASE)|$(COMPONENT)"
    command = ["apt-get", "indextargets", "--format", wanted, "Created-By: Packages"]
    told = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    rows = [line.split("|") for line in told.splitlines() if line.startswith("Debian|")]
    return [(codename, address, suite, part) for _origin, codename, address, suite, part in rows]


def _make(root: Path) -> None:
    _mmdebstrap(root, PACKAGES, "--variant=minbase", "--format=directory")
    (root / "etc/hostname").unlink(missing_ok=True)  # else it wins over the node's name
    (root / "etc/machine-id").write_text("")  # each node makes its own
    drop_in = root / "etc/systemd/journald.conf.d/lab.conf"
    drop_in.parent.mkdir(parents=True, exist_ok=True)
    # Tests start units often: no line of theirs may be dropped.
    drop_in.write_text("[Journal]\nStorage=volatile\nRateLimitBurst=0\n")
    for verb, units in (("mask", MASKED), ("disable", DISABLED)):
        subprocess.run(
            ["systemctl", f"--root={root}", "--quiet", verb, *units], check=True, capture_output=True
        )
