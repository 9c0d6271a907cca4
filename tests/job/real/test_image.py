# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The job's image: its content, and a Job whose pod a real kubelet runs."""

from __future__ import annotations

import base64
import json
import stat
import subprocess
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
import yaml

from tests.stand_ins.secret_manager import SecretManagerLab
from tests.support.job.around import DOCUMENT

if TYPE_CHECKING:
    from tests.lab.nodes.cluster import ClusterLab
    from tests.support.job.pods import Jobs

pytestmark = pytest.mark.real("nodes")

ROOT = Path(__file__).resolve().parents[3]
_LABEL = "org.opencontainers.image."
AUTH = DOCUMENT["auths"]["quay.io"]["auth"]


class Image(NamedTuple):
    """The files of the image and its configuration."""

    root: Path
    config: dict[str, Any]

    def run(
        self, *arguments: str, first: Sequence[str] = (), **environ: str
    ) -> subprocess.CompletedProcess[str]:
        """Run the entry point in the image's files as its user, with a program ``first`` before it."""
        command = [*first, *self.config["Entrypoint"], *arguments]
        return subprocess.run(
            ["chroot", f"--userspec={self.config['User']}", str(self.root), *command],
            env={**dict(pair.split("=", 1) for pair in self.config["Env"]), **environ},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Image:
    # Imported here: it needs root and Debian packages, which the fast tests do not need.
    from tests.lab.images import build_job, unpack

    directory = tmp_path_factory.mktemp("image")
    for part in [directory, *directory.parents]:
        # The image's user must be able to enter the directory.
        if part.stat().st_uid == 0 and part.name.startswith(("image", "pytest-")):
            part.chmod(0o755)
    return Image(*unpack(build_job(), directory))


@pytest.fixture
def jobs(cluster: ClusterLab) -> Iterator[Jobs]:
    from tests.support.adapter_jobs.place import adapter_namespaces
    from tests.support.job.pods import Jobs

    with (
        SecretManagerLab(rest_address=cluster.network.host) as manager,
        adapter_namespaces(cluster, manager) as template,
    ):
        yield Jobs(cluster, template)


def test_it_runs_and_says_what_is_missing(image: Image) -> None:
    done = image.run()
    assert (done.returncode, done.stderr) == (2, "")
    assert "CLUSTER_ID" in json.loads(done.stdout)["message"]


@pytest.mark.nightly
def test_it_takes_flags(image: Image) -> None:
    assert image.run("--version").stdout.startswith("pullsecret-job 0.")
    assert "--cluster-id" in image.run("--help").stdout
    done = image.run("--cluster-id=cls-1", "--log-format", "text")
    assert done.returncode == 2
    assert "CLUSTER_ID" not in done.stdout


@pytest.mark.nightly
def test_nothing_is_compiled_when_it_starts(image: Image) -> None:
    """The root file system is read-only: Python would compile the files at every start."""
    said = image.run(first=["python3", "-v", "-ISOO"]).stderr
    # The program replaces stderr later; by then its modules have been loaded.
    loaded = [line for line in said.splitlines() if line.startswith("# code object from")]
    assert len(loaded) > 100
    start = [line for line in loaded if not line.endswith(".pyc'")]
    assert start == [], "only the few lines of the start are compiled, and -v does not list them"


def test_it_holds_the_job_and_no_more_of_the_collection(image: Image) -> None:
    utils = image.root / "opt/job/ansible_collections/hyperfleet/pull_secret/plugins/module_utils"
    held = {str(path.relative_to(utils)) for path in utils.rglob("*.py")}
    assert {"programs/job/program.py", "clients/google/plain.py", "clients/kubernetes/pod.py"} <= held
    assert not [
        path
        for path in held
        if path.startswith(("places/kubelet/", "workflows/hosted_cluster/", "workflows/adapter/"))
    ]
    assert not [path for path in held if path.startswith("programs/syncer/")]
    assert not (image.root / "opt/job/compile.py").exists()
    assert (image.root / "opt/job/google_crc32c/__init__.py").exists()
    assert not list((image.root / "opt/job").rglob("*.whl"))


@pytest.mark.nightly
def test_its_configuration_says_what_it_is_and_leaves_nothing_to_its_base(image: Image) -> None:
    assert image.config["User"] == "1000:1000"
    assert image.config["Entrypoint"] == ["/usr/local/bin/pullsecret-job"]
    assert not image.config.get("Cmd")
    assert (image.config["WorkingDir"], image.config["StopSignal"]) == ("/", "SIGTERM")
    version = yaml.safe_load((ROOT / "galaxy.yml").read_text())["version"]
    labels = {name.removeprefix(_LABEL): value for name, value in image.config["Labels"].items()}
    assert labels["title"] == "pullsecret-job"
    assert (labels["version"], labels["licenses"]) == (version, "GPL-3.0-or-later")
    assert labels["source"].startswith("https://")
    assert labels["description"]


@pytest.mark.nightly
def test_everybody_may_read_what_it_brings(image: Image) -> None:
    """The files must be readable even if only the owner can read the checkout."""
    closed = [path for path in (image.root / "opt/job").rglob("*") if not path.stat().st_mode & stat.S_IROTH]
    assert closed == []


@pytest.mark.nightly
def test_it_needs_no_shell(image: Image) -> None:
    for name in ("sh", "dash", "bash"):
        (image.root / "bin" / name).unlink(missing_ok=True)
    done = image.run()
    assert (done.returncode, done.stderr) == (2, "")


def test_its_result_reaches_the_jobs_pod(jobs: Jobs) -> None:
    job = jobs.run(json.dumps(DOCUMENT))
    (pod,) = jobs.pods(job)
    assert job["status"].get("succeeded") == 1, terminated_text(pod)
    told = jobs.told(pod)
    assert (told["result"], told["version"], told["versions_created"]) == ("success", "1", 1)
    assert told["secret"] == "projects/customer-prod-12345/secrets/hyperfleet-cls-123-pull-secret"
    assert told["management_secret"] == {"namespace": "clusters-cls-123", "name": "cls-123-pull-secret"}
    assert {call["status_code"] for call in told["k8s_api_calls"]} == {"404", "201"}
    assert [entry["operation"] for entry in jobs.log(pod)][-1] == "exit"
    placed = jobs.placed()
    assert placed is not None
    assert json.loads(base64.b64decode(placed["data"][".dockerconfigjson"])) == DOCUMENT
    assert AUTH not in json.dumps([job, pod, jobs.log(pod)])
    print(f"\nthe job took {told['duration_seconds']} s, its container {_seconds(pod):.0f} s")

    again = jobs.run(json.dumps(DOCUMENT), 2)
    (pod,) = jobs.pods(again)
    assert again["status"].get("succeeded") == 1, terminated_text(pod)
    assert (jobs.told(pod)["changed"], jobs.told(pod)["versions_created"]) == (False, 0)
    assert jobs.placed() == placed


@pytest.mark.nightly
def test_it_has_no_more_than_it_needs(jobs: Jobs) -> None:
    """Its user owns no files, and no file system on a disk is writable."""
    (pod,) = jobs.pods(jobs.run(json.dumps(DOCUMENT)))
    (container,) = pod["spec"]["containers"]
    context = container["securityContext"]
    assert (context["runAsUser"], context["readOnlyRootFilesystem"]) == (1000, True)
    assert context["capabilities"] == {"drop": ["ALL"]}
    assert [mount["readOnly"] for mount in container["volumeMounts"]] == [True]
    assert jobs.told(pod)["result"] == "success"
    # containerd and runc add empty mount points.
    layer = jobs.written(pod)
    assert layer
    assert [line for line in layer if line.startswith("-") and line.split()[2] != "0"] == []


@pytest.mark.nightly
def test_an_invalid_pull_secret_fails_the_job_at_once(jobs: Jobs) -> None:
    value = base64.b64encode(b"example password without a colon").decode()
    job = jobs.run(json.dumps({"auths": {"quay.io": {"auth": value}}}))
    (pod,) = jobs.pods(job)
    assert [row["reason"] for row in job["status"]["conditions"] if row["type"] == "Failed"] == [
        "PodFailurePolicy"
    ]
    assert job["status"]["failed"] == 1
    told = jobs.told(pod)
    assert (told["result"], told["kind"]) == ("failure", "invalid_document")
    assert value not in json.dumps([pod, jobs.log(pod)])
    assert jobs.placed() is None


def terminated_text(pod: dict[str, Any]) -> str:
    return json.dumps(pod["status"].get("containerStatuses"))


def _seconds(pod: dict[str, Any]) -> float:
    """Seconds from the start to the end of the container, as the kubelet reports them (whole seconds)."""
    from tests.support.job.pods import terminated

    state = terminated(pod)
    begun, ended = (datetime.fromisoformat(state[name]) for name in ("startedAt", "finishedAt"))
    return (ended - begun).total_seconds()
