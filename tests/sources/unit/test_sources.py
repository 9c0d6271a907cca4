# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""From ``source`` or ``layers`` to one docker config."""

from __future__ import annotations

import base64
import json
import time
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import (
    ConfigurationError,
    InvalidDocument,
    NotFound,
    PullSecretError,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.reader import (
    Document,
    DocumentReader,
    check_references,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.sources import (
    SOURCES,
    OpenSources,
    source_spec,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.retry import Deadline
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.run_settings import RunSettings
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import dockerconfig_merge
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.provision import place, store
from tests.support.yaml_bombs import MERGES

AUTH = "dXNlcjpleGFtcGxlLXBhc3N3b3Jk"  # user:example-password
CONFIG = {"auths": {"quay.io": {"auth": AUTH}}}
TEXT = json.dumps(CONFIG)


def read(target: dict[str, Any], seen: list[bytes] | None = None) -> Document:
    settings = RunSettings()
    reader = DocumentReader(OpenSources(settings))
    return reader.read(target, Deadline(5), [] if seen is None else seen)


def in_file(tmp_path: Path, text: str, field: str, name: str = "cluster") -> dict[str, Any]:
    path = tmp_path / name
    path.write_text(text)
    return {"source": {"file": str(path), "field": field}}


def test_targets_share_a_reading_for_a_second(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "source"
    target = {"source": {"file": str(path)}}

    def write(registry: str) -> None:
        path.write_text(json.dumps({"auths": {registry: {"auth": AUTH}}}))

    def registries(reader: DocumentReader) -> list[str]:
        return list(reader.read(target, Deadline(5), []).config.registries)

    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    write("old.example.com")
    reader = DocumentReader(OpenSources(RunSettings()))
    assert registries(reader) == ["old.example.com"]
    write("new.example.com")
    assert registries(reader) == ["old.example.com"]
    # Another run was perhaps begun by this very change.
    assert registries(DocumentReader(OpenSources(RunSettings()))) == ["new.example.com"]
    now[0] += 1.1
    assert registries(reader) == ["new.example.com"]


def test_the_places() -> None:
    assert [kind.NAME for kind in SOURCES] == ["inline", "file", "env", "kubernetes", "gcp", "hyperfleet"]


@pytest.mark.parametrize(
    ("source", "right"),
    [
        ({"env": "A"}, True),
        ({"file": "/a", "field": "a.b"}, True),
        ({"env": "A", "file": "/a"}, False),
        ({"field": "a.b"}, False),
        ({}, False),
        ({"gcp": {"project": "p-1"}}, False),
        ({"kubernetes": {"namespace": "a"}}, False),
        ({"vault": "a"}, False),
    ],
)
def test_a_source_is_exactly_one_place(source: dict[str, Any], right: bool) -> None:
    result = ArgumentSpecValidator({"source": source_spec()}).validate({"source": source})
    assert (not result.error_messages) is right


KUBERNETES = {"namespace": "n", "name": "s"}
GCP = {"project": "project-1", "secret": "s"}
WRONG_REFERENCES: list[tuple[dict[str, Any], str]] = [
    ({"file": ""}, "file"),
    ({"env": ""}, "env"),
    ({"env": "a=b"}, "env"),
    *(
        ({"kubernetes": {**KUBERNETES, option: value}}, f"kubernetes.{option}")
        for option in KUBERNETES
        for value in (None, "", "..", "a/b", "A")
    ),
    ({"kubernetes": {**KUBERNETES, "key": "a/b"}}, "kubernetes.key"),
    *(
        ({"gcp": {**GCP, option: value}}, f"gcp.{option}")
        for option in GCP
        for value in (None, "", "..", "a/b")
    ),
    ({"gcp": {**GCP, "version": "1/.."}}, "gcp.version"),
    *(({"hyperfleet": {"cluster_id": value}}, "hyperfleet.cluster_id") for value in (None, "", "..", "a/b")),
]


@pytest.mark.parametrize(("source", "option"), WRONG_REFERENCES)
def test_a_reference_that_can_name_nothing_is_refused_by_its_option(
    source: dict[str, Any], option: str
) -> None:
    with pytest.raises(ConfigurationError) as caught:
        read({"source": source})
    assert str(caught.value).startswith(f"source.{option} ")


@pytest.mark.parametrize(("source", "option"), WRONG_REFERENCES)
def test_an_optional_layer_is_not_left_out_for_a_wrong_reference(source: dict[str, Any], option: str) -> None:
    """A wrong reference does not mean that the layer is absent. It is rejected before the first layer is
    read.
    """
    layers = [
        {"name": "first", "source": {"file": "/nonexistent/first"}},
        {"name": "second", "source": source, "optional": True},
    ]
    with pytest.raises(ConfigurationError) as caught:
        read({"layers": layers})
    assert str(caught.value).startswith(f"layers[1].source.{option} ")


@pytest.mark.parametrize("task", [dockerconfig_merge, store, place])
def test_a_wrong_reference_is_found_before_anything_is_asked(task: Any) -> None:
    wanted = {"state": "present", "project": "project-1", "namespace": "n", "cluster_id": "c"}
    with pytest.raises(ConfigurationError, match=r"^source\.kubernetes\.namespace is empty$"):
        task.build_target({**wanted, "source": {"kubernetes": {"namespace": "", "name": "n"}}})


ENCODED = base64.b64encode(b"canary-user:canary-password").decode().rstrip("=")


@pytest.mark.parametrize(
    ("source", "option"),
    [
        ({"gcp": {**GCP, "secret": ENCODED}}, "gcp.secret"),
        ({"gcp": {**GCP, "version": ENCODED}}, "gcp.version"),
        ({"kubernetes": {**KUBERNETES, "key": ENCODED}}, "kubernetes.key"),
    ],
)
def test_a_credential_where_a_name_belongs_is_refused_and_not_shown(
    source: dict[str, Any], option: str
) -> None:
    ((name, reference),) = source.items()
    (kind,) = (kind for kind in SOURCES if name == kind.NAME)
    with pytest.raises(ConfigurationError) as caught:
        kind.check(reference)
    assert str(caught.value).startswith(f"source.{option} must be ")
    assert ENCODED not in str(caught.value)


@pytest.mark.parametrize(
    "source",
    [
        {"kubernetes": {**KUBERNETES, "key": None}},
        {"kubernetes": {**KUBERNETES, "key": "config.json"}},
        {"gcp": {**GCP, "version": None}},
        {"gcp": {"project": "example.com:project-1", "secret": "S_1", "version": "12"}},
        {"gcp": {"project": "123456789", "secret": "s", "version": "an-alias"}},
        {"hyperfleet": {"cluster_id": "0199a1b2-0000-7000-8000-000000000001"}},
    ],
)
def test_a_reference_that_can_name_something_is_right(source: dict[str, Any]) -> None:
    check_references({"source": source})
    check_references({"layers": [{"name": "a", "source": source}]})


def test_provenance_is_the_kind_of_place() -> None:
    document = read({"source": {"inline": TEXT}})
    assert dict(document.provenance) == {"quay.io": "inline"}
    assert list(document.config.registries) == ["quay.io"]


def test_what_was_read_is_handed_to_the_masking_also_when_it_is_refused(tmp_path: Path) -> None:
    seen: list[bytes] = []
    wrong = {"spec": {"data": '{"auths": 7}'}}
    with pytest.raises(InvalidDocument):
        read(in_file(tmp_path, json.dumps(wrong), "spec.data"), seen)
    assert seen[-1] == b'{"auths": 7}'


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"spec": {"pullSecret": {"data": TEXT}}}),
        json.dumps({"spec": {"pullSecret": {"data": CONFIG}}}),
        f"spec:\n  pullSecret:\n    data: '{TEXT}'\n",
        f"spec:\n  pullSecret:\n    data:\n      auths:\n        quay.io:\n          auth: {AUTH}\n",
    ],
    ids=["text in JSON", "object in JSON", "text in YAML", "object in YAML"],
)
def test_a_field_of_a_document(tmp_path: Path, text: str) -> None:
    document = read(in_file(tmp_path, text, "spec.pullSecret.data"))
    assert json.loads(document.config.canonical()) == CONFIG


