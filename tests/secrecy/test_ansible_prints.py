# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The parts of variables that Ansible prints before a module runs, and the remedies of the page *Secrecy*.

No module can prevent this output. If a test fails because a secret is not shown, ansible-core may have been fixed.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ansible import __version__ as ansible_version
from ansible.parsing.vault import VaultLib, VaultSecret

from tests.secrecy.watcher import Recording, Watcher
from tests.secrecy.world import World, as_lines, one_task
from tests.support.nightly import some
from tests.support.secrecy.canary import Canary
from tests.support.secrecy.labs import Labs

_IS_OLD = ansible_version.startswith("2.18.")
_PASSWORD = "a-password-of-a-test"
_VAULT = VaultLib([("default", VaultSecret(_PASSWORD.encode()))])


def _merge(name: str, options: Any, **more: Any) -> dict[str, Any]:
    return one_task(name, "dockerconfig_merge", {}, args=options, **more)


def _play(watcher: Watcher, tasks: list[dict[str, Any]], variables: str) -> Recording:
    """Run the tasks with variables from a YAML file as users write them."""
    path = watcher.inputs / "secrets.yml"
    path.write_text(variables)
    password = watcher.inputs / "vault-password"
    password.write_text(_PASSWORD)
    given = ["-e", f"@{path}", "--vault-password-file", str(password)]
    return watcher.play(tasks, options=["-vvvv", "--diff", *given])


def _targets(dest: Path, document: str, template: str) -> str:
    return (
        f"targets:\n  - dest: {dest}\n    source:\n      inline: {document}\n"
        f"  - dest: '{{{{ {template} }}}}'\n"
    )


def _vaulted(text: str) -> str:
    return "!vault |\n" + "\n".join(" " * 10 + line for line in _VAULT.encrypt(text).decode().splitlines())


@pytest.mark.parametrize("how", some(["plain", "vaulted"]))
@pytest.mark.cores
def test_a_variable_with_a_secret_beside_a_template_is_refused_by_2_18(
    watcher: Watcher, labs: Labs, how: str
) -> None:
    """The templates are right here. If one were undefined, 2.18 would print it before the collection runs."""
    world = World(watcher, labs)
    text = world.canary(f"{how}, beside a template").text
    document = _vaulted(text) if how == "vaulted" else json.dumps(json.dumps(json.loads(text)))
    other = f"other: {watcher.dest}/other.json\n"
    recording = _play(
        watcher,
        [_merge("refused", {"targets": "{{ targets }}"})],
        other + _targets(watcher.dest / "one.json", document, "other"),
    )
    result = recording.results["refused"]
    assert result["failed"]
    assert ("targets: this variable contains both a secret and a template" in result["msg"]) == _IS_OLD
    # A refused task writes nothing.
    assert (watcher.dest / "one.json").exists() != _IS_OLD
    leaks = [leak for leak in world.leaks(recording) if not (_IS_OLD and leak.name.endswith(".xml"))]
    assert leaks == [], as_lines(leaks)


@pytest.mark.cores
def test_the_remedies_of_2_18(watcher: Watcher, labs: Labs) -> None:
    """A separate variable for the document, a reference, or no_log hide it, even with undefined templates."""
    world = World(watcher, labs)
    canary = world.canary("a variable of its own")
    document = watcher.inputs / "document.json"
    document.write_text(canary.text)
    hidden = world.canary("no_log")
    variables = {
        "document": canary.text,
        "own": [{"dest": str(watcher.dest / "own.json"), "source": {"inline": "{{ document }}"}}],
        "reference": [{"dest": "{{ place }}/ref.json", "source": {"file": str(document)}}],
        "place": str(watcher.dest),
        "beside": [{"dest": "{{ place }}/hidden.json", "source": {"inline": hidden.text}}],
        "undefined": [{"dest": "{{ nope }}", "source": {"inline": "{{ document }}"}}],
        "hidden": [{"dest": "{{ nope }}", "source": {"inline": hidden.text}}],
    }
    tasks = [
        _merge("own", {"targets": "{{ own }}"}),
        _merge("reference", {"targets": "{{ reference }}"}),
        _merge("beside", {"targets": "{{ beside }}"}, no_log=True),
        _merge("undefined", {"targets": "{{ undefined }}"}),
        _merge("hidden", {"targets": "{{ hidden }}"}, no_log=True),
    ]
    recording = watcher.play(tasks, variables, options=["-vvvv", "--diff"])
    assert {path.name for path in watcher.dest.iterdir()} == {"own.json", "ref.json", "hidden.json"}
    assert recording.results["undefined"]["failed"]
    leaks = world.leaks(recording)
    assert leaks == [], as_lines(leaks)


def _shows(world: World, recording: Recording, name: str) -> bool:
    return any(leak.canary == name for leak in world.leaks(recording))


