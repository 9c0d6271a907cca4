# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""kubectl, and what it needs beyond the verbs: tables, protobuf bodies, OpenAPI, access reviews."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.naming import LAST_APPLIED
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import k8s_pull_secret
from tests.kubernetes.contract.support import Body, Client, Place, pull_secret, secret
from tests.lab.session import REAL, STAND_IN, KubernetesEnv, kubernetes
from tests.stand_ins.kubernetes.lab import KubernetesLab
from tests.support.docker_configs import KEY, auth, docker_config, encoded, held
from tests.support.kubernetes.running import run_task

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
PROTOBUF = "application/vnd.kubernetes.protobuf"
REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
# What kubectl 1.34 sends for `create secret generic two --from-literal=a=b --from-literal=e=`, and for
# `create job j --image=example.com/x:1 -- true`.
META = b'\x12\x00\x1a\x00"\x00*\x002\x008\x00B\x00'
SECRET = (
    b"k8s\x00\n\x0c\n\x02v1\x12\x06Secret\x12&\n\x13\n\x03two"
    + META
    + b'\x12\x06\n\x01a\x12\x01b\x12\x05\n\x01e\x12\x00\x1a\x00\x1a\x00"\x00'
)
JOB = (
    b"k8s\x00\n\x0f\n\x08batch/v1\x12\x03Job\x12\x86\x01\n\x11\n\x01j"
    + META
    + b"\x12g2e\n\x10\n\x00"
    + META
    + b"\x12Q\x12.\n\x01j\x12\x0fexample.com/x:1\x1a\x04true*\x00B\x00j\x00r\x00\x80\x01\x00\x88\x01\x00\x90"
    b"\x01\x00\xa2\x01\x00\x1a\x05Never2\x00B\x00J\x00R\x00X\x00`\x00h\x00\x82\x01\x00\x8a\x01\x00\x9a\x01"
    b'\x00\xc2\x01\x00\x1a\x08 \x00(\x000\x00:\x00\x1a\x00"\x00'
)
Run = Callable[..., tuple[int, str]]


def rows(answer: Body) -> list[dict[str, Any]]:
    """Each row of a table as a mapping of column names to cells; of the age, that there is one."""
    assert answer["kind"] == "Table"
    columns = answer["columnDefinitions"]
    shown = [
        {c["name"]: str(cell) for c, cell in zip(columns, row["cells"], strict=True) if not c["priority"]}
        for row in answer["rows"]
    ]
    assert all(row.pop("Age") for row in shown)
    return shown


def test_a_list_as_a_table(admin: Client, place: Place) -> None:
    place.made(pull_secret("a"))
    place.made(secret("b", stringData={"x": "1", "y": "2"}))
    told = admin.get(place.secrets, accept=TABLE).ok()
    assert rows(told) == [
        {"Name": "a", "Type": "kubernetes.io/dockerconfigjson", "Data": "1"},
        {"Name": "b", "Type": "Opaque", "Data": "2"},
    ]
    assert [row["object"]["metadata"]["namespace"] for row in told["rows"]] == [place.namespace] * 2
    assert int(told["metadata"]["resourceVersion"])
    one = admin.get(place.at("b"), accept=TABLE, includeObject="None").ok()
    assert [(row["cells"][0], row["object"]) for row in one["rows"]] == [("b", None)]
    assert one["metadata"] == {
        "resourceVersion": admin.get(place.at("b")).ok()["metadata"]["resourceVersion"]
    }
    assert admin.get(place.at("c"), accept=TABLE).refused(404, "NotFound")


def test_tables_of_other_kinds(admin: Client, place: Place) -> None:
    assert rows(admin.get(place.root, accept=TABLE).ok()) == [{"Name": place.namespace, "Status": "Active"}]
    admin.post(place.accounts, {"metadata": {"name": "robot"}}).ok()
    try:
        account = admin.get(f"{place.accounts}/robot", accept=TABLE).ok()
        assert rows(account) == [{"Name": "robot", "Secrets": "0"}]
    finally:
        admin.delete(f"{place.accounts}/robot").ok()
    admin.post(f"{place.root}/configmaps", {"metadata": {"name": "cm"}, "data": {"a": "b"}}).ok()
    found = admin.get(f"{place.root}/configmaps/cm", accept=TABLE).ok()
    assert rows(found) == [{"Name": "cm", "Data": "1"}]
    admin.delete(f"{place.root}/configmaps/cm").ok()


