# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compare our reading of a docker config with the code of kubelet and of containers/image.

``ORACLE_SEED`` and ``ORACLE_COUNT`` set the random seed and the number of questions.
"""

from __future__ import annotations

import base64
import json
import os
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.dockerconfig import (
    DockerConfig,
    DockerConfigError,
    lint,
    load,
    normalise_registry,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.dockerconfig.display import displayed
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.dockerconfig.image_credentials import (
    READERS,
    image_credentials,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.dockerconfig.match import (
    HELPER,
    Match,
    image_candidates,
    kubelet_groups,
)
from tests.dockerconfig.oracle import binary
from tests.dockerconfig.oracle.generator import Generator
from tests.dockerconfig.unit.samples import SAMPLES, expected_outcome

SEED = int(os.environ.get("ORACLE_SEED", "20260101"))
COUNT = int(os.environ.get("ORACLE_COUNT", "10000"))

pytestmark = [pytest.mark.real("go"), pytest.mark.alone]


def _pair(found: dict[str, Any]) -> tuple[bytes, bytes]:
    return base64.b64decode(found["username"] or ""), base64.b64decode(found["password"] or "")


def _kubelet_agrees(document: bytes, image: str, theirs: dict[str, Any]) -> bool:
    try:
        groups = kubelet_groups(document, image)
    except DockerConfigError as error:
        return theirs.get("error") == ("image" if error.rule == "image-name" else "parse")
    found = [_pair(item) for item in theirs["credentials"] or ()]
    if theirs.get("error"):
        return False
    # Keys that mean one registry come in the random order of a Go map: compare group by group.
    for group in groups:
        ours = sorted((match.secret.username, match.secret.password) for match in group)
        if ours != sorted(found[: len(group)]):
            return False
        del found[: len(group)]
    return not found


def _is_safe(document: bytes, answer: dict[str, Any]) -> bool:
    """A document that we accept must not make a node lose all of its credentials."""
    try:
        load(document)
    except DockerConfigError:
        return True
    return "parse" not in (answer["kubelet"].get("error"), answer["containers_image"].get("error"))


def _outcome(candidate: Match | DockerConfigError) -> tuple[Any, ...]:
    if isinstance(candidate, DockerConfigError):
        return ("base64",)
    if candidate.source == HELPER:
        return ("helper",)
    secret = candidate.secret
    return secret.username, secret.password, secret.identity_token


def _containers_image_agrees(document: bytes, image: str, theirs: dict[str, Any]) -> bool:
    try:
        candidates = image_candidates(document, image)
    except DockerConfigError as error:
        return theirs.get("error") == ("image" if error.rule == "image-name" else "parse")
    if theirs.get("error"):
        found: tuple[Any, ...] = (theirs["error"],)
    else:
        found = (*_pair(theirs), base64.b64decode(theirs.get("identity_token") or ""))
    # Of several equally good keys it takes the first one of the Go map, in random order.
    return found in ([_outcome(item) for item in candidates] or [(b"", b"", b"")])


def _shape(answer: dict[str, Any]) -> str:
    """The kind of the answer, to check that the questions cover all kinds."""
    kubelet, image = answer["kubelet"], answer["containers_image"]
    found = len(kubelet["credentials"] or ())
    ours = kubelet.get("error") or ("none" if not found else "one" if found == 1 else "several")
    return f"{ours}/{image.get('error') or ('one' if image['username'] or image['password'] else 'none')}"


@pytest.mark.nightly
def test_both_readers_agree_with_us_on_random_documents() -> None:
    generator = Generator(SEED)
    questions = [generator.question() for dummy in range(COUNT)]
    answers = binary.ask(binary.build(), questions)
    assert len(answers) == COUNT
    shapes: dict[str, int] = {}
    disagreements = []
    for (document, image), answer in zip(questions, answers, strict=True):
        shapes[_shape(answer)] = shapes.get(_shape(answer), 0) + 1
        if not _kubelet_agrees(document, image, answer["kubelet"]):
            disagreements.append(("kubelet", document, image, answer["kubelet"]))
        if not _containers_image_agrees(document, image, answer["containers_image"]):
            disagreements.append(("containers/image", document, image, answer["containers_image"]))
        if not _is_safe(document, answer):
            disagreements.append(("accepted by us, rejected by one of them", document, image, answer))
    print(f"oracle: {COUNT} questions, seed {SEED}, {len(disagreements)} disagreements")
    print("oracle: answers (kubelet/containers-image) " + json.dumps(shapes, sort_keys=True))
    for reader, document, image, theirs in disagreements[:10]:
        print(f"  {reader}: {document!r} for {image!r}: {theirs}")
    assert not disagreements
    # The comparison is meaningful only if matches, misses and every refusal occur.
    assert {"one/one", "several/one", "none/none", "parse/parse", "parse/one", "image/image"} <= set(shapes)


@pytest.mark.parametrize("reader", ["kubelet", "containers_image"])
def test_a_wrong_answer_would_be_noticed(reader: str) -> None:
    auth = base64.b64encode(b"user:example-password").decode()
    document = json.dumps({"auths": {"quay.io/team": {"auth": auth}}}).encode()
    (answer,) = binary.ask(binary.build(), [(document, "quay.io/team/app")])
    agrees = {"kubelet": _kubelet_agrees, "containers_image": _containers_image_agrees}[reader]
    assert agrees(document, "quay.io/team/app", answer[reader])
    other = base64.b64encode(b"user:another-password").decode()
    assert not agrees(document.replace(auth.encode(), other.encode()), "quay.io/team/app", answer[reader])
    assert not agrees(document, "quay.io/other/app", answer[reader])


def _logins(config: DockerConfig) -> dict[str, tuple[bytes, bytes]]:
    """The credentials by the displayed names of their registries."""
    shown = displayed(config.registries)
    found = {}
    for key, entry in config.auths.items():
        user, _colon, password = base64.b64decode(entry["auth"]).partition(b":")
        found[shown[key]] = (user, password)
    return found


def _is_accepted(auths: dict[str, Any]) -> bool:
    try:
        load({"auths": auths})
    except DockerConfigError:
        return False
    return True


def _tells_of_kubelet(config: DockerConfig, told: dict[str, Any], theirs: dict[str, Any]) -> bool:
    if "problem" in told or theirs.get("error"):
        return "problem" in told and theirs.get("error") == "image"
    found = [_pair(item) for item in theirs["credentials"] or ()]
    if not told["found"] or not found:
        return not told["found"] and not found
    logins = _logins(config)
    # The displayed name hides a long key, and Go takes keys of the same meaning in random order.
    keys = {shown: key for key, shown in displayed(config.registries).items()}
    named = normalise_registry(keys[told["registry"]])
    equally_good = [logins[shown] for shown, key in keys.items() if normalise_registry(key) == named]
    tried = {logins[told["registry"]], *(logins[key] for key in told["others"])}
    return found[0] in equally_good and (tried == set(found) or len(told["others"]) == 10)


def _tells_of_containers_image(config: DockerConfig, told: dict[str, Any], theirs: dict[str, Any]) -> bool:
    if "problem" in told or theirs.get("error") == "image":
        return "problem" in told and theirs.get("error") == "image"
    if "credential_helper" in (told["rule"], theirs.get("error", "").replace("helper", "credential_helper")):
        return told["rule"] == "credential_helper" and theirs.get("error") == "helper"
    found = _pair(theirs)
    if not told["found"] or not any(found):
        return not told["found"] and not any(found)
    logins = _logins(config)
    # containers/image trims NULs; no accepted password contains one.
    return found in {logins[told["registry"]], *(logins[key] for key in told["others"])}


def test_reported_image_credentials_are_the_ones_that_the_readers_use() -> None:
    """Check the option ``images`` and the filter ``credential_for`` with documents that would be written."""
    generator = Generator(SEED + 1)
    asked: list[tuple[DockerConfig, str]] = []
    while len(asked) < COUNT:
        entries, image = generator.entries()
        accepted = {key: entry for key, entry in entries.items() if _is_accepted({key: entry})}
        helpers = {"credHelpers": {image.partition("/")[0]: "absent"}} if len(asked) % 50 == 0 else {}
        if accepted:
            asked.append((load({"auths": accepted, **helpers}), image))
    answers = binary.ask(binary.build(), [(config.canonical(), image) for config, image in asked])
    rules: dict[str, int] = {}
    wrong = []
    for (config, image), answer in zip(asked, answers, strict=True):
        (told,) = image_credentials(config, [image])
        for reader, agrees in (
            ("kubelet", _tells_of_kubelet),
            ("containers_image", _tells_of_containers_image),
        ):
            rule = f"{reader}: {told[reader]['rule']}"
            rules[rule] = rules.get(rule, 0) + 1
            if not agrees(config, told[reader], answer[reader]):
                wrong.append((reader, config.canonical(), image, told[reader], answer[reader]))
    print(f"oracle: {COUNT} accepted documents, {json.dumps(rules, sort_keys=True)}")
    for case in wrong[:10]:
        print(f"  {case}")
    assert not wrong
    both = ("host", "path", "repository", "docker_hub", "None")
    assert {f"{reader}: {rule}" for reader in READERS for rule in both} <= set(rules)
    assert {"kubelet: glob", "containers_image: credential_helper"} <= set(rules)


def _kubelet_outcome(answer: dict[str, Any]) -> str:
    if answer.get("error"):
        return "reject"
    found = [_pair(item) for item in answer["credentials"]]
    return "none" if not found else "use" if any(found[0]) else "empty"


def _containers_image_outcome(answer: dict[str, Any]) -> str:
    kind = answer.get("error")
    if kind:
        return {"parse": "reject", "base64": "fail", "helper": "helper"}[kind]
    return "use" if any(_pair(answer)) else "none"


def test_the_verdicts_of_the_rule_table_are_what_the_readers_do() -> None:
    answers = binary.ask(binary.build(), [(sample.document, sample.image) for sample in SAMPLES])
    wrong = []
    for sample, answer in zip(SAMPLES, answers, strict=True):
        finding = next(item for item in lint(sample.document) if item.rule == sample.rule)
        expected = (
            expected_outcome(finding.kubelet, sample, finding, "kubelet"),
            expected_outcome(finding.containers_image, sample, finding, "containers_image"),
        )
        found = _kubelet_outcome(answer["kubelet"]), _containers_image_outcome(answer["containers_image"])
        if found != expected:
            wrong.append(
                f"{sample.rule}: the table says {expected}, the readers do {found}: {sample.document[:200]!r}"
            )
    assert not wrong, "\n".join(wrong)
