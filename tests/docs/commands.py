# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What commands name: playbooks and their variables, plugins, targets of make. Does it exist?"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import subprocess
from collections.abc import Collection, Iterator

from tests.support.blocks import ROOT
from tests.support.names import settable

COLLECTION = "hyperfleet.pull_secret."
# Where each of our names is.
_HOMES = {
    "plugins/modules": "py",
    "plugins/lookup": "py",
    "plugins/filter": "yml",
    "plugins/inventory": "py",
    "plugins/callback": "py",
    "roles": "",
    "playbooks": "yml",
    "extensions/eda/rulebooks": "yml",
    "extensions/eda/plugins/event_source": "py",
}
# The action group of meta/runtime.yml.
_GROUP = "pull_secret"
_NAME = re.compile(r"(?<![\w./-])hyperfleet\.pull_secret\.(\w+)(?![\w.]*\.(?:gz|rst))")
_ENDS = {"|", "||", "&&", ";", "&", ">", ">>", "<"}


def complaints(text: str, files: Collection[str] = ()) -> list[str]:
    """What is wrong with commands that no test runs; ``files`` are those that their page has beside them."""
    checked = subprocess.run(["bash", "-n"], input=text, capture_output=True, text=True, check=False)
    if checked.returncode:
        return [checked.stderr.strip()]
    return [*unknown_names(text), *unknown_targets(text), *_wrong_playbooks(text, files)]


def unknown_names(text: str) -> list[str]:
    """The names with the collection's in front that are neither a plugin, a role, a playbook nor a rulebook."""
    return sorted({f"{COLLECTION}{name} does not exist" for name in _NAME.findall(text) if not _exists(name)})


def unknown_targets(text: str) -> list[str]:
    """The targets that ``make`` is called with, and that the Makefile does not list."""
    makefile = (ROOT / "Makefile").read_text()
    return [
        f"make {name} does not exist"
        for words in _calls(text, "make")
        for name in words
        if re.fullmatch(r"[a-z][a-z0-9.-]*", name)
        and not re.search(rf"^{re.escape(name)}:.*##", makefile, re.MULTILINE)
    ]


def _exists(name: str) -> bool:
    if name == _GROUP:
        return True
    paths = [ROOT / home / (f"{name}.{ending}" if ending else name) for home, ending in _HOMES.items()]
    return any(path.exists() for path in paths)


def _calls(text: str, program: str) -> Iterator[list[str]]:
    """The words behind each call of a program, up to what ends the command."""
    for line in text.replace("\\\n", " ").splitlines():
        lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        try:
            words = list(lexer)
        except ValueError:  # a line of a text that goes over several
            continue
        for position, word in enumerate(words):
            if word == program:
                rest = words[position + 1 :]
                end = next((number for number, other in enumerate(rest) if other in _ENDS), len(rest))
                yield rest[:end]


def _wrong_playbooks(text: str, files: Collection[str]) -> Iterator[str]:
    for words in _calls(text, "ansible-playbook"):
        names, given = _arguments(words)
        for name in names:
            if not name.startswith(COLLECTION):
                if name not in files and not (ROOT / name).is_file() and "$" not in name:
                    yield f"ansible-playbook {name}: the page has no such file"
            elif (ROOT / "playbooks" / f"{name.removeprefix(COLLECTION)}.yml").is_file():
                known = settable(name.removeprefix(COLLECTION))
                yield from (
                    f"{name} has no variable {variable}" for variable in given if variable not in known
                )
            else:
                yield f"the playbook {name} does not exist"


def _arguments(words: list[str]) -> tuple[list[str], list[str]]:
    """The playbooks that a command names, and the variables that it gives one by one."""
    parser = argparse.ArgumentParser()
    for flags in ("-e --extra-vars", "-i --inventory", "-l --limit", "-t --tags", "-f --forks"):
        parser.add_argument(*flags.split(), action="append", default=[])
    known, others = parser.parse_known_args(words)
    given = [name for value in known.extra_vars for name in _variables(value)]
    return [word for word in others if not word.startswith("-")], given


def _variables(value: str) -> list[str]:
    if value.startswith("{"):
        try:
            return list(json.loads(value))
        except ValueError:
            return []  # with a variable of the shell in it
    return [] if value.startswith("@") else [word.partition("=")[0] for word in value.split() if "=" in word]
