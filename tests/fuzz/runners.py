# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Runs one input as Ansible does, in a process that was forked for it.

A runner returns the result that callers receive. It raises ``Refused`` if the code under test refuses the input
with a message; any other exception is a defect.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import types
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import yaml
from ansible import constants
from ansible.errors import AnsibleError
from ansible.module_utils import basic
from ansible.parsing.dataloader import DataLoader
from ansible.playbook.block import Block
from ansible.playbook.play import Play
from ansible.playbook.play_context import PlayContext
from ansible.playbook.task import Task
from ansible.plugins import loader as plugins
from ansible.template import Templar

from tests.fuzz.bases import HOSTED
from tests.fuzz.inputs import COLLECTION, ROOT

__all__ = ["RUNNERS", "Refused", "load_everything"]

_CODE = "ansible_collections.hyperfleet.pull_secret"
Data = Mapping[str, Any]


class Refused(Exception):
    """The input was refused with a message."""


def load_everything() -> None:
    """Import all modules that inputs need, once, before processes are forked."""
    plugins.init_plugin_loader([])
    importlib.import_module("ansible.cli.playbook")
    for pattern in ("plugins/**/*.py", "extensions/eda/receiving/*.py", "extensions/eda/watching/*.py"):
        for path in sorted(ROOT.glob(pattern)):
            name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            if path.stem == "__init__":
                continue
            try:
                importlib.import_module(f"{_CODE}.{name}")
            except ModuleNotFoundError as error:
                # Only environments with ansible-rulebook have aiohttp.
                if str(error.name).startswith("ansible_collections"):
                    raise
    for name in (
        "google.cloud.secretmanager_v1",
        "kubernetes.client",
        "kubernetes.config",
        "google.auth.transport.requests",
    ):
        importlib.import_module(name)


