# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A short scenario with canaries, good and misplaced, for plugins that run in a playbook."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from tests.secrecy.watcher import Watcher
from tests.secrecy.world import COLLECTION, World
from tests.support.secrecy.labs import MANAGED, PROJECT, Labs

__all__ = ["SCENARIOS", "Scenario", "Tasks"]

_FORM = "hyperfleet_pull_secret"


class Tasks(World):
    """The tasks of one run, their variables, and what their results must say: else the plugin did not run."""

    def __init__(self, watcher: Watcher, labs: Labs) -> None:
        super().__init__(watcher, labs)
        self.given: list[dict[str, Any]] = []
        self.variables: dict[str, Any] = {}
        self.says: dict[str, str] = {}

    def token(self, name: str) -> str:
        return self.canary(name).entries[0].token

    def variable(self, value: Any) -> str:
        """A template for a value: what stands in a playbook, Ansible prints by itself."""
        name = f"canary_{len(self.variables)}"
        self.variables[name] = value
        return "{{ " + name + " }}"

    def add(self, name: str, says: str, module: str, options: Any, **more: Any) -> None:
        """A task; ``says``: what its result holds as JSON."""
        action = module if "." in module else f"{COLLECTION}.{module}"
        self.given.append({"name": name, action: options, "ignore_errors": True, **more})
        self.says[name] = says

    def misplaced(self, module: str, option: str, options: Mapping[str, Any]) -> None:
        """A task with a docker config in the place of an option."""
        text = self.variable(self.canary(f"{module}: misplaced").text)
        self.add(f"{module} misplaced", "is not allowed here", module, {**options, option: text})

    def shown(self, name: str, says: str, expression: str) -> None:
        """A task that shows what a lookup or a filter gives."""
        self.add(name, says, "ansible.builtin.debug", {"msg": f"{{{{ {expression} }}}}"})

    def options(self, plugin: str, **options: Any) -> dict[str, Any]:
        """A module's options with good connections; the secret ones that no place asks for are canaries."""
        given = self.labs.options()
        given["digest_key"] = self.variable(self.token(f"{plugin}: digest_key"))
        headers = {"Authorization": f"Bearer {self.token(f'{plugin}: a header')}"}
        given["hyperfleet"] = {**given["hyperfleet"], "headers": self.variable(headers)}
        return {**given, **options}

    def file(self, name: str, text: str) -> str:
        path = self.watcher.inputs / name
        path.write_text(text)
        return str(path)


Scenario = Callable[[Tasks], None]


def _inspect(tasks: Tasks) -> None:
    """It reads both places and a source, and compares them."""
    module = "pull_secret_info"
    places = {"project": PROJECT, "secret": "there", "namespace": MANAGED, "name": "there"}
    options = tasks.options(module, **places, digests="all", compare_source=True, show_table=True)
    good, bad = tasks.canary(f"{module}: good"), tasks.canary(f"{module}: bad")
    for name, says, text in (("good", '"in_sync": false', good.text), ("bad", "JSON", bad.text[:-30])):
        tasks.add(f"{module} {name}", says, module, {**options, "source": {"inline": tasks.variable(text)}})


def _adapter(tasks: Tasks) -> None:
    module = "hyperfleet_adapter"
    canary = tasks.canary(f"{module}: a cluster")
    tasks.labs.put_hyperfleet("cls-adapter", canary.text.encode())
    kubeconfig = tasks.labs.kubernetes.kubeconfig(tasks.watcher.inputs / "kubeconfig")
    config = {
        "apiVersion": "hyperfleet.redhat.com/v1alpha1",
        "kind": "AdapterConfig",
        "metadata": {"name": "pullsecret-adapter", "namespace": MANAGED},
        "spec": {
            "hyperfleetAPI": {
                "url": tasks.labs.hyperfleet.url,
                "headers": {"X-Token": tasks.token(f"{module}: a header of the configuration")},
            },
            "jobTemplate": {"image": "registry.example.com/pullsecret-job:1"},
            "execution": "job",
            "kubernetes": {"kubeconfig": str(kubeconfig)},
        },
    }
    overrides = {"headers": {"Authorization": f"Bearer {tasks.token(f'{module}: an overridden header')}"}}
    options = {"config": tasks.file("adapter.json", json.dumps(config)), "cluster_ids": ["cls-adapter"]}
    tasks.add(f"{module} good", "cls-adapter", module, {**options, "overrides": tasks.variable(overrides)})
    wrong = {"headers": {"not a name": tasks.token(f"{module}: a wrong header")}}
    tasks.add(f"{module} wrong", "headers", module, {**options, "overrides": tasks.variable(wrong)})


