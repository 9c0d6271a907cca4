# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs ansible-test in a copy of the checkout: ``python -m tests.tools.ansible_test [--core 2.21] sanity``.

``--oldest-python`` compiles and imports the plugins with the oldest Python that they support.

ansible-test creates its own environments under HOME, downloads a get-pip script from a host that may be
unreachable, and removes pip's settings from the environment. So it runs with a separate HOME in the cache. That
HOME has a get-pip script that uses ensurepip, and a file with pip's settings.
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
OLDEST_PYTHON = "3.9"  # tests/config.yml

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
    """Write the user's pip settings and the ``PIP_*`` variables to one file that only this user can read."""
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
    """Write the get-pip script under each name that this ansible-test looks for."""
    cache = HOME / ".ansible" / "test" / "cache"
    cache.mkdir(parents=True, exist_ok=True)
    source = next(venv.glob("lib/python*/site-packages/ansible_test/_internal/python_requirements.py"))
    for version in re.findall(r"""\bpip=['"]([\d.]+)['"]""", source.read_text(encoding="utf-8")):
        (cache / f"get_pip_{version.replace('.', '_')}.py").write_text(GET_PIP)


def environment(*bin_dirs: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ANSIBLE_", "PYTHON"))}
    return kept | {
        "HOME": str(HOME),
        "PATH": os.pathsep.join([*map(str, bin_dirs), os.environ["PATH"]]),
        "ANSIBLE_DEPRECATION_WARNINGS": "False",
    }


def left_out(what: str) -> int:
    """Print what cannot run here, and return the exit code: 0 on a laptop, a failure in CI."""
    env.say(f"left out: {what}")
    return 1 if os.environ.get("CI") == "true" else 0


def run(venv: Path, arguments: list[str], *more_bin_dirs: Path) -> int:
    """Run ansible-test in a fresh copy of the checkout. A lock prevents concurrent runs, which share environments
    and outputs.
    """
    write_pip_conf(HOME / ".config" / "pip" / "pip.conf")
    write_get_pip(venv)
    with env.lock("ansible-test"):
        where = tree.refresh("ansible-test") / tree.COLLECTION
        command = [str(venv / "bin" / "ansible-test"), "sanity", "--color", "no", *arguments]
        variables = environment(venv / "bin", *more_bin_dirs)
        return subprocess.run(command, cwd=where, env=variables, check=False).returncode


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--core", choices=sorted(env.CORES), help="one of the supported ansible-cores")
    parser.add_argument("--oldest-python", action="store_true")
    parser.add_argument("command", choices=["sanity"])
    options, rest = parser.parse_known_args()
    if options.core:
        core = env.core(options.core, ["shellcheck"], "ansible-test")
        if core is None:
            return left_out(f"no Python here runs ansible-core {options.core}")
        venv = env.ROOT / core
    else:
        venv = env.ROOT / env.make("ansible-test", sys.executable)
    version = env.python_version(venv / "bin" / "python") or ""
    if not options.oldest_python:
        return run(venv, ["--venv", "--python", version, *rest])
    python = env.find_python([OLDEST_PYTHON])
    if python is None:
        return left_out(f"no Python {OLDEST_PYTHON} here")
    target = ["--controller", f"origin:python=venv/{version}", "--target-python", OLDEST_PYTHON]
    return run(
        venv, [*target, "--test", "compile", "--test", "import", "plugins/", *rest], Path(python).parent
    )


if __name__ == "__main__":
    sys.exit(main())
