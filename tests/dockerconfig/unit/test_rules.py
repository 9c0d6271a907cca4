# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every rule is found, with its place and severity, and its verdicts match what the readers do."""

from __future__ import annotations

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.dockerconfig import (
    DockerConfigError,
    Finding,
    lint,
    load,
    lookup_containers_image,
    lookup_kubelet,
    rules,
)
from tests.dockerconfig.unit.samples import GOOD, SAMPLES, Sample, expected_outcome
from tests.support.docker_configs import encoded

# Only a Python mapping can hold these values; no document could be given to a reader.
FROM_MAPPINGS = {"name-not-a-string", "value-not-json"}


def found(sample: Sample) -> Finding:
    """The finding of the sample's rule."""
    return next(item for item in lint(sample.document) if item.rule == sample.rule)


def number(sample: Sample) -> str:
    return f"{sample.rule}-{SAMPLES.index(sample)}"


def test_the_rules_have_unique_kebab_case_ids_and_a_sample_each() -> None:
    ids = [rule.id for rule in rules()]
    assert len(set(ids)) == len(ids)
    assert all(rule_id == rule_id.lower().replace("_", "-").strip("-") for rule_id in ids)
    assert {rule.severity for rule in rules()} == {"error", "warning"}
    assert {sample.rule for sample in SAMPLES} == set(ids) - FROM_MAPPINGS


@pytest.mark.parametrize("sample", SAMPLES, ids=number)
def test_a_rule_is_found_where_it_is_broken(sample: Sample) -> None:
    finding = found(sample)
    assert finding.registry == sample.registry
    row = next(rule for rule in rules() if rule.id == sample.rule)
    assert finding.severity == row.severity
    assert finding.message.startswith(row.text)


@pytest.mark.parametrize("sample", SAMPLES, ids=number)
def test_an_error_refuses_the_document_and_a_warning_does_not(sample: Sample) -> None:
    if found(sample).severity == "warning":
        assert sample.rule in {item.rule for item in load(sample.document).warnings}
        if found(sample).strict:
            with pytest.raises(DockerConfigError) as caught:
                load(sample.document, strict=True)
            assert (caught.value.rule, caught.value.findings[0].severity) == (sample.rule, "error")
    else:
        with pytest.raises(DockerConfigError) as caught:
            load(sample.document)
        assert sample.rule in {item.rule for item in caught.value.findings}
        assert all(item.severity == "error" for item in caught.value.findings)


def _kubelet(sample: Sample) -> str:
    try:
        matches = lookup_kubelet(sample.document, sample.image)
    except DockerConfigError:
        return "reject"
    return "none" if not matches else "empty" if matches[0].is_empty else "use"


def _containers_image(sample: Sample) -> str:
    try:
        match = lookup_containers_image(sample.document, sample.image)
    except DockerConfigError as error:
        return "fail" if error.rule == "auth-not-base64" else "reject"
    return "none" if match is None else "helper" if match.source == "credHelpers" else "use"


@pytest.mark.parametrize("sample", [item for item in SAMPLES if item.rule != "too-deep"], ids=number)
def test_the_verdicts_are_what_the_lookups_do(sample: Sample) -> None:
    finding = found(sample)
    assert _kubelet(sample) == expected_outcome(finding.kubelet, sample, finding, "kubelet")
    expected = expected_outcome(finding.containers_image, sample, finding, "containers_image")
    assert _containers_image(sample) == expected


def test_what_strict_refuses_both_readers_accept() -> None:
    for sample in SAMPLES:
        if found(sample).strict:
            assert not {_kubelet(sample), _containers_image(sample)} & {"reject", "fail"}, sample.rule


@pytest.mark.parametrize(
    ("data", "rule"),
    [
        ({"auths": {5000: {"auth": GOOD}}}, "name-not-a-string"),
        ({"auths": {"quay.io": {"auth": GOOD.encode()}}}, "value-not-json"),
        ({"auths": {"quay.io": {GOOD}}}, "value-not-json"),
        ({"auths": {"quay.io": {"auth": GOOD, "x": float("nan")}}}, "number-out-of-range"),
        ({"auths": {"quay.io": {"auth": GOOD, "x": 10**5000}}}, "number-out-of-range"),
        ({"auths": {"quay.io": {"auth": GOOD, "x": "\ud800"}}}, "not-utf8"),
        (None, "not-an-object"),
        (5, "not-an-object"),
        ([], "not-an-object"),
    ],
)
def test_data_that_is_no_text_is_linted_too(data: object, rule: str) -> None:
    assert rule in {item.rule for item in lint(data)}


def test_a_mapping_that_contains_itself_is_too_deep() -> None:
    loop: dict[str, object] = {}
    loop["auths"] = loop
    assert [item.rule for item in lint(loop)] == ["too-deep"]


