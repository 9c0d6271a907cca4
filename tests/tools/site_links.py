# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds links within a built site whose file or anchor does not exist."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class _Page(HTMLParser):
    """The links and the anchors of one page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text())
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.append(value)
            elif value and (name == "id" or (name == "name" and tag == "a")):
                self.anchors.add(value)


def broken(site: Path) -> list[str]:
    """Return one line for each broken link of the pages below ``site``; links to other sites are not followed."""
    root = site.resolve()
    pages = {path: _Page(path) for path in sorted(root.rglob("*.html"))}
    return [
        f"{path.relative_to(root)}: broken link {link}"
        for path, page in pages.items()
        for link in dict.fromkeys(page.links)
        if not _leads(root, path, link, pages)
    ]


def _leads(root: Path, path: Path, link: str, pages: dict[Path, _Page]) -> bool:
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return True
    name = unquote(parts.path)
    above = root if name.startswith("/") else path.parent
    target = (above / name.lstrip("/")).resolve() if name else path
    if target.is_dir():
        target /= "index.html"
    if not target.is_file():
        return False
    return not parts.fragment or target not in pages or unquote(parts.fragment) in pages[target].anchors
