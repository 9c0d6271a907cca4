# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Kubeconfigs in Secrets, as the event source and the modules read them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.kubernetes.embedded import (
    parse_embedded,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import ConfigurationError
from tests.support.yaml_bombs import LAUGHS, MERGES

TOKEN = "example-token"


def kubeconfig(cluster: dict[str, Any], **user: Any) -> bytes:
    document = {
        "current-context": "one",
        "contexts": [{"name": "one", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": "u", "user": {"token": TOKEN, **user}}],
    }
    return json.dumps(document).encode()


@pytest.mark.parametrize(
    "address",
    [
        "http://169.254.169.254",
        "https://169.254.169.254:6443/latest",
        "http://user@169.254.0.1",
        "http://2852039166",
        "http://0xa9fea9fe/",
        "http://169.254.43518",
        "http://[fe80::1]",
        "http://[fe80::1%25eth0]:80",
        "http://[::ffff:169.254.169.254]",
        "http://0.0.0.0:8080",
        "http://0",
        "http://[::]",
        "http://224.0.0.1",
        "http://169.254.169.254.",
        "http://0251.0376.0251.0376",
        "http://metadata.google.internal/computeMetadata/v1",
        "http://METADATA.google.internal.:80",
        "http://[fd00:ec2::254]",
        "http://[fd20:ce::254]",
        "http://[64:ff9b::a9fe:a9fe]",
        "http://[64:ff9b:1:a9fe:a9:fe00::]",
        "http://[2002:a9fe:a9fe::1]",
        "http://[::169.254.169.254]",
        "http://100.100.100.200",
        "http://168.63.129.16",
    ],
)
@pytest.mark.parametrize("field", ["server", "proxy-url"])
def test_no_token_is_sent_to_where_clouds_keep_credentials_of_machines(address: str, field: str) -> None:
    with pytest.raises(ConfigurationError, match=f"secret a/b: the kubeconfig has a {field}") as caught:
        parse_embedded(kubeconfig({"server": "https://api.example.com", field: address}), "c", "secret a/b")
    assert "254" not in str(caught.value)


@pytest.mark.parametrize(
    "address",
    [
        "https://api.example.com:6443",
        "https://127.0.0.1:6443",
        "https://10.0.0.1",
        "https://[2001:db8::1]:6443",
        "https://[::1]:6443",
        "https://[fd00::1]:6443",
        "https://[64:ff9b::10.0.0.1]:6443",
        "https://[64:ff9b:1::10.0.0.1]:6443",
        "https://169.254.example.com",
        "https://api.example.com/clusters/one?x=1",
        "https://user:p%40w@api.example.com.:6443/",
    ],
)
def test_other_addresses_are_taken_as_they_are(address: str) -> None:
    assert parse_embedded(kubeconfig({"server": address}), "c", "secret a/b").server == address


@pytest.mark.parametrize(
    "address",
    [
        "http://169.254.169.254\\@good.example",
        "http://a@169.254.169.254@good.example",
        "http://%31%36%39.254.169.254",
        "http://good.example#@169.254.169.254 ",
        "http://169\u3002254\u3002169\u3002254",
        "http:169.254.169.254",
        "//169.254.169.254",
        "169.254.169.254",
    ],
)
@pytest.mark.parametrize("field", ["server", "proxy-url"])
def test_what_parsers_may_not_agree_on_is_refused(address: str, field: str) -> None:
    with pytest.raises(
        ConfigurationError, match=f"secret a/b: the kubeconfig has a {field} that is not an addr"
    ):
        parse_embedded(kubeconfig({"server": "https://api.example.com", field: address}), "c", "secret a/b")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (MERGES, r"has more than 10000 values after its aliases are expanded \(line \d+\)"),
        (LAUGHS, r"has more than 10000 values after its aliases are expanded \(line \d+\)"),
        ("[" * 400 + "]" * 400, r"is nested more than 100 levels deep \(line 1\)"),
        (f"token: !!timestamp {TOKEN}", r"has a value that does not fit its tag \(line 1\)"),
        (f"users:\n  token: [{TOKEN}", r"is not YAML \(line \d\)"),
        ("#" * ((1 << 20) + 1), "is larger than 1 MiB"),
        ("", "must be a mapping"),
    ],
)
def test_what_is_not_a_kubeconfig_costs_little_and_is_not_quoted(text: str, said: str) -> None:
    with pytest.raises(ConfigurationError, match=rf"^secret a/b: the kubeconfig {said}$") as caught:
        parse_embedded(text.encode(), "c", "secret a/b")
    assert TOKEN not in str(caught.value)


@pytest.mark.parametrize(
    ("context", "said"),
    [
        (None, "has no current-context"),
        ({"user": "u"}, "has a current context without a cluster"),
        ({"cluster": "c"}, "has a current context without a user"),
        (
            {"cluster": "other", "user": "u"},
            "has no usable cluster entry with the name that its current context ",
        ),
    ],
)
def test_a_context_that_leads_nowhere_is_named(context: dict[str, str] | None, said: str) -> None:
    document = json.loads(kubeconfig({"server": "https://api.example.com"}))
    if context is None:
        del document["current-context"]
    else:
        document["contexts"][0]["context"] = context
    with pytest.raises(ConfigurationError, match=f"^secret a/b: the kubeconfig {said}") as caught:
        parse_embedded(json.dumps(document).encode(), "c", "secret a/b")
    assert TOKEN not in str(caught.value)


@pytest.mark.parametrize(
    ("part", "field"),
    [
        ("cluster", "certificate-authority"),
        ("user", "client-certificate"),
        ("user", "client-key"),
        ("user", "tokenFile"),
        ("user", "exec"),
        ("user", "auth-provider"),
    ],
)
def test_what_leads_to_files_or_programs_is_refused(part: str, field: str) -> None:
    cluster: dict[str, Any] = {"server": "https://api.example.com"}
    user: dict[str, Any] = {} if part == "cluster" else {field: {"command": "true"}}
    if part == "cluster":
        cluster[field] = "/etc/passwd"
    if field == "tokenFile":
        # If both are set, the text counts and the file is ignored.
        user["token"] = ""
    with pytest.raises(ConfigurationError, match=f"has {field}, which is not allowed") as caught:
        parse_embedded(kubeconfig(cluster, **user), "c", "secret a/b")
    assert TOKEN not in str(caught.value)