def _info(tasks: Tasks) -> None:
    module = "hyperfleet_cluster_info"
    canary = tasks.canary(f"{module}: a cluster")
    tasks.labs.put_hyperfleet("cls-info", canary.text.encode())
    tasks.add(f"{module} good", "cls-info", module, tasks.options(module, cluster_ids=["cls-info"]))
    tasks.misplaced(module, "search", tasks.options(module))


def _status(tasks: Tasks) -> None:
    module = "hyperfleet_status"
    canary = tasks.canary(f"{module}: a cluster")
    tasks.labs.put_hyperfleet("cls-status", canary.text.encode())
    kinds = ("Available", "Applied", "Health")
    said = [{"type": kind, "status": "True", "reason": "Stored", "text": "is stored"} for kind in kinds]
    options = {"cluster_id": "cls-status", "adapter": "canary", "conditions": said}
    tasks.add(f"{module} good", '"changed": true', module, tasks.options(module, **options))
    data = tasks.variable({"document": tasks.canary(f"{module}: misplaced").text})
    tasks.add(
        f"{module} misplaced", "is not allowed here", module, tasks.options(module, **options, data=data)
    )


def _event(tasks: Tasks) -> None:
    module = "cloud_event"
    token = tasks.file("token", tasks.token(f"{module}: the webhook's token"))
    webhook = {"type": "webhook", "url": "http://127.0.0.1:9/events", "token_file": token}
    tasks.add(
        f"{module} nobody", "cls-1", module, {"broker": webhook, "cluster_ids": ["cls-1"], "timeout": 2}
    )
    address = f"amqp://user:{tasks.token(f'{module}: a password in an address')}@127.0.0.1:9/"
    rabbitmq = tasks.variable({"type": "rabbitmq", "url": address, "topic": "events"})
    tasks.add(f"{module} address", "url", module, {"broker": rabbitmq, "cluster_ids": ["cls-1"]})
    tasks.misplaced(module, "source", {"broker": webhook})


def _job(tasks: Tasks) -> None:
    """The pull secret is the run's environment variable PULL_SECRET_DATA."""
    module = "pull_secret_job"
    login = tasks.labs.options()
    options = {name: login[name] for name in ("gcp", "kubernetes", "retry")}
    tasks.add(f"{module} good", '"version"', module, options)
    key = tasks.variable(tasks.token(f"{module}: api_key"))
    wrong = {**options, "kubernetes": {"host": tasks.labs.kubernetes.url, "api_key": key}}
    tasks.add(f"{module} refused", '"logged": true', module, wrong)


def _report(module: str, results: tuple[str, ...]) -> Scenario:
    def scenario(tasks: Tasks) -> None:
        canary = tasks.canary(f"{module}: a cluster")
        clusters = [{"cluster_id": "cls-1", "source": {"inline": canary.text}, "cluster_name": canary.text}]
        tasks.variables[f"{_FORM}_clusters_{module}"] = clusters
        failed = {"id": "cls-1", "failed": True, "changed": False, "msg": "is not there", "kind": "not_found"}
        tasks.variables[f"{_FORM}_result"] = {"targets": [failed]}
        named = dict.fromkeys(results, f"{_FORM}_result")
        tasks.add(f"{module} good", "cls-1", module, {"clusters": f"{_FORM}_clusters_{module}", **named})
        tasks.misplaced(module, "clusters", named)

    return scenario


def _lookup(tasks: Tasks) -> None:
    name = "cluster_files"
    good, bad, odd = (tasks.canary(f"{name}: {what}") for what in ("good", "bad", "misplaced"))
    spec = {"pullSecret": {"data": good.text}, "gcp": {"projectId": PROJECT}}
    directory = tasks.watcher.inputs / "clusters"
    directory.mkdir()
    files = {
        "good": json.dumps({"id": "cls-lookup", "name": "good", "spec": spec}),
        "bad": json.dumps({"id": "cls-bad", "spec": {"pullSecret": {"data": bad.text}}})[:-8],
        "odd": json.dumps({"id": "cls-odd", "name": odd.text, "spec": spec}),
    }
    for file, text in files.items():
        (directory / f"{file}.json").write_text(text)
    tasks.shown(f"lookup {name}", "cls-lookup", f"lookup('{COLLECTION}.{name}', '{directory}')")


def _names_of_variables(tasks: Tasks) -> None:
    """It gives names, and quotes no term."""
    name = f"{COLLECTION}.cluster_variables"
    tasks.shown("lookup cluster_variables", "cluster_id", f"query('{name}')")
    tasks.variables[f"{_FORM}_term"] = tasks.canary("cluster_variables: a term").text
    tasks.shown("lookup cluster_variables term", "takes no terms", f"query('{name}', {_FORM}_term)")