def module(data: Data) -> Any:
    """Run a module's ``main`` with its arguments from a pipe."""
    given = {
        **_sendable(data["options"]),
        "_ansible_check_mode": data["check"],
        "_ansible_diff": data["diff"],
        "_ansible_remote_tmp": os.environ["TMPDIR"],
        "_ansible_keep_remote_files": False,
    }
    try:
        json.dumps(given, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise Refused("Ansible sends only UTF-8") from None
    basic._ANSIBLE_ARGS = json.dumps({"ANSIBLE_MODULE_ARGS": given}).encode()
    if hasattr(basic, "_ANSIBLE_PROFILE"):
        basic._ANSIBLE_PROFILE = "legacy"
    code = importlib.import_module(f"{_CODE}.plugins.modules.{data['name']}")
    try:
        code.main()
    except SystemExit as ended:
        if ended.code not in (None, 0):
            raise Refused("the module's result is on stdout") from None
    return None


def _sendable(value: Any) -> Any:
    """Return the value as the action plugin sends it."""
    if isinstance(value, Mapping):
        return {_key(key): _sendable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_sendable(item) for item in value]
    return value.isoformat() if hasattr(value, "isoformat") else value


def _key(key: Any) -> Any:
    return key if isinstance(key, (str, int, float, bool)) or key is None else str(key)


def action(data: Data) -> Any:
    """Run an action plugin with templated arguments, on a local connection."""
    _write_files(data)
    os.environ.update(data.get("environment", {}))
    loader = DataLoader()
    variables = {
        "ansible_python_interpreter": sys.executable,
        "tried_clusters": [HOSTED],
        "tried_result": {"targets": [{"id": "cls-1", "changed": False, "registries": {}}], "failed": False},
        **data.get("variables", {}),
        "omit": "__omit_place_holder__x",
    }
    templar = Templar(loader=loader, variables=variables)
    full = f"{COLLECTION}.{data['name']}"
    try:
        task = Task.load({"name": "tried", "action": full}, block=Block(play=Play()), loader=loader)
        task.args = dict(templar.template(data["options"]))
    except Exception as error:  # noqa: BLE001 - what Ansible makes of a template comes before our code
        raise Refused(f"Ansible: {error}") from None
    task.check_mode, task.diff = data["check"], data["diff"]
    play_context = PlayContext()
    play_context.check_mode = data["check"]
    connection = plugins.connection_loader.get("ansible.builtin.local", play_context, os.devnull)
    shared = types.SimpleNamespace(
        **{name: getattr(plugins, name) for name in dir(plugins) if name.endswith("_loader")}
    )
    plugin = plugins.action_loader.get(
        full,
        task=task,
        connection=connection,
        play_context=play_context,
        loader=loader,
        templar=templar,
        shared_loader_obj=shared,
    )
    if plugin is None:
        raise Refused("has no action plugin")
    try:
        result = plugin.run(task_vars=variables)
    except AnsibleError as error:
        raise Refused(f"{error}; arguments: {task.args!r}") from None
    # A callback receives both.
    return {"result": result, "arguments": task.args}


def play(data: Data) -> Any:
    """Run ``ansible-playbook`` with a command line."""
    _write_files(data)
    from ansible.cli.playbook import PlaybookCLI

    os.environ.update(data.get("environment", {}))
    named = data["play"]
    if not isinstance(named, str):
        Path("play.json").write_text(json.dumps(named))
        named = "play.json"
    # Not in a file: ansible-core quotes a file's lines around a template that fails (page *Secrecy*).
    given = yaml.dump(data["variables"], Dumper=_Dumper, default_flow_style=True, width=10**9)
    Path("inventory").write_text(
        f"[nodes]\nlocalhost ansible_connection=local ansible_python_interpreter={sys.executable}\n"
    )
    arguments = ["ansible-playbook", "-i", "inventory", named, "-e", given, *data["flags"]]
    try:
        PlaybookCLI.cli_executor(arguments)
    except SystemExit as ended:
        if ended.code not in (None, 0):
            raise Refused(f"exit code {ended.code}") from None
    return None


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        return True


def lookup(data: Data) -> Any:
    """Run a lookup plugin."""
    _write_files(data)
    loader = DataLoader()
    variables = data.get("variables", {})
    templar = Templar(loader=loader, variables=variables)
    plugin = plugins.lookup_loader.get(f"{COLLECTION}.{data['name']}", loader=loader, templar=templar)
    try:
        found = plugin.run(data["terms"], variables=variables, **data["options"])
    except AnsibleError as error:
        raise Refused(str(error)) from None
    # ``given`` returns the variables' values, which may be secret.
    return len(found) if data["name"] == "given" else found


def filters(data: Data) -> Any:
    """Run a filter."""
    file = "credential_for" if data["name"] == "credential_for" else "targets"
    code = importlib.import_module(f"{_CODE}.plugins.filter.{file}")
    try:
        found = code.FilterModule().filters()[data["name"]](*data["arguments"])
    except AnsibleError as error:
        raise Refused(str(error)) from None
    # The targets contain the clusters' values, which a module may refuse later.
    return found if file == "credential_for" else len(found)


def source(data: Data) -> Any:
    """Start an event source until it would begin to listen; with aiohttp, also run it for a moment."""
    from ansible_collections.hyperfleet.pull_secret.extensions.eda.receiving.run_directories import (
        RunDirectories,
    )
    from ansible_collections.hyperfleet.pull_secret.extensions.eda.receiving.settings import (
        parse_cluster_events_settings,
    )
    from ansible_collections.hyperfleet.pull_secret.extensions.eda.watching.clusters import check_clusters
    from ansible_collections.hyperfleet.pull_secret.extensions.eda.watching.settings import parse_settings
    from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import PullSecretError

    try:
        if data["name"] == "kubernetes_secret":
            watched = parse_settings(data["options"])
            if not isinstance(watched.clusters, str):
                check_clusters(watched.clusters)
            return repr(watched.most)
        received = parse_cluster_events_settings(data["options"])
        opened = RunDirectories(received.run_dir)
        opened.open()
        opened.close()
    except PullSecretError as error:
        raise Refused(str(error)) from None
    return repr(received.size)


def rulebook(data: Data) -> Any:
    """Do ansible-rulebook's work with a rulebook's texts: its source, and the playbook of its first rule."""
    document = yaml.safe_load((ROOT / "extensions" / "eda" / "rulebooks" / f"{data['name']}.yml").read_text())
    ((_name, options),) = [one for one in document[0]["sources"][0].items() if one[0] != "name"]
    run = document[0]["rules"][0]["action"]["run_playbook"]
    try:
        given = _rendered(options, data["variables"])
        variables = _rendered(run["extra_vars"], {**data["variables"], "event": data["event"]})
    except Exception as error:  # noqa: BLE001 - what the engine makes of a template comes before our code
        raise Refused(f"the engine: {error}") from None
    if not data["run"]:
        return source({"name": _name.rpartition(".")[2], "options": given})
    return play({"play": f"{COLLECTION}.{data['name']}", "variables": variables, "flags": []})


def _rendered(value: Any, variables: Data) -> Any:
    """Return the same as ansible-rulebook's ``substitute_variables``."""
    import jinja2
    import jinja2.nativetypes

    if isinstance(value, str):
        environment = jinja2.nativetypes.NativeEnvironment(undefined=jinja2.StrictUndefined)
        found: Any = environment.from_string(value).render(
            **{str(key): one for key, one in variables.items()}
        )
        if isinstance(found, jinja2.Undefined):
            raise TypeError("the engine sends no undefined value")
        return found
    if isinstance(value, Mapping):
        return {key: _rendered(one, variables) for key, one in value.items()}
    if isinstance(value, list):
        return [_rendered(one, variables) for one in value]
    return value


def config(data: Data) -> Any:
    """Read an AdapterConfig."""
    _write_files(data)
    from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import PullSecretError
    from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.adapter.config.config import (
        load_adapter_config,
    )

    try:
        load_adapter_config(data["options"]["config"])
    except PullSecretError as error:
        raise Refused(str(error)) from None
    return None


def program(data: Data) -> Any:
    """Run the job's program as its image starts it."""
    from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.programs.job.program import main

    environment = {name: os.environ[name] for name in ("KUBECONFIG", "HOME", "PATH")}
    environment["SECRET_MANAGER_EMULATOR_HOST"] = os.environ["FUZZ_REST"]
    environment |= data["environment"]
    os.environ.clear()
    os.environ.update(environment)
    if main(environment):
        raise Refused("its log is on stdout")
    return None


def _write_files(data: Data) -> None:
    for name, document in (data.get("files") or {}).items():
        text = (
            json.dumps(document, default=str)
            if name.endswith(".json")
            else yaml.dump(document, Dumper=_Dumper)
        )
        (Path(os.environ["FUZZ_ROOT"]) / name).write_text(text, errors="surrogatepass")


RUNNERS: dict[str, Callable[[Data], Any]] = {
    "module": module,
    "action": action,
    "play": play,
    "lookup": lookup,
    "filter": filters,
    "source": source,
    "rulebook": rulebook,
    "config": config,
    "program": program,
}

assert constants.DEFAULT_LOCAL_TMP, "Ansible's configuration is loaded"
