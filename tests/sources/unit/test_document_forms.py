# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Other forms of a docker config: two are read, the others named with line, field and remedy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.dockerconfig import sensitive_forms
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import PullSecretError
from tests.sources.unit.test_sources import AUTH, CONFIG, TEXT, layer, read
from tests.support.docker_configs import KEY, encoded

ENTRIES = json.dumps(CONFIG["auths"])
LEGACY = encoded(ENTRIES)
ENTRY = CONFIG["auths"]["quay.io"]
LOCAL = json.dumps({"localhost": ENTRY, "fake": ENTRY})
LINES = "\n".join(encoded(TEXT)[at : at + 20] for at in range(0, len(encoded(TEXT)), 20))


def manifest(**members: Any) -> str:
    return json.dumps({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}, **members})


# Of every form that is read: the text, and what of it must be masked as it was written.
READ = {
    "dockercfg": (ENTRIES, LEGACY),
    "base64": (manifest(data={KEY: encoded(TEXT)}), encoded(TEXT)),
    "wrapped base64": (manifest(data={KEY: LINES}), LINES.split("\n")[1]),
    "dockercfg in base64": (manifest(data={".dockercfg": LEGACY}), LEGACY),
    "stringData": (manifest(stringData={KEY: TEXT}, data={KEY: "e30="}), TEXT),
    "any name": (manifest(data={".dockercfg": encoded(LOCAL)}), encoded(LOCAL)),
    "auths in dockercfg": (manifest(stringData={".dockercfg": TEXT}), TEXT),
    "YAML": (f"---\nkind: Secret\napiVersion: v1\ndata: {{.dockercfg: {LEGACY}}}\n---\n# end\n", LEGACY),
}


@pytest.mark.parametrize("form", READ)
def test_a_form_that_says_what_it_is_is_read_and_masked(tmp_path: Path, form: str) -> None:
    text, secret = READ[form]
    path = tmp_path / "source"
    path.write_text(text)
    seen: list[bytes] = []
    source = {"file": str(path)}
    config = {"auths": json.loads(LOCAL)} if form == "any name" else CONFIG
    assert json.loads(read({"source": source}, seen).config.canonical()) == config
    assert {secret, AUTH} <= set().union(*map(sensitive_forms, seen))
    layers = [layer("one", "{}"), {"name": "two", "source": source}]
    assert read({"layers": layers}).provenance == dict.fromkeys(config["auths"], "two")


@pytest.mark.parametrize(
    "path", ["data..dockerconfigjson", "stringData..dockerconfigjson", "a.b.c.d", "e.f.g"]
)
def test_a_field_reaches_keys_with_dots(path: str) -> None:
    """At each level the longest key counts under which the rest exists."""
    secret = {"data": {KEY: encoded(TEXT)}, "stringData": {KEY: TEXT}}
    document = manifest(
        **secret,
        **{"a": {"b.c": 7}, "a.b": {"c": {"d": 7}, "c.d": TEXT}, "e": {"f": {"g": TEXT}}, "e.f": 7},
    )
    assert json.loads(read({"source": {"inline": document, "field": path}}).config.canonical()) == CONFIG


