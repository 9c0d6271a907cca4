# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""An AdapterConfig is read completely, or refused with a path and a rule."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import ConfigurationError
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.adapter.cel.preconditions import (
    DEFAULT_PRECONDITIONS,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.adapter.config.config import (
    AdapterConfig,
    load_adapter_config,
    parse_adapter_config,
)
from tests.support.adapter_jobs.documents import SEED_EXAMPLE, document, job
from tests.support.yaml_bombs import LAUGHS, MERGES

_SECRET = "hunter2-in-the-clear"


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HYPERFLEET_API_URL", "GOOGLE_CLOUD_PROJECT", "PUBSUB_EMULATOR_HOST", "BROKER_RABBITMQ_URL"):
        monkeypatch.delenv(name, raising=False)


def refusal(given: Any) -> str:
    with pytest.raises(ConfigurationError) as caught:
        parse_adapter_config(given)
    assert caught.value.__cause__ is None
    return str(caught.value)


def broker(**fields: Any) -> dict[str, Any]:
    return document(broker=fields)


def test_the_contracts_example(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(SEED_EXAMPLE)
    config = load_adapter_config(str(file))
    assert (config.name, config.namespace, config.adapter) == (
        "validation-adapter",
        "hyperfleet-system",
        "validation",
    )
    assert config.preconditions == ("cluster.status.phase != 'Ready'",)
    assert config.dependencies == ()
    assert (config.hyperfleet.url, config.hyperfleet.timeout) == ("http://hyperfleet-api:8080", 10.0)
    assert (config.broker.type, config.broker.subscription) == ("gcp-pubsub", "validation-adapter-sub")
    assert config.job.image == "quay.io/hyperfleet/validation-job:v1.0.0"
    assert config.job.resources["limits"] == {"cpu": "500m", "memory": "512Mi"}


def test_every_default() -> None:
    config = parse_adapter_config(document())
    assert config.adapter == "pullsecret"
    assert config.preconditions == DEFAULT_PRECONDITIONS
    assert config.hyperfleet.flavour == "current"
    assert config.hyperfleet.connection().base == "http://hyperfleet-api:8080/api/hyperfleet/v1"
    assert config.broker.type == "none"
    assert (config.execution, config.deletion.store) == ("job", "delete")
    assert (config.batch.size, config.batch.window) == (1000, 1.0)
    assert config.job.service_account == "pullsecret-adapter-job"
    assert config.job.resources == {
        "requests": {"cpu": "100m", "memory": "128Mi"},
        "limits": {"cpu": "500m", "memory": "512Mi"},
    }
    assert (config.logging.level, config.logging.format) == ("info", "json")
    assert config.metrics.per_cluster is False


def _defaults(schema: Any) -> Any:
    """Every default of the schema; brokers have their own test."""
    made = {}
    for name, field in schema.get("properties", {}).items():
        if name == "broker":
            continue
        if "default" in field:
            made[name] = field["default"]
        elif field.get("properties"):
            inner = _defaults(field)
            if inner:
                made[name] = inner
    return made


def test_what_the_schema_calls_defaults_are_those_that_are_filled() -> None:
    from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.adapter.config.schema import (
        SCHEMA,
    )

    written = document(execution="inline")
    defaults = _defaults(SCHEMA)
    for part, fields in defaults["spec"].items():
        if part != "execution":
            held = written["spec"].setdefault(part, fields)
            if isinstance(fields, dict):
                held.update(fields)
    written["metadata"].update(defaults["metadata"])
    assert len(defaults["spec"]) > 8
    filled, plain = parse_adapter_config(written), parse_adapter_config(document(execution="inline"))
    for field in dataclasses.fields(AdapterConfig):
        mine = getattr(filled, field.name)
        if field.name == "kubernetes":
            assert mine == {"validate_certs": True}
        elif field.name == "gcp":
            assert mine == {"transport": "grpc"}
        elif field.compare:
            assert mine == getattr(plain, field.name), field.name


def test_given_criteria() -> None:
    config = parse_adapter_config(document(criteria={"preconditions": [], "dependencies": ["dns"]}))
    assert (config.preconditions, config.dependencies) == ((), ("dns",))
    assert (
        parse_adapter_config(document(criteria={"dependencies": []})).preconditions == DEFAULT_PRECONDITIONS
    )


def test_durations_are_gos() -> None:
    config = parse_adapter_config(
        document(batch={"window": "1m30s"}, hyperfleetAPI={"url": "http://a", "timeout": 5})
    )
    assert (config.batch.window, config.hyperfleet.timeout) == (90.0, 5.0)


def test_the_address_of_the_api_may_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert refusal(document(hyperfleetAPI=None)) == (
        "spec.hyperfleetAPI.url is missing; set it or HYPERFLEET_API_URL"
    )
    monkeypatch.setenv("HYPERFLEET_API_URL", "https://api.example.com")
    assert parse_adapter_config(document(hyperfleetAPI=None)).hyperfleet.url == "https://api.example.com"
    assert parse_adapter_config(document()).hyperfleet.url == "http://hyperfleet-api:8080"


def test_options_of_the_places_are_the_modules() -> None:
    config = parse_adapter_config(
        document(
            kubernetes={"kubeconfig": "/etc/kc", "context": "a", "caCert": "/ca", "validateCerts": False},
            gcp={"impersonateServiceAccount": "a@p.iam.gserviceaccount.com", "credentialsFile": "/c"},
        )
    )
    assert config.kubernetes == {
        "kubeconfig": "/etc/kc",
        "context": "a",
        "ca_cert": "/ca",
        "validate_certs": False,
    }
    assert config.gcp == {
        "impersonate_service_account": "a@p.iam.gserviceaccount.com",
        "credentials_file": "/c",
    }


WRONG: dict[str, tuple[Any, str]] = {
    "unknown": (document(executon="job"), "spec.executon is not a known field; did you mean execution?"),
    "snake case": (job(backoff_limit=1), "backoff_limit is not a known field; did you mean backoffLimit?"),
    "nothing near": (document(zzz=1), "spec.zzz is not a known field"),
    "deep": (
        job(resources={"limits": {"memory": "512 Mi"}}),
        "spec.jobTemplate.resources.limits.memory must be a quantity such as 128Mi",
    ),
    "misspelt": (
        job(resources={"limits": {"memroy": "1Gi"}}),
        "limits.memroy is not a known field; did you mean memory?",
    ),
    "more asked than allowed": (
        job(resources={"requests": {"memory": "1Gi"}, "limits": {"memory": "1023Mi"}}),
        "spec.jobTemplate.resources.requests.memory is more than spec.jobTemplate.resources.limits.memory",
    ),
    "no image": (document(jobTemplate={}), "spec.jobTemplate.image is missing"),
    "no job": (document(jobTemplate=None), "spec.jobTemplate is missing"),
    "image": (job(image="quay.io/a b"), "spec.jobTemplate.image must be an image's name"),
    "line break": (job(image="quay.io/a\n"), "spec.jobTemplate.image must be an image's name"),
    "null": (job(env=None), "spec.jobTemplate.env must be a list"),
    "kind": ({**document(), "kind": "AdapterTaskConfig"}, "kind must be AdapterConfig"),
    "version": ({**document(), "apiVersion": "v1"}, "apiVersion must be hyperfleet.redhat.com/v1alpha1"),
    "long name": (
        {**document(), "metadata": {"name": "a" * 64}},
        "metadata.name must be a name: at most 63 lower case",
    ),
    "adapter": (document(adapterType="Pull Secret"), "spec.adapterType must be an adapter's name"),
    "flag": (document(metrics={"perCluster": "yes"}), "spec.metrics.perCluster must be true or false"),
    "true is no number": (
        job(backoffLimit=True),
        "spec.jobTemplate.backoffLimit must be a whole number from 0 to 100",
    ),
    "a Job whose end the adapter does not see": (
        job(ttlSecondsAfterFinished=0),
        "spec.jobTemplate.ttlSecondsAfterFinished must be a whole number from 120 to 31536000",
    ),
    "no integer": (document(batch={"size": 3.0}), "spec.batch.size must be a whole number from 1 to 1000"),
    "batch": (document(batch={"size": 1001}), "spec.batch.size must be a whole number from 1 to 1000"),
    "no time": (
        document(batch={"window": "0s"}),
        "spec.batch.window must be a duration above 0s and up to 24h",
    ),
    "long": (
        document(batch={"window": "25h"}),
        "spec.batch.window must be a duration above 0s and up to 24h",
    ),
    "nan": (document(batch={"window": float("nan")}), "spec.batch.window must be a duration above 0s"),
    "no duration": (
        document(batch={"window": "1 s"}),
        "spec.batch.window must be a duration such as 10s or 1m30s",
    ),
    "expression": (
        document(criteria={"preconditions": [{"expression": "true"}, {"expression": "a =="}]}),
        "spec.criteria.preconditions[1].expression is not valid CEL",
    ),
    "no expression": (
        document(criteria={"preconditions": [{}]}),
        "spec.criteria.preconditions[0].expression is missing",
    ),
    "itself": (
        document(criteria={"dependencies": ["dns", "pullsecret"]}),
        "spec.criteria.dependencies[1] is this adapter",
    ),
    "twice": (
        document(criteria={"dependencies": ["dns", "dns"]}),
        "spec.criteria.dependencies has an entry twice",
    ),
    "url": (
        document(hyperfleetAPI={"url": "ftp://a"}),
        "spec.hyperfleetAPI.url must be an http or https address",
    ),
    "port": (
        document(hyperfleetAPI={"url": "http://a:99999"}),
        "spec.hyperfleetAPI.url must be an http or https",
    ),
    "password": (
        document(hyperfleetAPI={"url": f"http://u:{_SECRET}@a"}),
        "spec.hyperfleetAPI.url holds a user or password; use spec.hyperfleetAPI.tokenFile",
    ),
    "header of ours": (
        document(hyperfleetAPI={"url": "http://a", "headers": {"content-Length": "5"}}),
        "spec.hyperfleetAPI.headers.content-Length is set by the client itself",
    ),
    "header": (
        document(hyperfleetAPI={"url": "http://a", "headers": {"a b": "c"}}),
        "headers has an invalid key; keys must be the name",
    ),
    "header's value": (
        document(hyperfleetAPI={"url": "http://a", "headers": {"X-A": f"{_SECRET}\r\nX-B: 1"}}),
        "spec.hyperfleetAPI.headers.X-A must be text that an HTTP header can carry",
    ),
    "no namespace at all": (
        document(placement={"allowedNamespaces": []}),
        "spec.placement.allowedNamespaces must be a list of one namespace or more",
    ),
    "no management cluster": (
        document(placement={"managementCluster": "mgmt 1"}),
        "spec.placement.managementCluster must be a management cluster's name: at most 253 letters",
    ),
    "no namespace": (
        document(placement={"allowedNamespaces": ["clusters-?"]}),
        (
            "spec.placement.allowedNamespaces[0] must be a namespace (at most 63 lower case letters, digits and "
            "dashes, with a letter or digit at both ends), in which * may stand for any part"
        ),
    ),
    "reserved variable": (
        job(env=[{"name": "A", "value": "1"}, {"name": "PULL_SECRET_DATA", "value": _SECRET}]),
        "spec.jobTemplate.env[1]: the adapter sets PULL_SECRET_DATA itself; remove this entry",
    ),
    "variable twice": (
        job(env=[{"name": "A", "value": "1"}] * 2),
        "spec.jobTemplate.env[1].name is given twice",
    ),
    "number in a variable": (
        job(env=[{"name": "A", "value": 1}]),
        "spec.jobTemplate.env[0].value must be text",
    ),
    "reserved label": (
        job(labels={"cluster-id": "x"}),
        "spec.jobTemplate.labels.cluster-id is reserved for this collection",
    ),
    "reserved annotation": (
        job(annotations={"hyperfleet.io/generation": "1"}),
        "generation is reserved for this collection",
    ),
    "docker config": (
        job(env=[{"name": "A", "value": '{"auths":{"quay.io":{"auth":"' + _SECRET + '"}}}'}]),
        "spec.jobTemplate.env[0].value: a docker config or a credential is not allowed here",
    ),
    "docker config as a key": (document(**{'{"auths":{}}': 1}), "has an invalid key: a docker config"),
    "key that is not a string": ({**document(), 1: 2}, "the document has a key that is not text"),
    "broker's type": (broker(type="kafka"), "spec.broker.type must be one of gcp-pubsub, rabbitmq, webhook"),
    "no subscription": (broker(type="gcp-pubsub"), "spec.broker.subscription is missing"),
    "another broker's": (
        broker(type="gcp-pubsub", subscription="abc", urlFile="/x"),
        "spec.broker.urlFile must not be set for a broker of this type",
    ),
    "two projects": (
        broker(type="gcp-pubsub", subscription="projects/a-1/subscriptions/abc", projectId="b-1"),
        "spec.broker.projectId is not the project of spec.broker.subscription",
    ),
    "no exchange": (broker(type="rabbitmq", queue="q"), "spec.broker must have exchange or topic"),
    "no queue": (broker(type="rabbitmq", topic="t"), "spec.broker must have queue or subscription"),
    "two addresses": (
        broker(type="rabbitmq", topic="t", queue="q", url="amqp://a", urlFile="/x"),
        "spec.broker must not have both url and urlFile",
    ),
    "password inline": (
        broker(type="rabbitmq", topic="t", queue="q", url=f"amqp://u:{_SECRET}@a/"),
        "spec.broker.url holds a password or parameters; use spec.broker.urlFile or BROKER_RABBITMQ_URL",
    ),
    "password in parameters": (
        broker(type="rabbitmq", topic="t", queue="q", url=f"amqp://a/?password={_SECRET}"),
        "spec.broker.url holds a password or parameters",
    ),
    "password written otherwise": (
        broker(type="rabbitmq", topic="t", queue="q", url=f"amqp://u%3A{_SECRET}@a/"),
        "spec.broker.url holds a password or parameters",
    ),
    "open to all": (
        broker(type="webhook", listen={"address": "0.0.0.0"}),
        "spec.broker.tokenFile is required unless spec.broker.listen is a loopback address",
    ),
    "a list": ([], "the document must be a mapping"),
    "nothing": (None, "the document must be a mapping"),
    "many": (document(a=1, b=1, c=1, d=1, e=1, f=1, g=1, h=1, i=1), "; and 1 more"),
}


@pytest.mark.parametrize(("given", "said"), WRONG.values(), ids=WRONG)
def test_what_is_refused(given: Any, said: str) -> None:
    message = refusal(given)
    assert said in message
    assert _SECRET not in message


def test_inline_needs_no_image() -> None:
    assert parse_adapter_config(document(execution="inline", jobTemplate=None)).job.image is None


def test_pubsub(monkeypatch: pytest.MonkeyPatch) -> None:
    given = broker(type="gcp-pubsub", subscription="projects/p-1/subscriptions/pullsecret-sub")
    assert (parse_adapter_config(given).broker.project, parse_adapter_config(given).broker.subscription) == (
        "p-1",
        "pullsecret-sub",
    )
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "p-2")
    monkeypatch.setenv("PUBSUB_EMULATOR_HOST", "localhost:8085")
    found = parse_adapter_config(broker(type="gcp-pubsub", subscription="pullsecret-sub")).broker
    assert (found.project, found.endpoint, found.prefetch) == ("p-2", "localhost:8085", 2000)


def test_rabbitmq() -> None:
    found = parse_adapter_config(
        broker(type="rabbitmq", topic="hyperfleet", subscription="pullsecret")
    ).broker
    assert (found.exchange, found.exchange_type, found.queue) == (
        "hyperfleet",
        "topic",
        "hyperfleet-pullsecret",
    )
    held = parse_adapter_config(
        broker(type="rabbitmq", exchange="x", queue="q", urlFile="/f", exchangeType="fanout")
    ).broker
    assert (held.queue, held.exchange_type, held.url_file) == ("q", "fanout", "/f")
    inline = parse_adapter_config(
        broker(type="rabbitmq", topic="t", queue="q", url="amqps://user@mq/vhost")
    ).broker
    assert inline.url == "amqps://user@mq/vhost"


def test_webhook() -> None:
    found = parse_adapter_config(broker(type="webhook")).broker
    assert (found.listen_address, found.listen_port, found.token_file) == ("127.0.0.1", 8081, None)
    given = broker(type="webhook", listen={"address": "0.0.0.0", "port": 9000}, tokenFile="/t")
    assert parse_adapter_config(given).broker.listen_address == "0.0.0.0"


def test_no_representation_shows_what_may_be_secret() -> None:
    config = parse_adapter_config(
        document(
            hyperfleetAPI={"url": "http://a", "headers": {"X-Tenant": _SECRET}},
            jobTemplate={"image": "a", "env": [{"name": "A", "value": _SECRET}]},
        )
    )
    assert config.job.env == {"A": _SECRET}
    assert _SECRET not in repr(config)


def test_replaced() -> None:
    config = parse_adapter_config(document()).replaced(
        {
            "adapter_name": "pull-secret-2",
            "api_flavour": "contract",
            "batch_size": "20",
            "batch_window": "2.5",
            "deletion": "keep",
            "execution": "inline",
            "headers": {"X-Tenant": 7, "X-On": True},
            "token_file": "/run/token",
        }
    )
    assert config.adapter == "pull-secret-2"
    assert (config.hyperfleet.flavour, config.hyperfleet.token_file) == ("contract", "/run/token")
    assert config.hyperfleet.headers == {"X-Tenant": "7", "X-On": "true"}
    assert (config.batch.size, config.batch.window) == (20, 2.5)
    assert (config.deletion.store, config.execution) == ("keep", "inline")


def test_replaced_by_nothing_is_the_same() -> None:
    config = parse_adapter_config(document(batch={"size": 7, "window": "3s"}))
    assert config.replaced({}) == config
    assert config.replaced({"batch_size": "", "execution": None, "headers": None}) == config
    config.replaced({"batch_size": 9})
    assert config.replaced({}) == config


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        ({"batch_size": "0"}, "batch_size must be a whole number from 1 to 1000"),
        ({"batch_size": _SECRET}, "batch_size must be a whole number"),
        ({"batch_size": True}, "batch_size must be a whole number from 1 to 1000"),
        ({"batch_window": True}, "batch_window must be a duration such as 10s or 1m30s"),
        ({"batch_window": "soon"}, "batch_window must be a duration such as 10s or 1m30s"),
        ({"batch_window": "nan"}, "batch_window must be a duration above 0s"),
        ({"api_flavour": "both"}, "api_flavour must be one of current, contract"),
        ({"execution": ["job"]}, "execution must be one of job, inline"),
        ({"deletion": {"store": "keep"}}, "deletion must be one of delete, keep"),
        ({"adapter_name": "A"}, "adapter_name must be an adapter's name"),
        ({"headers": {"X-A": f"{_SECRET}\n"}}, "headers.X-A must be text that an HTTP header can carry"),
        ({"headers": [_SECRET]}, "headers must be a mapping"),
        (
            {_SECRET: 1},
            "1 of the given overrides are unknown (names not shown); the known ones are adapter_name, ",
        ),
    ],
)
def test_overrides_are_held_to_the_same_rules(overrides: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        parse_adapter_config(document()).replaced(overrides)
    assert str(caught.value).startswith(said)
    assert _SECRET not in str(caught.value)
    assert "spec." not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: [", "is not YAML"),
        ("a: 1\n---\nb: 1\n", "is not YAML"),
        ("", "the document must be a mapping"),
        (_SECRET, "the document must be a mapping"),
        ("a: {b: " * 500, "is not YAML"),
        (LAUGHS, "values after its aliases are expanded"),
        (MERGES, "values after its aliases are expanded"),
        ("a: &a [*a]", "has an alias to a value that contains it (line 1)"),
        ("[" * 200 + "]" * 200, "is nested more than 100 levels deep (line 1)"),
        (f"a: !!bool {_SECRET}", "has a value that does not fit its tag (line 1)"),
        ("a: " + "x" * 70_000, "a is longer than 65536 characters"),
        ("#" * 1_100_000, "is larger than 1 MiB"),
        ("\x00", "is not YAML"),
        ("a: 1\nb:\n\tc: 1\n", "is not YAML (line 3)"),
        ("a: 1\nspec:\n  broker: {url: 1}\n  broker: {}\n", "spec.broker is given twice (line 4)"),
        ("a:\n- b: 1\n  c: 1\n  'b': 1\n", "a[0].b is given twice (line 4)"),
        (f"x {_SECRET}: 1\nx {_SECRET}: 2\n", "(a key that is not shown) is given twice (line 2)"),
    ],
)
def test_invalid_files(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(text)
    with pytest.raises(ConfigurationError) as caught:
        load_adapter_config(str(file))
    assert str(caught.value).startswith(f"the adapter's configuration {file}")
    assert said in str(caught.value)
    assert _SECRET not in str(caught.value)


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot be read: No such file or directory"):
        load_adapter_config(str(tmp_path / "none"))
    with pytest.raises(ConfigurationError, match="cannot be read: Is a directory"):
        load_adapter_config(str(tmp_path))
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ConfigurationError, match="cannot be read: not a regular file"):
        load_adapter_config(str(tmp_path / "pipe"))
    with pytest.raises(ConfigurationError, match="cannot be read: embedded null byte"):
        load_adapter_config("\0")