def test_objects_in_protobuf(admin: Client, new_place: Callable[[], Place]) -> None:
    place = new_place()
    made = admin.call("POST", place.secrets, SECRET, PROTOBUF).ok()
    assert (made["metadata"]["name"], made["data"], made["type"]) == ("two", {"a": "Yg==", "e": ""}, "Opaque")
    jobs = f"/apis/batch/v1/namespaces/{place.namespace}/jobs"
    spec = admin.call("POST", jobs, JOB, PROTOBUF).ok()["spec"]["template"]["spec"]
    container = spec["containers"][0]
    assert (spec["restartPolicy"], container["command"]) == ("Never", ["true"])
    assert container["image"] == "example.com/x:1"


def test_a_body_in_an_unknown_format(admin: Client, place: Place) -> None:
    admin.call("POST", place.secrets, b"a: b", "application/toml").refused(415, "UnsupportedMediaType")


def test_whether_a_user_may(server: KubernetesEnv, admin: Client, viewer: Client, place: Place) -> None:
    somebody = Client(server, server.token, acting_as="system:serviceaccount:default:nobody")
    wanted = {"verb": "create", "resource": "secrets", "namespace": place.namespace}
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": wanted},
    }
    told = [user.post(REVIEWS, review).ok()["status"]["allowed"] for user in (admin, viewer, somebody)]
    assert told == [True, False, False]


@pytest.mark.parametrize("version", ["api/v1", "apis/batch/v1"])
def test_patch_takes_a_field_validation(admin: Client, version: str) -> None:
    """kubectl then relies on the server to refuse unknown fields."""
    at = admin.get("/openapi/v3").ok()["paths"][version]["serverRelativeURL"]
    paths = admin.get(at).ok()["paths"]
    kind = "secrets" if version == "api/v1" else "jobs"
    patch = paths[f"/{version}/namespaces/{{namespace}}/{kind}/{{name}}"]["patch"]
    assert {"dryRun", "fieldValidation"} <= {parameter["name"] for parameter in patch["parameters"]}
    assert patch["x-kubernetes-group-version-kind"]["kind"] == kind.removesuffix("s").capitalize()


MANIFEST = """
apiVersion: v1
kind: Secret
metadata: {name: applied}
stringData: {x: v1}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: robot}
imagePullSecrets: [{name: applied}]
---
apiVersion: batch/v1
kind: Job
metadata: {name: work}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: example.com/work:1}]}}}
"""