@pytest.mark.parametrize(
    ("text", "kind", "word"),
    [
        ('{"spec": {}}', NotFound, "no field spec.data"),
        ('{"spec": "text"}', NotFound, "no field spec.data"),
        ("[]", NotFound, "no field spec.data"),
        ("", NotFound, "no field spec.data"),
        ('{"spec": {"data": 7}}', InvalidDocument, "must be a string or an object"),
        ('{"spec": {"data": null}}', InvalidDocument, "must be a string or an object"),
        (json.dumps({"spec": {"data": [AUTH]}}), InvalidDocument, "must be a string or an object"),
        ("spec:\n  data: {auths: {quay.io: {auth: 2026-01-01}}}", InvalidDocument, "JSON cannot express"),
        (f"spec: [{AUTH}\n  - : }}", InvalidDocument, "neither JSON nor YAML"),
        ("spec: !!python/name:os.system", InvalidDocument, "neither JSON nor YAML"),
        ("[" * 5000, InvalidDocument, "is nested more than 100 levels deep"),
        (MERGES, InvalidDocument, "values after its aliases are expanded"),
        ("spec: !!timestamp " + AUTH, InvalidDocument, "has a value that does not fit its tag (line 1)"),
    ],
)
def test_a_field_that_cannot_be_read(
    tmp_path: Path, text: str, kind: type[PullSecretError], word: str
) -> None:
    with pytest.raises(kind) as caught:
        read(in_file(tmp_path, text, "spec.data"))
    assert word in str(caught.value)
    assert f"file:{tmp_path}/cluster" in str(caught.value)
    assert AUTH not in str(caught.value)


