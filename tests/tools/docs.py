# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks the documentation with antsibull-docs and builds the site into ``build/docs``; a warning is a failure.

``python -m tests.tools.docs lint`` only checks it.

The site has the pages of ``docs/docsite/rst`` in the sections of ``docs/docsite/extra-docs.yml``, the reference of
each module, role and plugin, and the changelog.

Sphinx would download the inventory of Ansible's documentation to resolve references to it. The build must work
without that host, so this program writes an inventory with the references that occur.
"""

from __future__ import annotations

import re
import shutil
import sys
import zlib
from collections.abc import Iterable

from tests.tools import env, in_tree, site_links

COLLECTION = "hyperfleet.pull_secret"
TARGET = env.ROOT / "build" / "docs"
HTML = TARGET / "build" / "html"
LINT = ["antsibull-docs", "lint-collection-docs", "--plugin-docs", "--validate-collection-refs", "self"]
INIT = ["antsibull-docs", "sphinx-init", "--use-current", "--squash-hierarchy", "--fail-on-error"]
NAMES = ["--project", COLLECTION, "--title", COLLECTION, "--copyright", "HyperFleet contributors"]
ANSIBLE_DOCS = "https://docs.ansible.com/projects/ansible/devel/"

# Labels that antsibull-docs' templates refer to, with page and anchor below ANSIBLE_DOCS.
LABELS = {
    "ansible_configuration_settings": "reference_appendices/config.html#ansible-configuration-settings",
    "common_return_values": "reference_appendices/common_return_values.html#common-return-values",
}
PLUGIN_KIND = re.compile(r"[`<]([a-z]+)_plugins[`>]")
OTHERS_PLUGIN = re.compile(r"<ansible_collections\.((?!hyperfleet\.)\w+)\.(\w+)\.(\w+)_(\w+)>")
# A section's caption is only for the menu, because the index has a heading with the same words. On a phone, code
# and tables scroll.
CSS = """\
.rst-content .toctree-wrapper > p.caption { display: none; }
.rst-content div[class^="highlight"] pre { white-space: pre; overflow-x: auto; }
.rst-content h1, .rst-content h2, .rst-content h3, .rst-content p, .rst-content li { overflow-wrap: anywhere; }
.rst-content table.docutils td, .rst-content table.docutils th { white-space: normal; }
.rst-content table.docutils:not(.ansible-option-table) td p { overflow-wrap: break-word; }
@media screen and (max-width: 768px) {
  .rst-content table.docutils:not(.ansible-option-table) { display: block; overflow-x: auto; }
}
"""
_UNDERLINE = re.compile(r"([-~])\1{2,}")
_PLUGIN_PAGE = re.compile(r"( +)(\w+)_([a-z]+)")


def labels(pages: Iterable[str]) -> dict[str, str]:
    """Return LABELS, and the pages' labels of other collections' plugins and of kinds of plugins."""
    found = dict(LABELS)
    for page in pages:
        for kind in PLUGIN_KIND.findall(page):
            found[f"{kind}_plugins"] = f"plugins/{kind}.html#{kind}-plugins"
        for match in OTHERS_PLUGIN.finditer(page):
            namespace, name, plugin, kind = match.groups()
            found[match.group(0).strip("<>")] = f"collections/{namespace}/{name}/{plugin}_{kind}.html"
    return found


def inventory(entries: dict[str, str]) -> bytes:
    """Return Sphinx' ``objects.inv``, version 2: a header of four lines and a compressed list."""
    header = b"# Sphinx inventory version 2\n# Project: ansible\n# Version: devel\n"
    header += b"# The remainder of this file is compressed using zlib.\n"
    lines = [f"{label} std:label -1 {url} {label}\n" for label, url in sorted(entries.items())]
    return header + zlib.compress("".join(lines).encode())


def captioned(index: str) -> str:
    """Return the index with short names of plugins, and with the heading of each table of contents as its caption.

    Otherwise the menu would be one list without sections, and its lines would be too long.
    """
    out: list[str] = []
    heading = ""
    inside = False
    lines = index.splitlines()
    for number, line in enumerate(lines):
        if _UNDERLINE.fullmatch(line):
            heading = lines[number - 1]
        if line and not line.startswith(" "):
            inside = line == ".. toctree::"
        entry = _PLUGIN_PAGE.fullmatch(line)
        if inside and entry:
            out.append(f"{entry[1]}{entry[2]} <{line.strip()}>")
        else:
            out.append(line)
        if line == ".. toctree::":
            out.append(f"    :caption: {heading}")
    return "\n".join(out) + "\n"


def build() -> int:
    shutil.rmtree(TARGET, ignore_errors=True)
    TARGET.mkdir(parents=True)
    TARGET.chmod(0o755)
    if code := in_tree.run("docs", [*INIT, "--dest-dir", TARGET, *NAMES, COLLECTION]):
        return code
    script = TARGET / "build.sh"
    generate, sphinx = script.read_text().split("# Build Sphinx site", 1)
    script.write_text(generate)
    if code := in_tree.run("docs", ["bash", script]):
        return code
    pages = [path.read_text() for path in (TARGET / "rst").rglob("*.rst")]
    (TARGET / "ansible.inv").write_bytes(inventory(labels(pages)))
    index = TARGET / "rst" / "index.rst"
    index.write_text(captioned(index.read_text()))
    (TARGET / "static").mkdir()
    (TARGET / "static" / "site.css").write_text(CSS)
    with (TARGET / "conf.py").open("a") as handle:
        handle.write(f"\nintersphinx_mapping = {{'ansible': ({ANSIBLE_DOCS!r}, '../ansible.inv')}}\n")
        handle.write("html_static_path = ['static']\nhtml_css_files = ['site.css']\n")
    script.write_text(f"cd {TARGET}\n{sphinx.replace('--keep-going', '--keep-going -q')}")
    return in_tree.run("docs", ["bash", script])


def main() -> int:
    if code := in_tree.run("docs", [*LINT, "--disallow-unknown-collection-refs", "."]):
        return code
    if sys.argv[1:] == ["lint"]:
        return 0
    if code := build():
        return code
    if not (HTML / "index.html").is_file():
        print("the build left no index.html")
        return 1
    if broken := site_links.broken(HTML):
        print("\n".join(broken))
        return 1
    print((HTML / "index.html").relative_to(env.ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
