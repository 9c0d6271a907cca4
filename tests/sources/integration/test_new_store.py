# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A new secret store needs a module in ``places/`` and a line in the table of sources; every workflow has it
then.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lab.session import STAND_IN
from tests.support.kubernetes.running import api_server
from tests.support.kubernetes.world import Api
from tests.tools.env import ROOT

UTILS = "ansible_collections.hyperfleet.pull_secret.plugins.module_utils"
# The only file that changes: the line before the new one, and the new line.
TABLE = "places/sources.py"
IMPORTED = ("from .local import EnvSource, FileSource, InlineSource\n", "from .made_up import MadeUpStore\n")
LISTED = {
    "after": ("    SecretManagerStore,\n", "    MadeUpStore,\n"),
    "before": ("    KubernetesSource,\n", "    MadeUpStore,\n"),
}
BEGINNING = """
import json, sys, threading
from dataclasses import replace
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from UTILS.model.cluster import Cluster
from UTILS.model.errors import WrongOption
from UTILS.model.naming import with_secret_names
from UTILS.places.made_up import SHELVES, MadeUpStore
from UTILS.places.secret_manager.store import SecretManagerStore
from UTILS.places.sources import cluster_store
from UTILS.tasks import gcp_pull_secret
from UTILS.workflows.adapter.engine.decide import Apply, decide
from UTILS.workflows.adapter.engine.inline import InlineProvisioner
from UTILS.workflows.adapter.engine.last_status import reported_places
from UTILS.workflows.adapter.model import Order
from UTILS.workflows.options import run_options, with_targets
from UTILS.workflows.provision.checking import check_cluster
from UTILS.workflows.provision.place import place
from UTILS.workflows.provision.steps import rows, stored_at, to_place, to_store
from UTILS.workflows.provision.store import store

url, token, namespace = sys.argv[1:]
validated = ArgumentSpecValidator(run_options()).validate({
    "made_up": {"shelf": "one"}, "kubernetes": {"host": url, "api_key": token}, "timeout": 20})
assert not validated.error_messages, validated.error_messages
PARAMS = validated.validated_parameters
SHELF = SHELVES.setdefault("one", {})

def config(registry):
    return {"auths": {registry: {"auth": "dXNlcjpleGFtcGxlLXBhc3N3b3Jk"}}}

def holding(registry):
    return Cluster("cls-1", cluster_name="one", management_namespace=namespace,
                   secret_name="kept", source={"inline": config(registry)})

def stored(cluster, **run):
    return store([to_store(cluster)], PARAMS, **{"check_mode": False, "kind": KIND, **run})

def placed(cluster, entry):
    return place([to_place(cluster, entry)], PARAMS, check_mode=False)["targets"][0]
"""
WAYS = {
    "stored and placed": """
        [foreseen] = stored(holding("quay.io"), check_mode=True)["targets"]
        assert (foreseen["changed"], SHELF) == (True, {})
        first = stored(holding("quay.io"))
        [entry] = first["targets"]
        assert (entry["place"], entry["version"], entry["actions"]) == ("made-up:kept", "1", ["version added"])
        target = to_place(holding("quay.io"), entry)
        assert target["source"] == {"made_up": {"secret": "kept", "version": "1"}}
        second = place([target], PARAMS, check_mode=False)
        [row] = rows([("cls-1", None)], first, second)
        assert (row["failed"], row["version"], row["management_secret"]) == (False, "1", "created"), row
        assert not stored(holding("quay.io"))["changed"]
        assert not placed(holding("quay.io"), entry)["changed"]
    """,
    "a newer version stays until it is disabled": """
        [old] = stored(holding("quay.io"))["targets"]
        [new] = stored(holding("ghcr.io"))["targets"]
        assert placed(holding("ghcr.io"), new)["version"] == "2"
        overtaken = placed(holding("quay.io"), old)
        assert (overtaken["changed"], list(overtaken["registries"])) == (False, ["ghcr.io"])
        assert overtaken["warnings"] == [
            "the Kubernetes Secret keeps version 2 of made-up:kept, which is newer than version 1 of this run; "
            "disable version 2 if it is not wanted"]
        SHELF["made-up:kept"].values[1] = None
        assert list(placed(holding("quay.io"), old)["registries"]) == ["quay.io"]
        gone = placed(holding("ghcr.io"), new)
        assert (gone["kind"], gone["msg"]) == ("precondition", "made-up:kept/versions/2 is disabled")
    """,
    "restored": """
        stored(holding("quay.io")), stored(holding("ghcr.io"))
        [entry] = stored(replace(holding("quay.io"), restore_version="1", source=None))["targets"]
        assert (entry["version"], list(entry["registries"])) == ("3", ["quay.io"])
    """,
    "deleted": """
        stored(holding("quay.io"))
        going = Cluster("cls-1", secret_name="kept", state="absent")
        assert stored(replace(going, cluster_id="cls-2"))["targets"][0]["kind"] == "ownership"
        assert stored(going)["targets"][0]["actions"] == ["deleted"]
        assert SHELF == {}
    """,
    "its own rules": """
        wrong = replace(holding("quay.io"), retention={"keep": 1})
        assert stored(wrong)["targets"][0]["msg"] == "retention is nothing that this store knows"
        nameless = replace(holding("quay.io"), secret_name="a/b")
        assert stored(nameless)["targets"][0]["place"] == "made-up:(not shown)"
    """,
    "the module of another store keeps to its own": """
        target = {"project": "customer-1", "secret": "s", "source": {"made_up": {"secret": "kept"}}}
        params = ArgumentSpecValidator(with_targets(gcp_pull_secret.target_options())).validate(target)
        assert not params.error_messages
        [wanted] = gcp_pull_secret.targets_of(params.validated_parameters)
        assert wanted.target().name == "projects/customer-1/secrets/s"
    """,
}
# Clusters are stored in the new store.
CLUSTERS = {
    "a cluster is checked": """
        assert cluster_store() is MadeUpStore
        one, two = check_cluster(holding("quay.io"), {})
        assert (one.name, two.gcp_secret_path) == ("made-up:kept", "made-up:kept/versions/latest")
        try:
            check_cluster(replace(holding("quay.io"), retention={"keep": 1}), {"retention": "keeping"})
        except WrongOption as error:
            assert str(error) == "keeping is nothing that this store knows"
        else:
            raise AssertionError
    """,
    "the adapter": """
        order = Order(with_secret_names(replace(holding("quay.io"), source=None, secret_name=None)), 1)
        name = "made-up:hyperfleet-cls-1-pull-secret"
        assert order.stored_at == name
        provisioner = InlineProvisioner(PARAMS, stop=threading.Event(), check_mode=False)
        [seen] = provisioner.apply([Apply(order, json.dumps(config("quay.io")).encode())])
        assert (seen.state, seen.result["secret"], list(SHELF)) == ("succeeded", name, [name]), seen
        assert reported_places({"gcp_secret": name})[0] == [name]
        assert reported_places({"gcp_secret": "projects/customer-1/secrets/s"})[0] == []
        removal = decide({"id": "cls-1", "deleted_time": "x"}, {}, list)
        assert removal.secrets == (name,)
        [removed] = provisioner.remove_stored([("cls-1", name)])
        assert (removed.name, removed.changed, SHELF) == (name, True, {})
    """,
}