@pytest.mark.parametrize("text", ["[" * 200_000, '{"a":' * 200_000, '{"a":[' * 30_000 + "]}" * 30_000])
def test_deep_nesting_is_refused_and_does_not_crash(text: str) -> None:
    assert [item.rule for item in lint(text)] == ["too-deep"]


def test_brackets_inside_strings_are_not_nesting() -> None:
    assert lint({"auths": {"quay.io": {"auth": GOOD, "x": "[{" * 200}}}) == []
    assert load('{"auths":{"quay.io":{"auth":"%s","x":"%s"}}}' % (GOOD, '[{\\"' * 200))  # noqa: UP031


def test_every_error_is_reported_not_only_the_first() -> None:
    with pytest.raises(DockerConfigError) as caught:
        load({"auths": {"a.io": {}, "b.io": {"auth": "!"}, "c.io": {"auth": 5}}})
    assert [(item.registry, item.rule) for item in caught.value.findings] == [
        ("a.io", "no-credentials"),
        ("b.io", "auth-not-base64"),
        ("c.io", "field-not-a-string"),
    ]
    assert (caught.value.rule, caught.value.registry) == ("no-credentials", "a.io")
    assert "b.io: 'auth' is not base64 [auth-not-base64]" in str(caught.value)


def test_a_good_document_has_no_findings() -> None:
    assert (
        lint(
            {"auths": {"quay.io": {"auth": GOOD, "email": "a@example.com"}, "localhost:5000": {"auth": GOOD}}}
        )
        == []
    )


@pytest.mark.parametrize("limit", [64 * 1024, 1024 * 1024])
def test_the_limit_is_that_of_the_place_and_holds_for_what_is_written(limit: int) -> None:
    room = limit - len(load({"auths": {"quay.io": {"auth": GOOD, "x": ""}}}).canonical())
    exact = {"auths": {"quay.io": {"auth": GOOD, "x": "x" * room}}}
    assert len(load(exact, max_bytes=limit).canonical()) == limit
    with pytest.raises(DockerConfigError, match="too-large"):
        load({"auths": {"quay.io": {"auth": GOOD, "x": "x" * (room + 1)}}}, max_bytes=limit)
    # Within the limit as given, above it once auth has been added.
    repaired = {"auths": {"quay.io": {"username": "user", "password": "p" * (limit // 2)}}}
    with pytest.raises(DockerConfigError, match="too-large"):
        load(repaired, max_bytes=limit)


def test_an_entry_with_which_a_pull_probably_fails_is_kept_as_it_is() -> None:
    """A Google key file as a password, which both readers use as it is."""
    key_file = '{\n  "type": "service_account",\n  "private_key": "example"\n}\n'
    auths = {"us-docker.pkg.dev": {"auth": encoded(f"_json_key:{key_file}")}, "Quay.io": {"auth": GOOD}}
    config = load({"auths": auths})
    assert config.auths == auths
    assert [(item.registry, item.rule) for item in config.warnings] == [
        ("us-docker.pkg.dev", "trailing-newline"),
        ("us-docker.pkg.dev", "control-character"),
        ("entry 2 (name not shown)", "key-upper-case"),
    ]
    assert "jq -c . key.json" in str(config.warnings[1])
    (match,) = lookup_kubelet(config, "us-docker.pkg.dev/team/app")
    assert match.secret.password == key_file.encode()


def test_a_field_that_both_readers_ignore_may_be_anything() -> None:
    config = load({"auths": {"quay.io": {"auth": GOOD, "registrytoken": 5}}})
    assert [(item.rule, item.severity) for item in config.warnings] == [("field-not-a-string", "warning")]
    assert config.auths["quay.io"]["registrytoken"] == 5
    with pytest.raises(DockerConfigError, match="no-credentials"):
        load({"auths": {"quay.io": {"registrytoken": 5}}})


def test_a_dropped_entry_need_not_pass_the_rules() -> None:
    wrong = '"a.io": {"auth": "!", "x": "\xff"}, "https://b.io/v1/": {"auth": 5, "auth": NaN}'
    document = f'{{"auths": {{{wrong}, "quay.io": {{"auth": "{GOOD}"}}}}}}'.encode("latin-1")
    config = load(document, drop=["a.io", "b.io", "c.io"], strict=True)
    assert config.auths == {"quay.io": {"auth": GOOD}}
    assert config.dropped == {"a.io", "b.io"}
    # The document without them is empty, which its reader decides about.
    assert load({"auths": {"a.io": 5}}, drop=["a.io"]).registries == ()
    with pytest.raises(DockerConfigError) as caught:
        load(document, drop=["b.io"])
    assert [item.rule for item in caught.value.findings] == ["not-utf8", "auth-not-base64"]