@pytest.fixture(scope="module")
def kubeconfig(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The kubeconfig that ``kubectl`` writes for its server and uses."""
    return tmp_path_factory.mktemp("kubectl") / "kubeconfig"


@pytest.fixture(params=[STAND_IN, REAL], scope="module")
def kubectl(request: pytest.FixtureRequest, kubeconfig: Path) -> Iterator[Run]:
    """Run kubectl with a kubeconfig for the server; return the exit code and the output.

    One server and one namespace for all tests, because a real cluster takes seconds to delete a namespace.
    """
    from tests.lab.control_plane.build import build

    with contextlib.ExitStack() as stack:
        server: KubernetesLab | KubernetesEnv = (
            stack.enter_context(KubernetesLab(tls=True))
            if request.param == STAND_IN
            else stack.enter_context(kubernetes(REAL))
        )
        config = server.kubeconfig(kubeconfig)
        program = build() / "kubectl"
        environment = {**os.environ, "HOME": str(config.parent), "KUBECONFIG": str(config)}

        def run(*arguments: str, token: str = "") -> tuple[int, str]:
            who = [f"--token={token}"] * bool(token)
            done = subprocess.run(
                [str(program), *who, *arguments],
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
                timeout=60,
            )
            return done.returncode, done.stdout

        assert run("create", "namespace", "kubectl") == (0, "namespace/kubectl created\n")
        run("config", "set-context", "--current", "--namespace=kubectl")
        yield run
        assert run("delete", "namespace", "kubectl") == (0, 'namespace "kubectl" deleted\n')


@pytest.mark.real("go")
def test_kubectl_creates_shows_and_deletes(kubectl: Run) -> None:
    said = kubectl("create", "secret", "generic", "s", "--from-literal=a=b")
    assert said == (0, "secret/s created\n")
    assert kubectl("create", "serviceaccount", "robot") == (0, "serviceaccount/robot created\n")
    job = ("create", "job", "work", "--image=example.com/work:1", "--", "true")
    assert kubectl(*job) == (0, "job.batch/work created\n")
    code, told = kubectl("create", "namespace", "kubectl")
    assert (code, told) == (
        1,
        'Error from server (AlreadyExists): namespaces "kubectl" already exists\n',
    )
    code, told = kubectl("get", "secrets")
    assert [line.split()[:3] for line in told.splitlines()] == [
        ["NAME", "TYPE", "DATA"],
        ["s", "Opaque", "1"],
    ]
    code, told = kubectl("get", "secrets", "-A")
    assert ["kubectl", "s", "Opaque", "1"] in [line.split()[:4] for line in told.splitlines()]
    code, told = kubectl("get", "namespaces,serviceaccounts,jobs")
    assert code == 0
    assert {"namespace/kubectl", "serviceaccount/robot", "job.batch/work"} <= set(told.split())
    for kind, name in (("secret", "s"), ("namespace", "kubectl"), ("sa", "robot"), ("job", "work")):
        code, told = kubectl("describe", kind, name)
        assert (code, told.splitlines()[0].split()) == (0, ["Name:", name])
    for kind, name in (("secret", "s"), ("serviceaccount", "robot"), ("job", "work")):
        code, told = kubectl("delete", kind, name)
        assert (code, told.split()[1:3]) == (0, [f'"{name}"', "deleted"])
    assert kubectl("get", "secret", "s") == (1, 'Error from server (NotFound): secrets "s" not found\n')


@pytest.mark.real("go")
def test_kubectl_applies(kubectl: Run, tmp_path: Path) -> None:
    manifest = tmp_path / "manifest.yml"
    apply = ("apply", "-f", str(manifest))
    names = ("secret/applied", "serviceaccount/robot", "job.batch/work")
    manifest.write_text(MANIFEST)
    assert kubectl(*apply) == (0, "".join(f"{name} created\n" for name in names))
    # kube-apiserver converts stringData, so kubectl reports the Secret as changed every time.
    again = ["configured", "unchanged", "unchanged"]
    for text in (MANIFEST, MANIFEST.replace("v1}", "v2}")):
        manifest.write_text(text)
        lines = [f"{name} {what}\n" for name, what in zip(names, again, strict=True)]
        assert kubectl(*apply) == (0, "".join(lines))
    assert kubectl("get", "secret", "applied", "-o", "jsonpath={.data.x}") == (0, "djI=")
    manifest.write_text(MANIFEST.replace("imagePullSecrets", "imagePullSecret"))
    code, told = kubectl(*apply)
    assert code == 1
    assert 'strict decoding error: unknown field "imagePullSecret"' in told
    assert kubectl("delete", "-f", str(manifest))[0] == 0


@pytest.mark.real("go")
def test_kubectl_says_who_may(kubectl: Run) -> None:
    can_i = ("auth", "can-i", "create", "secrets")
    assert kubectl(*can_i) == (0, "yes\n")
    assert kubectl(*can_i, "--as=system:serviceaccount:default:nobody") == (1, "no\n")
    code, told = kubectl("get", "secrets", token="not-a-token")
    assert (code, told) == (1, "error: You must be logged in to the server (Unauthorized)\n")


# As Google writes it, indented. `"$(cat key.json)"` leaves out the last newline.
GOOGLE_KEY = json.dumps({"type": "service_account", "private_key": "-----BEGIN\nexample\n"}, indent=2)
SECRET_NAME = "cls-123-pull-secret"


def source(name: str) -> dict[str, Any]:
    return {"kubernetes": {"namespace": "kubectl", "name": name}}


def stored(kubectl: Run, name: str) -> Body:
    """All that the server has of a Secret."""
    code, text = kubectl("get", "secret", name, "-o", "json", "--show-managed-fields")
    assert code == 0, text
    return dict(json.loads(text))


def placed(kubeconfig: Path, **options: Any) -> dict[str, Any]:
    """Run ``k8s_pull_secret`` twice for the cluster's Secret; return the target of the first run."""
    connection = {"kubernetes": {"kubeconfig": str(kubeconfig)}}
    params = {"cluster_id": "cls-123", "namespace": "kubectl", **connection, **options}
    result = run_task(k8s_pull_secret, params, diff=True)
    assert not result.get("failed"), result["msg"]
    assert "example" not in json.dumps(result)
    assert run_task(k8s_pull_secret, params)["changed"] is False
    (target,) = result["targets"]
    return dict(target)


@pytest.mark.real("go")
def test_a_google_key_file_that_kubectl_made_a_pull_secret_of(kubectl: Run, kubeconfig: Path) -> None:
    create = ("create", "secret", "docker-registry", "google", "--docker-server=us-docker.pkg.dev")
    login = ("--docker-username=_json_key", f"--docker-password={GOOGLE_KEY}")
    assert kubectl(*create, *login) == (0, "secret/google created\n")
    google = held(stored(kubectl, "google"))["auths"]
    assert google["us-docker.pkg.dev"]["auth"] == encoded(f"_json_key:{GOOGLE_KEY}")
    platform = docker_config(quay_io="platform")
    layers = [
        {"name": "platform", "source": {"inline": platform}},
        {"name": "team", "source": source("google")},
    ]
    target = placed(kubeconfig, layers=layers)
    assert (target["actions"], target["registries"]["us-docker.pkg.dev"]) == (["created"], "team")
    assert held(stored(kubectl, SECRET_NAME)) == {"auths": {**platform["auths"], **google}}
    (warning,) = target["warnings"]
    assert re.fullmatch(
        r"layer team: us-docker\.pkg\.dev: .*jq -c \. key\.json.* \[control-character\]", warning
    )
    assert kubectl("delete", "secret", "google", SECRET_NAME)[0] == 0


@pytest.mark.real("go")
def test_the_copy_that_kubectl_apply_keeps_goes(kubectl: Run, kubeconfig: Path, tmp_path: Path) -> None:
    old, new = docker_config(quay_io="old"), docker_config(quay_io="new")
    manifest = tmp_path / "manifest.json"
    body = {**pull_secret(SECRET_NAME), "apiVersion": "v1", "kind": "Secret"}
    del body["data"]
    manifest.write_text(json.dumps({**body, "stringData": {KEY: json.dumps(old)}}))
    # Theirs, which is adopted, and then ours, to which somebody applies the old manifest.
    removed = ["annotation last-applied-configuration removed"]
    for actions in (["adopted", *removed, "updated"], [*removed, "annotations updated", "updated"]):
        assert kubectl("apply", "-f", str(manifest))[0] == 0
        before = stored(kubectl, SECRET_NAME)
        assert auth("old") in before["metadata"]["annotations"][LAST_APPLIED]
        target = placed(kubeconfig, source={"inline": new}, adopt=True)
        assert sorted(target["actions"]) == actions
        after = stored(kubectl, SECRET_NAME)
        assert held(after) == new
        assert LAST_APPLIED not in after["metadata"]["annotations"]
        assert not [form for form in (auth("old"), encoded(json.dumps(old))) if form in json.dumps(after)]
    assert kubectl("delete", "secret", SECRET_NAME)[0] == 0


@pytest.mark.real("go")
def test_a_secret_of_the_legacy_type_is_read(kubectl: Run, kubeconfig: Path, tmp_path: Path) -> None:
    config = docker_config(quay_io="legacy")
    (tmp_path / "legacy").write_text(json.dumps(config["auths"]))
    create = ("create", "secret", "generic", "legacy", "--type=kubernetes.io/dockercfg")
    assert kubectl(*create, f"--from-file=.dockercfg={tmp_path}/legacy") == (0, "secret/legacy created\n")
    assert stored(kubectl, "legacy")["type"] == "kubernetes.io/dockercfg"
    assert placed(kubeconfig, source=source("legacy"))["registries"] == {"quay.io": "kubernetes"}
    assert held(stored(kubectl, SECRET_NAME)) == config
    assert kubectl("delete", "secret", "legacy", SECRET_NAME)[0] == 0
