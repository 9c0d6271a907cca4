# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hypothesis strategies for docker configs, and the profile of these tests: quick, the same every time."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.dockerconfig import Layer, load
from tests.support.docker_configs import encoded

PROFILE = settings(
    derandomize=True,
    max_examples=20,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)

# Few registries, many spellings: layers have to meet.
REGISTRIES = [
    "quay.io", "https://quay.io", "quay.io/v1/", "a.io", "a.io/team", "a.io:5000", "localhost:5000", "docker.io",
    "https://index.docker.io/v1/", "registry-1.docker.io", "*.a.io", "cloud.openshift.com",
]  # fmt: skip
IMAGES = [
    "quay.io/team/app", "a.io/team/app", "a.io/x", "a.io:5000/x", "localhost:5000/x", "nginx", "b.a.io/x",
    "registry-1.docker.io/library/nginx", "cloud.openshift.com/x",
]  # fmt: skip

words = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1, max_size=12)
users = words.filter(lambda text: ":" not in text)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=5,
)
unknown_fields = st.dictionaries(words.map("x-{}".format), json_values, max_size=2)


@st.composite
def entries(draw: st.DrawFn) -> dict[str, Any]:
    """A valid entry, perhaps one that is repaired."""
    user, password = draw(users), draw(words)
    entry = draw(unknown_fields)
    if draw(st.booleans()):
        return {**entry, "username": user, "password": password}
    auth = encoded(f"{user}:{password}")
    return {**entry, "auth": auth if draw(st.booleans()) else auth.rstrip("=")}


documents = st.builds(
    lambda auths, extra: {**extra, "auths": auths},
    st.dictionaries(st.sampled_from(REGISTRIES), entries(), max_size=5),
    unknown_fields,
)
configs = documents.map(lambda data: load(data, allow_empty=True))


@st.composite
def layers(draw: st.DrawFn, min_size: int = 1, max_size: int = 4) -> list[Layer]:
    """Layers with names of their own."""
    found = draw(st.lists(configs, min_size=min_size, max_size=max_size))
    return [Layer(f"layer-{position}", config) for position, config in enumerate(found)]


@st.composite
def spellings(draw: st.DrawFn, document: dict[str, Any]) -> str:
    """The same document, written differently: order, white space, line breaks and padding in base64."""

    def shuffled(value: Any, is_entry: bool = False) -> Any:
        if not isinstance(value, dict):
            return value
        items = draw(st.permutations(list(value.items())))
        found = {name: shuffled(item) for name, item in items}
        if is_entry and isinstance(found.get("auth"), str):
            auth = found["auth"].rstrip("=") if draw(st.booleans()) else found["auth"]
            at = draw(st.integers(0, len(auth)))
            found["auth"] = auth[:at] + draw(st.sampled_from(["", "\n", "\r\n"])) + auth[at:]
        return found

    auths = {name: shuffled(entry, is_entry=True) for name, entry in document["auths"].items()}
    document = shuffled({**document, "auths": auths})
    indent = draw(st.sampled_from([None, 0, 2, "\t"]))
    return json.dumps(document, indent=indent, ensure_ascii=draw(st.booleans())) + draw(
        st.sampled_from(["", "\n"])
    )