@pytest.mark.cores
def test_an_undefined_template_prints_its_variable_with_2_18(watcher: Watcher, labs: Labs) -> None:
    """The collection does not run. Newer versions print the template's line in the file and two lines before."""
    world = World(watcher, labs)
    canaries = {name: world.canary(name) for name in ("far", "near", "end", "vault", "loop")}
    end = f"{'x' * 120} {canaries['end'].entries[0].token}"
    far = json.dumps(canaries["far"].text)
    variables = (
        f"far:\n  source:\n    inline: {far}\n  id: far\n  state: present\n  dest: '{{{{ nope }}}}'\n"
        f"near:\n  source: {{inline: {json.dumps(_short(canaries['near']))}}}\n  dest: '{{{{ nope }}}}'\n"
        f"end:\n  source: {{inline: '{end}'}}\n  dest: '{{{{ nope }}}}'\n"
        f"vault:\n  source:\n    inline: {_vaulted(canaries['vault'].text)}\n  dest: '{{{{ nope }}}}'\n"
        f"loop:\n  - {json.dumps(canaries['loop'].text)}\n  - a\n  - b\n  - '{{{{ nope }}}}'\n"
    )
    tasks = [
        _merge("far", "{{ far }}"),
        _merge("near", "{{ near }}"),
        _merge("end", "{{ end }}"),
        _merge("vault", "{{ vault }}"),
        _merge("loop", {"source": {"inline": "{{ item }}"}}, loop="{{ loop }}"),
    ]
    recording = _play(watcher, tasks, variables)
    assert {name: _shows(world, recording, canary.name) for name, canary in canaries.items()} == {
        "far": _IS_OLD,
        "near": True,
        # Ansible quotes the first 120 characters of a line.
        "end": _IS_OLD,
        "vault": _IS_OLD,
        "loop": _IS_OLD,
    }


def _short(canary: Canary) -> str:
    return json.dumps({"auths": {"q": {"auth": canary.entries[0].auth}}}, separators=(",", ":"))


@pytest.mark.cores
def test_a_password_with_braces_is_a_template(watcher: Watcher, labs: Labs) -> None:
    """Ansible prints the password's line. The remedies are !unsafe, an encrypted file, and a reference."""
    world = World(watcher, labs)
    canaries = {name: world.canary(name) for name in ("braces", "no_log", "unsafe", "reference")}
    documents = {name: _with_braces(canary) for name, canary in canaries.items()}
    reference = watcher.inputs / "document.json"
    reference.write_text(documents["reference"])
    gap = "a: 1\nb: 2\n"
    variables = (
        f"braces: {_quoted(documents['braces'])}\n{gap}"
        f"no_log: {_quoted(documents['no_log'])}\n{gap}"
        f"unsafe: !unsafe {_quoted(documents['unsafe'])}\n"
    )
    dest = watcher.dest
    tasks = [
        _merge("braces", {"dest": f"{dest}/braces", "source": {"inline": "{{ braces }}"}}),
        _merge("no_log", {"dest": f"{dest}/no_log", "source": {"inline": "{{ no_log }}"}}, no_log=True),
        _merge("unsafe", {"dest": f"{dest}/unsafe", "source": {"inline": "{{ unsafe }}"}}),
        _merge("reference", {"dest": f"{dest}/reference", "source": {"file": str(reference)}}),
    ]
    recording = _play(watcher, tasks, variables)
    assert {path.name for path in dest.iterdir()} == {"unsafe", "reference"}
    assert {name: _shows(world, recording, name) for name in canaries} == {
        "braces": True,
        # Newer versions print the file's lines in an error, even if no_log hides the result.
        "no_log": not _IS_OLD,
        "unsafe": False,
        "reference": False,
    }


@pytest.mark.cores
def test_a_file_that_is_encrypted_as_a_whole_is_not_quoted(watcher: Watcher, labs: Labs) -> None:
    """The exception is ansible-core 2.18, which quotes values and not files. Jinja's error may quote a part."""
    world = World(watcher, labs)
    braces, near, number = (world.canary(name) for name in ("braces", "near", "number"))
    variables = (
        f"braces: {_quoted(_with_braces(braces))}\na: 1\nb: 2\n"
        f"number: {_quoted(_with_braces(number, '5a'))}\nc: 1\nd: 2\n"
        f"near:\n  source: {{inline: {json.dumps(_short(near))}}}\n  dest: '{{{{ nope }}}}'\n"
    )
    tasks = [
        _merge("braces", {"dest": "/nowhere", "source": {"inline": "{{ braces }}"}}),
        _merge("near", "{{ near }}"),
        _merge("number", {"dest": "/nowhere", "source": {"inline": "{{ number }}"}}),
    ]
    recording = _play(watcher, tasks, _VAULT.encrypt(variables).decode())
    assert {_shows(world, recording, name) for name in ("braces", "near")} == {_IS_OLD}
    # "expected token 'end of print statement', got 'a…'"
    assert _shows(world, recording, "number")


def _with_braces(canary: Canary, first: str = "a") -> str:
    """Return a short document, because Ansible quotes the first 120 characters of a line.

    The text in braces begins with a letter, because Jinja's error quotes a name after a number, as in ``{{5name``.
    """
    password = "{{" + first + canary.entries[0].token
    return json.dumps({"auths": {"q": {"username": "u", "password": password}}}, separators=(",", ":"))


def _quoted(text: str) -> str:
    """Return a YAML string in single quotes."""
    return "'" + text.replace("'", "''") + "'"
