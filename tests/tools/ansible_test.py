# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs ansible-test in a copy of the checkout: ``python -m tests.tools.ansible_test [--core 2.21] sanity``.

ansible-test makes environments of its own under HOME, fetches a get-pip script from a host that may be out of
reach, and drops pip's settings from the environment. It therefore gets a HOME in the cache that nothing else
uses, with a get-pip stand-in over ensurepip and with pip's settings written down.
"""

from __future__ import annotations

import argparse
import configparser
import os
import re
import subprocess
import sys
from pathlib import Path

from tests.tools import env, tree

HOME = env.CACHE / "ansible-test-home"

GET_PIP = '''\
"""Stands in for get-pip.py: installs pip from the interpreter itself."""
import subprocess
import sys

subprocess.check_call([sys.executable, "-m", "ensurepip", "--default-pip"])
arguments = [argument for argument in sys.argv[1:] if argument not in ("--no-setuptools", "--no-wheel")]
if any(not argument.startswith("-") for argument in arguments):
    subprocess.check_call([sys.executable, "-m", "pip", "install"] + arguments)
'''


def write_pip_conf(path: Path) -> None:
    """Merges the user's own pip settings and the ``PIP_*`` variables into one file, readable by us alone."""
    settings = configparser.RawConfigParser()
    home = Path.home()
    settings.read([home / ".pip" / "pip.conf", home / ".config" / "pip" / "pip.conf"])
    if not settings.has_section("global"):
        settings.add_section("global")
    for name, value in os.environ.items():
        if name.startswith("PIP_") and name not in ("PIP_CONFIG_FILE", "PIP_REQUIRE_VIRTUALENV"):
            settings.set("global", name[4:].lower().replace("_", "-"), value)
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as handle:
        settings.write(handle)


def write_get_pip(venv: Path) -> None:
    """Puts the stand-in under every name that this ansible-test would look for."""
    cache = HOME / ".ansible" / "test" / "cache"
    cache.mkdir(parents=True, exist_ok=True)
    source = next(venv.glob("lib/python*/site-packages/ansible_test/_internal/python_requirements.py"))
    for version in re.findall(r"""\bpip=['"]([\d.]+)['"]""", source.read_text(encoding="utf-8")):
        (cache / f"get_pip_{version.replace('.', '_')}.py").write_text(GET_PIP)


def environment(venv: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ANSIBLE_", "PYTHON"))}
    return kept | {
        "HOME": str(HOME),
        "PATH": f"{venv / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "ANSIBLE_DEPRECATION_WARNINGS": "False",
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--core", choices=sorted(env.CORES), help="one end of the supported range")
    parser.add_argument("command", choices=["sanity"])
    options, rest = parser.parse_known_args()
    if options.core:
        venv = env.core(options.core, ["shellcheck"], "ansible-test")
        if venv is None:
            env.say(f"no Python here runs ansible-core {options.core}: its sanity tests are left out")
            return 1 if os.environ.get("CI") == "true" else 0
    else:
        venv = env.make("ansible-test", sys.executable)
    write_pip_conf(HOME / ".config" / "pip" / "pip.conf")
    write_get_pip(venv)
    version = env.python_version(venv / "bin" / "python") or ""
    # One run at a time: ansible-test's environments and outputs are shared.
    with env.lock("ansible-test"):
        where = tree.refresh("ansible-test") / tree.COLLECTION
        command = [
            venv / "bin" / "ansible-test",
            options.command,
            "--venv",
            "--color",
            "no",
            "--python",
            version,
        ]
        return subprocess.run(
            [*map(str, command), *rest], cwd=where, env=environment(venv), check=False
        ).returncode


if __name__ == "__main__":
    sys.exit(main())
