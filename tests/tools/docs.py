# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks the documentation with antsibull-docs and builds it into ``build/docs``; a warning is a failure.

Sphinx would fetch the inventory of Ansible's own documentation to resolve the references to it. The build
has to work without that host, so it gets an inventory with just the references that occur.
"""

from __future__ import annotations

import re
import shutil
import sys
import zlib
from collections.abc import Iterable
from pathlib import Path

from tests.tools import env, in_tree

COLLECTION = "hyperfleet.pull_secret"
LINT = ["antsibull-docs", "lint-collection-docs", "--plugin-docs", "--validate-collection-refs", "self"]
INIT = ["antsibull-docs", "sphinx-init", "--use-current", "--squash-hierarchy", "--fail-on-error"]
ANSIBLE_DOCS = "https://docs.ansible.com/projects/ansible/devel/"

# Labels that antsibull-docs' templates refer to -> page and anchor below ANSIBLE_DOCS.
LABELS = {
    "ansible_configuration_settings": "reference_appendices/config.html#ansible-configuration-settings",
    "common_return_values": "reference_appendices/common_return_values.html#common-return-values",
}
PLUGIN_KIND = re.compile(r"[`<]([a-z]+)_plugins[`>]")
OTHERS_PLUGIN = re.compile(r"<ansible_collections\.((?!hyperfleet\.)\w+)\.(\w+)\.(\w+)_(\w+)>")


def labels(pages: Iterable[str]) -> dict[str, str]:
    """LABELS, and the kinds of plugins and other collections' plugins that the pages refer to."""
    found = dict(LABELS)
    for page in pages:
        for kind in PLUGIN_KIND.findall(page):
            found[f"{kind}_plugins"] = f"plugins/{kind}.html#{kind}-plugins"
        for match in OTHERS_PLUGIN.finditer(page):
            namespace, name, plugin, kind = match.groups()
            found[match.group(0).strip("<>")] = f"collections/{namespace}/{name}/{plugin}_{kind}.html"
    return found


def inventory(entries: dict[str, str]) -> bytes:
    """Sphinx' ``objects.inv``, version 2: a header of four lines and a compressed list."""
    header = b"# Sphinx inventory version 2\n# Project: ansible\n# Version: devel\n"
    header += b"# The remainder of this file is compressed using zlib.\n"
    lines = [f"{label} std:label -1 {url} {label}\n" for label, url in sorted(entries.items())]
    return header + zlib.compress("".join(lines).encode())


def build(target: Path) -> int:
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    target.chmod(0o755)
    if code := in_tree.run("docs", [*INIT, "--dest-dir", target, "--project", COLLECTION, COLLECTION]):
        return code
    script = target / "build.sh"
    generate, sphinx = script.read_text().split("# Build Sphinx site", 1)
    script.write_text(generate)
    if code := in_tree.run("docs", ["bash", script]):
        return code
    pages = [path.read_text() for path in (target / "rst").rglob("*.rst")]
    (target / "ansible.inv").write_bytes(inventory(labels(pages)))
    with (target / "conf.py").open("a") as handle:
        handle.write(f"\nintersphinx_mapping = {{'ansible': ({ANSIBLE_DOCS!r}, '../ansible.inv')}}\n")
    script.write_text(f"cd {target}\n{sphinx.replace('--keep-going', '--keep-going -q')}")
    return in_tree.run("docs", ["bash", script])


def main() -> int:
    if code := in_tree.run("docs", [*LINT, "--disallow-unknown-collection-refs", "."]):
        return code
    target = env.ROOT / "build" / "docs"
    if code := build(target):
        return code
    index = target / "build" / "html" / "index.html"
    if not index.is_file():
        print("the build left no index.html")
        return 1
    print(index.relative_to(env.ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