AS_YAML = f"auths:\n  quay.io:\n    auth: {AUTH}\n"
UNESCAPED = '{"auths":{"quay.io":{"password":"{\n  "private_key": "canary"\n}"}}}'
OF = "the secret's manifest"
NAMED: dict[str, tuple[Any, str]] = {
    "wrapper": ({"pullSecret": TEXT}, "docker config is in its field pullSecret; add `field: pullSecret` to"),
    "object": ({"a": {"b": CONFIG}}, "the docker config is in its field a.b; add `field: a.b` to the source"),
    "base64": ({"a.b": encoded(TEXT)}, "its field a.b holds a docker config in base64; decode it"),
    "beside a credential": (
        {"pullSecret": CONFIG, "bmc": {"username": "canary", "password": "canary"}},
        "docker config is in its field pullSecret; add",
    ),
    "name not shown": ({AUTH: TEXT}, "a docker config is inside of it; write the docker config alone"),
    "no field": ({"a": {"b": CONFIG}, "a.b": 7}, "a docker config is inside of it; write"),
    "behind a dot": (
        {"a": {"b": {"c": CONFIG}}, "a.b": 7},
        "in its field a.b.c; add `field: a.b.c` to the source",
    ),
    "JSON string": (json.dumps(TEXT), "it is a JSON string that contains a docker config; write the docker"),
    "YAML": (AS_YAML, "it is YAML; convert it to JSON, for example with yq -o json"),
    "inner YAML": (manifest(stringData={".dockercfg": AS_YAML}), f"{OF}: it is YAML; convert"),
    "several": (f"{AS_YAML}---\n{AS_YAML}", "it has several YAML documents; name a docker config, or"),
    "broken YAML": ("a: b\n\tc: d", "it is not JSON and is not YAML (line 2); name"),
    "list": ({"apiVersion": "v1", "kind": "List"}, "it is a Kubernetes object or a list of them, and no"),
    "no base64": (manifest(data={KEY: TEXT}), f"{OF}: data..dockerconfigjson is not base64; write"),
    "no string": (manifest(stringData={KEY: 7}), f"{OF}: stringData..dockerconfigjson is not a string"),
    "no auths": (
        {"a.io": {"auth": AUTH}, "localhost": {"auth": AUTH}},
        "it has registries, but no auths around them [auths-missing]; write them under auths",
    ),
    "another key": (manifest(data={"a.json": ""}), f"{OF} has no key {KEY}; its keys: a.json; name"),
    "key twice": (
        f"kind: Secret\napiVersion: v1\nstringData:\n  {KEY}: '{TEXT}'\n  {KEY}: '{TEXT}'\n",
        "the secret's manifest: stringData..dockerconfigjson occurs twice (line 5); remove one of them",
    ),
    "key twice in JSON": (
        manifest(data={KEY: encoded(TEXT)})[:-1] + f', "data": {{"{KEY}": "{encoded(TEXT)}"}}}}',
        "the secret's manifest: data occurs twice (line 1); remove",
    ),
    "many keys": (manifest(data=dict.fromkeys("abcdefg", "")), "its keys: a, b, c, d, e and 2 more; name"),
    "unescaped": (
        UNESCAPED,
        "(invalid control character at line 1 column 35: in a string, write a line feed",
    ),
    "comma": ('{"auths":\n  {"a": {} "b": {}}}', "(expecting ',' delimiter at line 2 column 12)"),
    "twice": (f"{TEXT}\n{TEXT}", "(extra data at line 2 column 1)"),
}


@pytest.mark.parametrize("form", NAMED)
@pytest.mark.parametrize("others", [[], [layer("one", CONFIG)]], ids=["alone", "merged"])
def test_another_form_is_named_with_its_remedy_and_without_a_value(form: str, others: list[Any]) -> None:
    document, message = NAMED[form]
    seen: list[bytes] = []
    with pytest.raises(PullSecretError) as caught:
        read({"layers": [*others, layer("two", document)]}, seen)
    assert message in str(caught.value)
    text = document if isinstance(document, str) else json.dumps(document)
    secrets = {secret for secret in (AUTH, encoded(TEXT), "canary") if secret in text}
    assert not [secret for secret in secrets if secret in str(caught.value)]
    # The last layer alone: the first one has the same credential.
    masked = set().union(*map(sensitive_forms, seen[len(others) :]))
    assert secrets <= masked


@pytest.mark.parametrize(
    ("field", "document", "message"),
    [
        ("spec", {"spec": {"a": CONFIG}}, "the docker config is in its field spec.a; set `field` to spec.a"),
        (
            "spec",
            {"spec": json.dumps({"a": TEXT})},
            "a docker config is inside of it; write the docker config",
        ),
    ],
    ids=["object", "string"],
)
def test_only_a_field_that_can_be_reached_is_a_remedy(field: str, document: Any, message: str) -> None:
    seen: list[bytes] = []
    with pytest.raises(PullSecretError) as caught:
        read({"source": {"inline": json.dumps(document), "field": field}}, seen)
    assert message in str(caught.value)
    assert AUTH in set().union(*map(sensitive_forms, seen))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_utf_16_is_named(tmp_path: Path, encoding: str) -> None:
    path, data = tmp_path / "source", TEXT.encode(encoding)
    secret = manifest(data={KEY: encoded(data)})
    for content, field in ((data, None), (secret.encode(), None), (secret.encode(), f"data.{KEY}")):
        path.write_bytes(content)
        with pytest.raises(PullSecretError, match="it is UTF-16; save it as UTF-8"):
            read({"source": {"file": str(path), "field": field}})


@pytest.mark.parametrize("document", [{"data": {"auth": AUTH}}, {"a.example.com": {"email": "a@b"}}])
def test_an_object_is_not_guessed_to_be_the_legacy_format(document: Any) -> None:
    with pytest.raises(PullSecretError, match="auths-missing"):
        read({"source": {"inline": document}})


@pytest.mark.parametrize("text", [ENTRIES, READ["base64"][0], READ["YAML"][0], json.dumps({"a": TEXT})])
def test_the_job_contract_s_variable_is_a_docker_config(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("PULL_SECRET_DATA", text)
    rule = "not-json" if text.startswith("-") else "auths-missing"
    with pytest.raises(PullSecretError, match=rf"\[{rule}\]; ask the document's owner to correct it$"):
        read({"source": {"env": "PULL_SECRET_DATA"}})