def test_an_error_names_the_layer_s_place_and_who_has_to_act() -> None:
    with pytest.raises(InvalidDocument) as caught:
        read({"source": {"inline": "{"}})
    assert str(caught.value).startswith("inline: ")
    assert caught.value.hint == "ask the document's owner to correct it"
    assert caught.value.retryable is False


def layer(name: str, content: Any, *, optional: bool = False) -> dict[str, Any]:
    return {"name": name, "source": {"inline": content}, "optional": optional}


def test_layers_keep_their_order_and_tell_conflicts() -> None:
    other = {"auths": {"quay.io": {"auth": "b3RoZXI6ZXhhbXBsZQ=="}, "a.example.com": {"auth": AUTH}}}
    document = read({"layers": [layer("one", CONFIG), layer("two", other)]})
    assert dict(document.provenance) == {"quay.io": "two", "a.example.com": "two"}
    (conflict,) = document.conflicts
    assert (conflict["registry"], conflict["winner"]) == ("quay.io", "two")


def test_an_optional_layer_that_is_unreachable_is_not_left_out() -> None:
    """Missing and invalid may be intended by its owner; unreachable is not."""
    down = {"hyperfleet": {"cluster_id": "cls-1"}}
    layers = [layer("one", CONFIG), {"name": "two", "source": down, "optional": True}]
    settings = RunSettings(
        timeout=2, api_timeout=1, connections={"hyperfleet": {"url": "http://127.0.0.1:9"}}
    )
    reader = DocumentReader(OpenSources(settings))
    with pytest.raises(PullSecretError) as caught:
        reader.read({"layers": layers}, Deadline(0.5), [])
    assert caught.value.kind in ("unavailable", "timeout")


@pytest.mark.parametrize("nothing", ["", " \n", "{}", '{"auths": {}}', '{"auths": null}', "null", {}])
def test_an_empty_layer_leaves_the_others(nothing: Any) -> None:
    """This holds for either layer: nothing was added, or there is nothing to add to yet."""
    for layers in (
        [layer("one", CONFIG), layer("two", nothing)],
        [layer("two", nothing), layer("one", CONFIG)],
    ):
        document = read({"layers": layers})
        assert dict(document.provenance) == {"quay.io": "one"}
        assert document.warnings == ["layer two is empty"]


def test_layers_that_are_all_empty_are_no_docker_config() -> None:
    with pytest.raises(InvalidDocument, match="has no registry"):
        read({"layers": [layer("one", "{}"), layer("two", "")]})
    with pytest.raises(InvalidDocument, match="auths-missing"):
        read({"source": {"inline": "{}"}})