def _given(tasks: Tasks) -> None:
    """It gives names, and an error about a variable with a secret beside a template."""
    tasks.variables[f"{_FORM}_secret"] = tasks.canary("given: a variable").text
    tasks.variables[f"{_FORM}_undefined"] = [tasks.canary("given: an error").text, "{{ nope }}"]
    for name, values, says in (("secret", "false", f"{_FORM}_secret"), ("undefined", "true", "nope")):
        found = f"lookup('{COLLECTION}.given', '{_FORM}_{name}', values={values})"
        tasks.shown(f"lookup given {name}", says, found)


def _check(tasks: Tasks) -> None:
    module = "check_variables"
    text = tasks.canary(f"{module}: a variable").text
    tasks.variables[f"{_FORM}_checked"] = [text, "{{ nope }}"]
    tasks.add(f"{module} undefined", f"{_FORM}_checked", module, {"playbook": [f"{_FORM}_checked"]})
    text = tasks.variable(tasks.canary(f"{module}: misplaced").text)
    tasks.add(f"{module} misplaced", "is not allowed here", module, {"playbook": [text]})


def _filter(name: str, arguments: str) -> Scenario:
    def scenario(tasks: Tasks) -> None:
        canary = tasks.canary(f"{name}: a cluster")
        cluster_id = f"cls-{name}".replace("_", "-")
        good = {
            "cluster_id": cluster_id,
            "gcp_project_id": PROJECT,
            "management_namespace": MANAGED,
            "source": {"file": "/nowhere"},
        }
        if name == "hosted_targets":
            image = "registry.example.com/syncer:1"
            good = {"cluster_id": cluster_id, "control_plane_namespace": MANAGED, "syncer_image": image}
        tasks.variables[f"{_FORM}_{name}"] = [good, {"cluster_id": canary.text}]
        tasks.variables[f"{_FORM}_{name}_bad"] = tasks.canary(f"{name}: no list").document
        place = f"projects/{PROJECT}/secrets/there"
        stored = {"targets": [{"id": cluster_id, "changed": True, "version": "1", "place": place}]}
        tasks.variables[f"{_FORM}_{name}_stored"] = stored
        for form, says in (("", cluster_id), ("_bad", "clusters")):
            call = f"{_FORM}_{name}{form} | {COLLECTION}.{name}({arguments})"
            tasks.shown(f"filter {name}{form}", says, call)

    return scenario


def _credential_for(tasks: Tasks) -> None:
    """It is given what is secret, and tells of it; a key may be a credential, and so may the image be."""
    good = tasks.canary("credential_for: a docker config")
    tasks.variables[f"{_FORM}_config"] = good.text
    key = tasks.canary("credential_for: a key")
    auth = key.entries[0].auth
    tasks.variables[f"{_FORM}_key"] = {"auths": {f"user:{auth}@r0.example": {"auth": auth}}}
    tasks.variables[f"{_FORM}_bad"] = [tasks.canary("credential_for: a list").document]
    tasks.variables[f"{_FORM}_image"] = tasks.canary("credential_for: an image").text
    for name, config, image, says in (
        ("", "config", "'r0.example/app'", "r0.example"),
        ("key", "key", "'r0.example/app'", "not shown"),
        ("bad", "bad", "'r0.example/app'", "a string or a mapping"),
        ("image", "config", f"{_FORM}_image", "not a valid image name"),
    ):
        call = f"{_FORM}_{config} | {COLLECTION}.credential_for({image})"
        tasks.shown(f"filter credential_for {name}", says, call)


SCENARIOS: Mapping[str, Scenario] = {
    "module hyperfleet_adapter": _adapter,
    "module hyperfleet_cluster_info": _info,
    "module hyperfleet_status": _status,
    "module cloud_event": _event,
    "module pull_secret_info": _inspect,
    "module pull_secret_job": _job,
    "module pull_secret_report": _report("pull_secret_report", ("secret_manager", "management")),
    "module hosted_cluster_report": _report("hosted_cluster_report", ("result",)),
    "module check_variables": _check,
    "lookup cluster_files": _lookup,
    "lookup cluster_variables": _names_of_variables,
    "lookup given": _given,
    "filter credential_for": _credential_for,
    "filter gcp_targets": _filter("gcp_targets", ""),
    "filter info_targets": _filter("info_targets", ""),
    "filter kubernetes_targets": _filter("kubernetes_targets", f"{_FORM}_kubernetes_targets_stored"),
    "filter hosted_targets": _filter("hosted_targets", ""),
}
