# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes screenshots of five pages of the built site, for a desktop and a phone, in ``build/screenshots``.

It also opens every page at the width of a phone, and fails if a page is wider than the screen. Without Chromium, it
prints a line and does nothing.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from html import unescape
from pathlib import Path

from tests.tools import docs, env

TARGET = env.ROOT / "build" / "screenshots"
PAGES = ("index", "docsite/index", "docsite/get_started", "docsite/troubleshooting", "gcp_pull_secret_module")
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
DESKTOP = (1280, 1800)
PHONE = (390, 1800)
# A browser window cannot be as narrow as a phone, so the page is in a frame of that width.
_FRAME = (
    '<!doctype html><body style="margin:0"><iframe src="{url}" width="{width}" height="{height}" '
    'style="border:0"></iframe></body>'
)
_MEASURE = """<!doctype html><body><pre id="out"></pre><script>
const found = {};
function next(urls) {
  if (!urls.length) { document.getElementById('out').textContent = JSON.stringify(found); return; }
  const frame = document.createElement('iframe');
  frame.width = WIDTH; frame.height = 800; frame.src = urls[0];
  frame.onload = () => {
    const content = frame.contentDocument.querySelector('.rst-content') || frame.contentDocument.body;
    found[urls[0]] = content.scrollWidth - content.clientWidth;
    frame.remove();
    next(urls.slice(1));
  };
  document.body.append(frame);
}
next(URLS);
</script></body>"""


def _browse(browser: str, *options: str) -> str:
    """Run a headless browser for at most a minute, and return its output."""
    with tempfile.TemporaryDirectory(prefix="screenshots-") as profile:
        done = subprocess.run(
            [
                browser,
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--hide-scrollbars",
                "--disable-web-security",
                f"--user-data-dir={profile}",
                *options,
            ],
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
    return done.stdout


def picture(browser: str, page: str, name: str, width: int, height: int) -> Path:
    target = TARGET / f"{page.replace('/', '-')}-{name}.png"
    frame = TARGET / "frame.html"
    frame.write_text(_FRAME.format(url=(docs.HTML / f"{page}.html").as_uri(), width=width, height=height))
    _browse(browser, f"--window-size={max(width, 500)},{height}", f"--screenshot={target}", frame.as_uri())
    frame.unlink()
    return target


def too_wide(browser: str, width: int) -> dict[str, int]:
    """Return the pages that are wider than the given width, with the number of extra pixels."""
    urls = [path.as_uri() for path in sorted(docs.HTML.rglob("*.html"))]
    frame = TARGET / "measure.html"
    frame.write_text(_MEASURE.replace("WIDTH", str(width)).replace("URLS", json.dumps(urls)))
    printed = _browse(browser, "--virtual-time-budget=600000", "--dump-dom", frame.as_uri())
    frame.unlink()
    found = re.search(r'<pre id="out">(.*?)</pre>', printed, re.DOTALL)
    if not found or not found[1]:
        raise env.ToolError("the browser measured nothing")
    measured: dict[str, int] = json.loads(unescape(found[1]))
    return {url.removeprefix(f"{docs.HTML.as_uri()}/"): more for url, more in measured.items() if more > 0}


def main() -> int:
    browser = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if browser is None:
        print("screenshots: skipped, since there is no Chromium (on Debian: apt-get install chromium)")
        return 0
    if not (docs.HTML / "index.html").is_file():
        print("screenshots: the site is not built; run make docs first")
        return 1
    shutil.rmtree(TARGET, ignore_errors=True)
    TARGET.mkdir(parents=True)
    for page in PAGES:
        for name, (width, height) in (("desktop", DESKTOP), ("phone", PHONE)):
            print(picture(browser, page, name, width, height).relative_to(env.ROOT))
    wide = too_wide(browser, PHONE[0])
    for page, more in wide.items():
        print(f"{page}: {more} pixels wider than a screen of {PHONE[0]}")
    return 1 if wide else 0


if __name__ == "__main__":
    sys.exit(main())
