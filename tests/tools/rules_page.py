# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""``python -m tests.tools.rules_page``: writes docs/rules.md from the rule table of the core."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "rules.md"

_HEAD = """# Rules of a docker config

Two programs read a docker config, and they disagree: kubelet, and containers/image (CRI-O, podman, skopeo). A
pull secret has to be right for both. What breaks a rule of severity *error* is refused before anything is
written; what breaks a *warning* is repaired or pointed out. The ids are stable: they stand in square brackets
at the end of a message.

This page is generated from the table in `plugins/module_utils/dockerconfig/rules.py`; `tests/dockerconfig/oracle`
holds the two readers' columns to the readers' own code.

| rule | severity | what is wrong | kubelet | containers/image |
|---|---|---|---|---|
"""

_IMAGES = """
## Which credential pulls an image

Two ways to ask before a pod fails to start:

- `dockerconfig_merge` with `images:` tells it for each image and each reader: the entry's key, its layer, and
  why the entry applies. An image without a credential is a warning, since many images need none; with
  `require_credentials: true` it is an error, and nothing is written.
- The filter `hyperfleet.pull_secret.credential_for` tells it for a docker config as it is, right or wrong.

Neither shows a credential or asks a registry. `tests/dockerconfig/oracle` puts the same questions to the
readers' own code.

| why the entry applies (`rule`) | kubelet | containers/image |
|---|---|---|
"""
_RULES = (
    ("`repository`", "its key is the image's repository", "the same"),
    (
        "`path`",
        "its key is the beginning of the repository: `quay.io/team` is also for `quay.io/team-evil/app`",
        "its key is a path above the repository",
    ),
    (
        "`host`",
        "its key is the image's host and port",
        "the same, or a key with a scheme on this host, whatever its path",
    ),
    ("`glob`", "the image's host matches its key", "never"),
    (
        "`docker_hub`",
        "the image is on Docker Hub, its key is `index.docker.io`, and nothing else applies",
        "its key is another name of Docker Hub",
    ),
    (
        "`credential_helper`",
        "never",
        "`credHelpers` names a program for the host; only running it tells what it gives",
    ),
    (
        "tried after it (`others`)",
        "every other key that applies, in reverse alphabetical order",
        "none; where several are equally good, chance decides",
    ),
)


def page() -> str:
    """The page's text."""
    from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.dockerconfig import rules

    rows = [
        f"| `{rule.id}` | {rule.severity} | {rule.text} | {rule.kubelet} | {rule.containers_image} |\n"
        for rule in rules()
    ]
    return _HEAD + "".join(rows) + _IMAGES + "".join(f"| {' | '.join(row)} |\n" for row in _RULES)


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / ".collections"))
    PAGE.write_text(page(), encoding="utf-8")
