# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A new cluster option needs edits in at most three code files. Every interface then has it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tools.env import ROOT

# File in module_utils: the line before the new one, and the new line.
EDITS = {
    "model/cluster.py": (
        '    restore_version: str | None = field(default=None, metadata=_option(store="restore_version"))\n',
        (
            '    made_up: str | None = field(default=None, metadata=_option(store="made_up", variable="MADE_UP",'
            ' document=Key("spec.gcp", ("madeUp",))))\n'
        ),
    ),
    "places/secret_manager/store.py": (
        '            impersonate=options.get("impersonate_service_account"),\n',
        '            made_up=options.get("made_up"),\n',
    ),
    "places/secret_manager/target.py": (
        "    impersonate: str | None = None\n",
        "    made_up: str | None = None\n",
    ),
}
WAYS = {
    "a list of clusters": """
        [target] = gcp_targets([{**CLUSTER, "made_up": "it"}])
        assert target["made_up"] == "it"
        stored = {"targets": [{"id": "cls-1", "place": "projects/p-1/secrets/s", "version": "1"}]}
        assert "made_up" not in kubernetes_targets([{**CLUSTER, "made_up": "it"}], stored)[0]
        assert "did you mean made_up?" in check_cluster_list([{**CLUSTER, "madeup": "it"}])[0].problem
        assert "made_up must be a string" in check_cluster_list([{**CLUSTER, "made_up": ["it"]}])[0].problem
    """,
    "the module": """
        params = validated(gcp_pull_secret.target_options, {"project": "customer-1", "cluster_id": "cls-1",
                           "source": {"env": "A"}, "made_up": "it"})
        assert gcp_pull_secret.targets_of(params)[0].target().made_up == "it"
    """,
    "a document of the API": """
        assert of_adapter(madeUp="it").made_up == "it"
        assert of_adapter().made_up is None
        try:
            of_adapter(made_UP="it")
        except ConfigurationError as error:
            assert str(error).endswith("did you mean spec.gcp.madeUp?")
        else:
            raise AssertionError
    """,
    "a file of a cluster": """
        lookup = cluster_files.LookupModule()
        lookup.set_options, lookup.get_option = lambda **options: None, {"namespace": "clusters-{id}"}.get
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(document(madeUp="it"), file)
            file.flush()
            [cluster] = lookup.run([file.name])
        assert cluster["made_up"] == "it"
        [target] = gcp_targets([cluster])
        assert target["made_up"] == "it"
    """,
    "the Job": """
        cluster = read_environment({**ENVIRONMENT, "MADE_UP": " it "}).cluster
        assert to_store(cluster)["made_up"] == "it"
        assert "made_up" not in to_store(read_environment(ENVIRONMENT).cluster)
    """,
    "a Job's environment": """
        def environment(**said):
            order = Order(replace(CLUSTER_OF_ADAPTER, **said), 1)
            [container] = job_spec(order, TEMPLATE, "a")["template"]["spec"]["containers"]
            return [(item["name"], item.get("value")) for item in container["env"]]
        assert ("MADE_UP", "it") in environment(made_up="it")
        assert "MADE_UP" not in dict(environment())
    """,
    "the digest": """
        def digest(**said):
            return content_digest(Order(replace(CLUSTER_OF_ADAPTER, **said), 1), b'{"auths":{}}', b"k" * 32)
        assert digest() == "hmac-sha256:a11b7f880e9041d6e98aead8ef0ea2685f7ca9f3aa30e36f30bd1708a81fcf8c"
        assert digest(made_up="it") != digest()
    """,
    "the AdapterConfig": """
        try:
            fill_job({"image": "i", "env": [{"name": "MADE_UP", "value": "it"}]})
        except ConfigurationError as error:
            assert str(error).endswith("the adapter sets MADE_UP itself; remove this entry")
        else:
            raise AssertionError
    """,
}
BEGINNING = """
import json
import tempfile
from dataclasses import replace
from UTILS.model.cluster_document import read_spec
from UTILS.model.errors import ConfigurationError
from UTILS.tasks import gcp_pull_secret
from UTILS.tasks.entry import validated
from UTILS.workflows.adapter.config.defaults import fill_job
from UTILS.workflows.adapter.jobs.manifests import job_spec
from UTILS.workflows.adapter.jobs.marks import content_digest
from UTILS.workflows.adapter.model import Order
from UTILS.workflows.provision.environment import read_environment
from UTILS.workflows.provision.steps import to_store
from PLUGINS.lookup import cluster_files
from PLUGIN_UTILS.problems import check_cluster_list
from PLUGIN_UTILS.provision import gcp_targets, kubernetes_targets

CLUSTER = {"cluster_id": "cls-1", "gcp_project_id": "customer-1", "management_namespace": "n"}
ENVIRONMENT = {"CLUSTER_ID": "cls-1", "CLUSTER_NAME": "one", "GCP_PROJECT_ID": "customer-1",
               "PULL_SECRET_DATA": "{}", "MANAGEMENT_NAMESPACE": "n"}
def document(**said):
    return {"id": "cls-1", "name": "one", "spec": {"gcp": {"projectId": "customer-1", **said}}}

def of_adapter(**said):
    return read_spec(document(**said)).cluster("cls-1", management_namespace="clusters-cls-1")

CLUSTER_OF_ADAPTER = of_adapter()
TEMPLATE = fill_job({"image": "i"})
"""
PLUGINS = "ansible_collections.hyperfleet.pull_secret.plugins"


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory for PYTHONPATH: a copy of the collection's plugins with the new option."""
    top = tmp_path_factory.mktemp("made-up")
    plugins = top / "ansible_collections" / "hyperfleet" / "pull_secret" / "plugins"
    shutil.copytree(ROOT / "plugins", plugins, ignore=shutil.ignore_patterns("__pycache__"))
    for name, (line, added) in EDITS.items():
        path = plugins / "module_utils" / name
        text = path.read_text(encoding="utf-8")
        assert text.count(line) == 1, name
        path.write_text(text.replace(line, line + added), encoding="utf-8")
    return top


def test_it_takes_three_files_of_code() -> None:
    assert len(EDITS) <= 3
    assert all(added.count("\n") == 1 for _line, added in EDITS.values())


@pytest.mark.parametrize("way", WAYS)
def test_every_way_in_has_it(tree: Path, way: str) -> None:
    steps = "\n".join(line.removeprefix(" " * 8) for line in WAYS[way].splitlines())
    program = BEGINNING.replace("PLUGIN_UTILS.", f"{PLUGINS}.plugin_utils.").replace(
        "PLUGINS.", f"{PLUGINS}."
    )
    done = subprocess.run(
        [sys.executable, "-c", program.replace("UTILS.", f"{PLUGINS}.module_utils.") + steps],
        env={**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("option", ["kms_key", "location_kms_keys", "retention"])
def test_an_option_that_is_there_stands_in_as_few(option: str) -> None:
    """Counted: the name in quotes, as an option or as a field. Not counted: documentation and the places'
    code.
    """
    words = (f'"{option}"', f"    {option}: ")
    found = [
        path.name
        for path in (ROOT / "plugins").rglob("*.py")
        if path.parent.name not in ("modules", "doc_fragments")
        and any(word in path.read_text(encoding="utf-8") for word in words)
    ]
    assert {"cluster.py", "store.py"} <= set(found)
    assert len(found) <= 3