@pytest.fixture(scope="module")
def api() -> Iterator[Api]:
    with api_server(STAND_IN) as server:
        yield server


@pytest.fixture(scope="module", params=LISTED)
def tree(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory for PYTHONPATH with the collection's plugins and the store, listed before or after
    Google's.
    """
    top = tmp_path_factory.mktemp(request.param)
    plugins = top / "ansible_collections" / "hyperfleet" / "pull_secret" / "plugins"
    shutil.copytree(ROOT / "plugins", plugins, ignore=shutil.ignore_patterns("__pycache__"))
    places = plugins / "module_utils" / "places"
    shutil.copy(Path(__file__).with_name("made_up_store.py"), places / "made_up.py")
    table = plugins / "module_utils" / TABLE
    text = table.read_text(encoding="utf-8")
    for line, added in (IMPORTED, LISTED[request.param]):
        assert text.count(line) == 1
        text = text.replace(line, line + added)
    table.write_text(text, encoding="utf-8")
    return top


@pytest.mark.parametrize("way", [*WAYS, *CLUSTERS])
@pytest.mark.nightly
def test_every_workflow_has_it(tree: Path, api: Api, way: str) -> None:
    is_first = tree.name.startswith("before")
    if way in CLUSTERS and not is_first:
        steps = "assert cluster_store() is SecretManagerStore"
    else:
        steps = "\n".join(line.removeprefix(" " * 8) for line in {**WAYS, **CLUSTERS}[way].splitlines())
    kind = "KIND = None" if is_first else "KIND = MadeUpStore"
    program = f"{BEGINNING.replace('UTILS.', f'{UTILS}.')}\n{kind}\n{steps}"
    done = subprocess.run(
        [sys.executable, "-c", program, api.url, api.token, api.namespace()],
        env={**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, "")
