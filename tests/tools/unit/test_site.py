# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The menu of the documentation site, and its broken links."""

from __future__ import annotations

from pathlib import Path

from tests.tools import docs, site_links

INDEX = """Site
====

Operate
-------

.. toctree::
    :maxdepth: 1

    docsite/monitoring

Modules
~~~~~~~

* :ansplugin:`a module <x.y.a#module>`

.. toctree::
    :maxdepth: 1
    :hidden:

    gcp_pull_secret_module
"""


def test_sections_have_captions_and_plugins_short_names() -> None:
    assert docs.captioned(INDEX) == INDEX.replace(
        ".. toctree::\n    :maxdepth: 1\n\n", ".. toctree::\n    :caption: Operate\n    :maxdepth: 1\n\n"
    ).replace(
        ".. toctree::\n    :maxdepth: 1\n    :hidden:\n\n    gcp_pull_secret_module\n",
        ".. toctree::\n    :caption: Modules\n    :maxdepth: 1\n    :hidden:\n\n"
        "    gcp_pull_secret <gcp_pull_secret_module>\n",
    )


def test_broken_links_of_a_site_are_found(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "one.html").write_text(
        '<h1 id="top">One</h1><a href="../index.html#here">ok</a><a href="/">ok</a>'
    )
    (tmp_path / "index.html").write_text(
        '<h1 id="here">Site</h1><a name="old"></a><a href="#old">ok</a><a href="sub/one.html#top">ok</a>'
        '<a href="https://example.com/gone">not followed</a><a href="#gone">x</a>'
        '<a href="sub/one.html#gone">x</a><img src="gone.png"><a href="gone.html#a">x</a>'
    )
    assert site_links.broken(tmp_path) == [
        f"index.html: broken link {link}"
        for link in ("#gone", "sub/one.html#gone", "gone.png", "gone.html#a")
    ]
