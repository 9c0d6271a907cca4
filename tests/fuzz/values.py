# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Values for options: right ones by the option's name and type, and many kinds of hostile ones.

A string may contain ``@HERE@``, which is replaced with the input's scratch directory.
"""

from __future__ import annotations

import datetime
import random
from collections.abc import Callable, Mapping
from typing import Any

from tests.support.secrecy.canary import Canary
from tests.support.secrecy.misplacements import TEXTS

__all__ = ["HERE", "hostile", "misplaced", "path", "right"]

HERE = "@HERE@"
# An address at which nothing answers.
_CLOSED = "http://127.0.0.1:9"

_RIGHT: dict[str, list[Any]] = {
    "namespace": ["sources", "clusters"],
    "management_namespace": ["clusters"],
    "control_plane_namespace": ["clusters"],
    "name": ["one", "two"],
    "secret": ["one", "two"],
    "secret_name": ["one", "two"],
    "cluster_id": ["cls-1", "cls-2"],
    "cluster_ids": [["cls-1"], ["cls-1", "cls-2"]],
    "cluster_name": ["first"],
    "project": ["project-1"],
    "gcp_project_id": ["project-1"],
    "key": ["config.json"],
    "version": ["latest", "1"],
    "restore_version": ["1"],
    "adapter": ["dns"],
    "generation": [1],
    "events": [[{"id": "cls-1"}], []],
    "search": ["name='first'"],
    "labels": [{"team": "platform"}],
    "annotations": [{"example.com/team": "platform"}],
    "locations": [["europe-west1"]],
    "replication_locations": [["europe-west1"]],
    "service_accounts": [["default"]],
    "policy": [{"quay.io": "one"}],
    "drop": [["quay.io"]],
    "images": [["quay.io/team/app:1", "nginx"], ["[2001:db8::1]:5000/app"]],
    "retention": [{"keep": 2}],
    "keep": [1, 3],
    "mode": ["0600"],
    "transport": ["rest"],
    "endpoint": [_CLOSED],
    "url": [_CLOSED],
    "host": [_CLOSED],
    "healthz": ["", _CLOSED],
    "unit": ["kubelet.service"],
    "topic": ["events"],
    "digest_key": ["a-key"],
    "data": [{"note": "one"}],
    "syncer_image": ["registry.example.com/syncer:1"],
    "max_restarting": ["1", "10%"],
    "node_serial": [1],
    "node_hosts": ["nodes"],
    # Limits of waits. A long wait would count as a hang, so right values are short.
    "tries": [1, 2],
    "delay": [0, 0.01],
    "max_delay": [0, 0.02],
    "timeout": [3, "3"],
    "api_timeout": [1, "1.5"],
    "concurrency": [1, 4],
    "attempts": [1],
    "backoff": [0],
    "restart_timeout": [1],
    "ready_timeout": [0.1],
    "window": [0],
    "lock_timeout": [0.1],
    "rollout_timeout": [0, 0.1],
    "health_window": [1],
}
_FILES = {
    "kubeconfig": "kubeconfig",
    "ca_cert": "ca.crt",
    "credentials_file": "credentials.json",
    "token_file": "token",
    "url_file": "url",
    "api_key_file": "token",
    "config": "adapter.json",
    "adapter_config": "adapter.json",
    "clusters_dir": "fleet",
    "run_directory": "run",
    "run": "run",
    "kubelet_dir": "node",
}

_TEXTS = [
    "",
    " ",
    "nul\0inside",
    "\x1b[31mred",
    "line\r\nbreak",
    "\t",
    "\x7f\x85",
    "é",
    "\u202eright to left",
    "\ud800",
    "x\udfffy",
    "\U0001f511" * 9,
    "a" * 70,
    "a" * 300,
    "ab/" * 4000,
    "-x",
    "--help",
    "$(id)",
    "; true",
    "%s%n%d",
    "{0}{x}",
    "null",
    "None",
    "~",
    "true",
    "yes",
    "maybe",
    "on",
    "nan",
    "-inf",
    "1e999",
    "0x10",
    "1_000",
    "٣",
    "1e3",
    "12:30:45",
    "2026-01-01",
    "2026-01-01T00:00:00Z",
    "[]",
    "{}",
    "[1, 2",
    '{"a": ',
    "a=b c=d",
    "*",
    "..",
    ".",
    "a,b,,c",
    "!!timestamp x",
    "!!int ''",
    "!vault x",
    "&a [*a]",
    "$ANSIBLE_VAULT;1.1;AES256\n00",
]
_TEMPLATES = [
    "{{ nope }}",
    "{{ 1 / 0 }}",
    "{{ nope.deeper[3] }}",
    "{{ 'x' | no_such_filter }}",
    "{{",
    "{% raw",
    "{# ",
    "{% for x in y %}",
    "{{ [] | first }}",
    "{{ {} }}",
    "{{ none }}",
    "{{ omit }}",
    "{{ undef(hint='x') }}",
    "{{ 'a' * 3 }}",
    "{{ range(3) }}",
    "{{ lookup('env', 'NOPE') }}",
]
_NUMBERS: list[Any] = [
    0, -1, 1, 2, 7, 8, 65536, 2**31, 2**63, 2**64, -(2**63), 10**30, 10**400, 0.5, -0.0, 1e-320, 1e308,
    float("nan"), float("inf"), float("-inf"), True, False,
]  # fmt: skip
_URLS = [
    _CLOSED,
    "http://[::1",
    "http://127.0.0.1:99999",
    "http://127.0.0.1:9/\0",
    "http://127.0.0.1:x",
    "ftp://127.0.0.1",
    "http://",
    "://",
    "http://user:word@127.0.0.1:9/path?x=1#y",
    "http://169.254.169.254/",
    "unix:///nowhere",
    "http://127.0.0.1:9\\@good.example",
    "amqp://127.0.0.1:9/",
    "amqp://%zz@127.0.0.1:9/%2",
]
_PATHS = [
    "directory",
    "empty",
    "pipe",
    "socket",
    "loop",
    "dangling",
    "unreadable",
    "nowhere/at/all",
    "good.json",
    "good.json/below",
    "bad.json",
    "garbage",
    "bomb.yaml",
    "deep.json",
    "cluster.yaml",
    "kubeconfig",
    "odd\nname",
]


def path(name: str) -> str:
    """Return the path of a file in the scratch directory."""
    return f"{HERE}/{name}"


def right(rng: random.Random, name: str, spec: Mapping[str, Any]) -> Any:
    """Return a value that an option with this name and spec accepts, in the environment of ``world.py``."""
    if name in _RIGHT:
        return rng.choice(_RIGHT[name])
    if name in _FILES:
        return path(_FILES[name])
    short = name.split("_", 1)[-1]
    if spec.get("choices"):
        return rng.choice(list(spec["choices"]))
    kind = spec.get("type", "str")
    if kind == "path":
        return path(rng.choice(["good.json", "made.json", "nowhere"]))
    if kind == "bool":
        return rng.choice([True, False, "yes"])
    if short in _RIGHT:
        return rng.choice(_RIGHT[short])
    if kind in ("int", "float"):
        return rng.choice([0, 1, 2])
    if kind == "dict":
        return {}
    if kind == "list":
        return []
    return rng.choice(["one", "cls-1", "example.com"])


def hostile(rng: random.Random, depth: int = 0) -> Any:
    """Return a value that hardly any option accepts."""
    return rng.choice(_KINDS)(rng, depth)


def misplaced(rng: random.Random, canary: Canary) -> Any:
    """Return a docker config, or one of its values, for an option that must not hold one."""
    if rng.random() < 0.25:
        return canary.document
    return TEXTS[rng.choice(list(TEXTS))](canary)


def _mapping(rng: random.Random, depth: int) -> Any:
    if depth > 3:
        return {}
    keys: list[Any] = ["", "name", "a" * 300, None, 1, "{{ nope }}", "é", "x\0y", "key", True]
    return {rng.choice(keys): hostile(rng, depth + 1) for _count in range(rng.randrange(3))}


def _list(rng: random.Random, depth: int) -> Any:
    if depth > 3:
        return []
    one = hostile(rng, depth + 1)
    return rng.choice([[], [None], [[]], [{}], [one], [one, one], [one, None, 1]])


def _deep(rng: random.Random, _depth: int) -> Any:
    made: Any = rng.choice(["x", None, {}])
    for _level in range(rng.choice([20, 70])):
        made = [made] if rng.random() < 0.5 else {"a": made}
    return made


def _date(rng: random.Random, _depth: int) -> Any:
    return rng.choice([datetime.date(2026, 1, 1), datetime.datetime(2026, 1, 1, 12, 0, 0)])


_Maker = Callable[[random.Random, int], Any]
_KINDS: list[_Maker] = [
    lambda _rng, _depth: None,
    *[lambda rng, _depth: rng.choice(_TEXTS)] * 4,
    *[lambda rng, _depth: rng.choice(_NUMBERS)] * 2,
    *[lambda rng, _depth: path(rng.choice(_PATHS))] * 2,
    lambda rng, _depth: rng.choice(_TEMPLATES),
    lambda rng, _depth: rng.choice(_URLS),
    _mapping,
    _list,
    _deep,
    _date,
]