def test_two_layers_of_one_name_are_an_error() -> None:
    with pytest.raises(PullSecretError) as caught:
        read({"layers": [layer("same", CONFIG), layer("same", CONFIG)]})
    assert "same" in str(caught.value)


def test_a_policys_registry_may_look_like_a_number() -> None:
    config = {"auths": {"5000": {"auth": AUTH}}}
    other = {"auths": {"5000": {"auth": "b3RoZXI6ZXhhbXBsZS1wYXNzd29yZA=="}}}
    layers = [layer("one", config), layer("two", other)]
    assert read({"layers": layers}).provenance == {"5000": "two"}
    assert read({"layers": layers, "policy": {5000: "one"}}).provenance == {"5000": "one"}


def test_a_policy_may_name_a_layer_that_is_left_out() -> None:
    missing = {"name": "two", "source": {"env": "EXAMPLE_NOT_SET"}, "optional": True}
    document = read({"layers": [layer("one", CONFIG), missing], "policy": {"quay.io": "two"}})
    assert dict(document.provenance) == {"quay.io": "one"}


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"policy": {None: "one"}}, "policy has a key that is not the name of a registry"),
        ({"policy": {5000: "one", "5000": "two"}}, "policy: entry 2 .name not shown. is given twice"),
        (
            {"policy": {"quay.io": "one", "https://quay.io": "two"}},
            "policy: https://quay.io is given twice, in different spellings and with different layers; keep one",
        ),
        ({"policy": {"quay.io": "twoo"}}, "policy of quay.io must be one of the layers one, two"),
        ({"layers": [layer("one", CONFIG), layer("one", CONFIG)]}, "two layers are named one"),
    ],
)
def test_a_mistake_of_the_task_is_no_document_s(wrong: dict[str, Any], said: str) -> None:
    """It is found before anything is read."""
    seen: list[bytes] = []
    with pytest.raises(ConfigurationError, match=said):
        read({"layers": [layer("one", "{"), layer("two", CONFIG)], **wrong}, seen)
    assert seen == []


def test_what_is_dropped_is_dropped_of_one_document_too() -> None:
    two = {"auths": {**CONFIG["auths"], "a.example.com": {"auth": AUTH}}}
    document = read({"source": {"inline": two}, "drop": ["https://quay.io", "nope.io"]})
    assert document.config.registries == ("a.example.com",)
    assert dict(document.provenance) == {"a.example.com": "inline"}
    assert document.warnings == ["drop: no document has the registry nope.io; check its spelling"]
    with pytest.raises(InvalidDocument, match="drop removes every registry; at least one must remain"):
        read({"source": {"inline": CONFIG}, "drop": ["quay.io"]})


def test_what_has_no_effect_is_told() -> None:
    document = read({"source": {"inline": CONFIG}, "policy": {"quay.io": "one"}})
    assert document.warnings == ["policy has no effect without layers"]
    document = read({"layers": [layer("one", CONFIG)], "drop": ["nope.io"]})
    assert document.warnings == ["drop: no document has the registry nope.io; check its spelling"]


def test_a_required_registry_may_not_get_lost() -> None:
    cloud = {"auths": {"cloud.openshift.com": {"auth": AUTH}}}
    document = read({"layers": [layer("original", cloud), layer("additional", CONFIG)]})
    assert "cloud.openshift.com" in document.provenance
    dropped = read(
        {"layers": [layer("original", cloud), layer("additional", CONFIG)], "drop": ["cloud.openshift.com"]}
    )
    assert "cloud.openshift.com" not in dropped.provenance


def test_a_warning_names_the_layer_also_of_an_entry_that_lost() -> None:
    def layer(name: str, password: str) -> dict[str, Any]:
        auth = base64.b64encode(f"user:{password}".encode()).decode()
        return {"name": name, "source": {"inline": {"auths": {"quay.io": {"auth": auth}}}}}

    for first, second in (("example-password", ""), ("", "example-password")):
        document = read({"layers": [layer("one", first), layer("two", second)]})
        assert document.provenance == {"quay.io": "one" if first else "two"}
        (warning,) = document.warnings
        assert warning.startswith(f"layer {'two' if first else 'one'}: quay.io: the password is empty")
