# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks the documentation with antsibull-docs and builds it into ``build/docs``; a warning is a failure."""

from __future__ import annotations

import shutil
import sys

from tests.tools import env, in_tree

COLLECTION = "hyperfleet.pull_secret"
LINT = ["antsibull-docs", "lint-collection-docs", "--plugin-docs", "--validate-collection-refs", "self"]


def main() -> int:
    if code := in_tree.run("docs", [*LINT, "--disallow-unknown-collection-refs", "."]):
        return code
    target = env.ROOT / "build" / "docs"
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    init = ["antsibull-docs", "sphinx-init", "--use-current", "--squash-hierarchy", "--fail-on-error"]
    if code := in_tree.run("docs", [*init, "--dest-dir", target, COLLECTION]):
        return code
    if code := in_tree.run("docs", ["bash", target / "build.sh"], SPHINXOPTS="-W --keep-going"):
        return code
    if not (target / "build" / "html" / "index.html").is_file():
        print("the build left no index.html")
        return 1
    print("build/docs/build/html/index.html")
    return 0


if __name__ == "__main__":
    sys.exit(main())
