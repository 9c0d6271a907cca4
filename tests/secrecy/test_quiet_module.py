# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""QuietModule overrides two private members of AnsibleModule. This tests them with the current ansible-core.

The same call of a plain AnsibleModule shows that ansible-core still needs these overrides.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.nightly import some
from tests.support.secrecy.canary import Canary
from tests.support.secrecy.needles import Evidence, Needles

_PLUGINS = Path(__file__).resolve().parents[2] / "plugins"
_QUIET = "ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks.quiet_module"
# Runs a module like Ansible's wrapper, with the arguments on stdin. Lines for syslog are printed on stderr.
_MODULE = """
import importlib, json, sys
from ansible.module_utils import basic

basic._ANSIBLE_ARGS = sys.stdin.buffer.read()
basic._ANSIBLE_PROFILE = "legacy"
basic.syslog.syslog = lambda *line: print("syslog", *line, file=sys.stderr)
basic.has_journal = False
Module = getattr(importlib.import_module(sys.argv[1]), sys.argv[2])
module = Module({"source": {"type": "dict"}, "name": {"type": "str"}}, supports_check_mode=True)
print("asked for", getattr(module, "shows_diff", None), file=sys.stderr)
getattr(module, sys.argv[3])(msg=f"got {module.params['source']}")
"""


def _ran(kind: str, name: str, method: str, arguments: dict[str, Any]) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-c", _MODULE, kind, name, method],
        input=json.dumps({"ANSIBLE_MODULE_ARGS": arguments}).encode(),
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        check=False,
    )


def _leaks(canary: Canary, ran: subprocess.CompletedProcess[bytes]) -> set[str]:
    """Return the streams that contain a form of the canary."""
    found = Needles([canary])
    streams = {"result": ran.stdout, "log": ran.stderr}
    return {name for name, data in streams.items() if found.leaks([Evidence("module", name, data)])}


@pytest.mark.parametrize("method", some(["fail_json", "exit_json"]))
@pytest.mark.cores
def test_a_quiet_module_repeats_its_arguments_nowhere(method: str) -> None:
    canary = Canary.make("given to a module")
    arguments = {
        "source": {"inline": canary.document},
        "name": "a-name",
        "_ansible_no_log": False,
        "_ansible_diff": True,
    }
    plain = _ran("ansible.module_utils.basic", "AnsibleModule", method, arguments)
    assert _leaks(canary, plain) == {"result", "log"}, plain.stderr.decode()
    quiet = _ran(_QUIET, "QuietModule", method, arguments)
    assert _leaks(canary, quiet) == set(), "ansible-core does not call what QuietModule overrides"
    assert not json.loads(quiet.stdout).get("invocation")
    assert b"asked for True" in quiet.stderr
    assert b"syslog" not in quiet.stderr


def test_no_other_file_uses_a_private_member_of_the_module() -> None:
    used = re.compile(r"\b(?:_log_invocation|_return_formatted)\b|\bmodule\._[a-z]")
    assert [path.name for path in _PLUGINS.rglob("*.py") if used.search(path.read_text())] == [
        "quiet_module.py"
    ]
