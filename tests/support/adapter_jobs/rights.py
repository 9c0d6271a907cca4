# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The rights that the page *Permissions* names for the adapter, given to the accounts that it names."""

from __future__ import annotations

import yaml

from tests.lab.nodes.api import Api, Object
from tests.lab.supervisor import wait_until
from tests.support import doc_tables

_REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"


def documented() -> list[Object]:
    """The objects in the page's section, in order."""
    found: list[Object] = _blocks("permissions", "Kubernetes: the adapter and its Jobs")[0]["items"]
    return found


def pod() -> list[Object]:
    """The objects of the page *adapter*, section "Run it in a pod", in order."""
    return _blocks("adapter", "Run it in a pod")


def _blocks(page: str, title: str) -> list[Object]:
    """The content of each YAML block in a section."""
    section = doc_tables.section(doc_tables.page(page), title)
    return [yaml.safe_load(text) for text in doc_tables.yaml_blocks(section)]


def give(api: Api, objects: list[Object]) -> None:
    """Create the objects, and wait until the API server applies every permission."""
    for item in objects:
        api.create(_place(item), item)
    # The permissions take effect in any order.
    wait_until(lambda: all(_allowed(api, *right) for right in _granted(objects)), "the rights count")


def take(api: Api, objects: list[Object]) -> None:
    """Delete the objects."""
    for item in objects:
        api.delete(f"{_place(item)}/{item['metadata']['name']}")


def _place(item: Object) -> str:
    version, namespace = item["apiVersion"], item["metadata"].get("namespace")
    base = f"/apis/{version}" if "/" in version else f"/api/{version}"
    where = f"{base}/namespaces/{namespace}" if namespace else base
    return f"{where}/{item['kind'].lower()}s"


def user(subject: Object) -> str:
    """A service account's user name in the API server."""
    return f"system:serviceaccount:{subject['namespace']}:{subject['name']}"


def _granted(objects: list[Object]) -> list[tuple[str, Object]]:
    """The user and the ``resourceAttributes`` of each permission."""
    roles = {(item["kind"], item["metadata"]["name"]): item for item in objects}
    return [
        (user(subject), {"group": group, "resource": resource, "verb": verb, **_scope(item)})
        for item in objects
        if item["kind"].endswith("Binding")
        for subject in item["subjects"]
        for rule in roles[item["roleRef"]["kind"], item["roleRef"]["name"]]["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    ]


def _scope(item: Object) -> dict[str, str]:
    """The namespace, if the object is in one."""
    return {name: value for name, value in item["metadata"].items() if name == "namespace"}


def granted(objects: list[Object]) -> set[tuple[str, str | None, str, str]]:
    """(user, namespace, verb, resource) of each permission."""
    return {
        (who, where.get("namespace"), where["verb"], where["resource"]) for who, where in _granted(objects)
    }


def _allowed(api: Api, who: str, attributes: Object) -> bool:
    answer = api.create(_REVIEWS, {"spec": {"user": who, "resourceAttributes": attributes}})
    return bool(answer["status"]["allowed"])
