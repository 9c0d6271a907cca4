# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The root conftest: the checkout is importable as a collection, and a skip in CI is a failure."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]

CASES = {
    "in a test": "import pytest\ndef test_it():\n    pytest.skip('because')\n",
    "of a module": "import pytest\npytest.skip('because', allow_module_level=True)\n",
    "for a real part": "import pytest\n@pytest.mark.real('no-program')\ndef test_it():\n    assert True\n",
}


def run_pytest(directory: Path, sources: Iterable[str], **variables: str) -> subprocess.CompletedProcess[str]:
    for number, source in enumerate(sources):
        (directory / f"test_case_{number}.py").write_text(source)
    (directory / "conftest.py").write_text((ROOT / "conftest.py").read_text())
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    return subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "--continue-on-collection-errors",
            "--rootdir",
            str(directory),
            str(directory),
        ],
        cwd=directory,
        # The fixtures of the lab's nodes come from the checkout.
        env={**environment, "PYTHONPATH": str(ROOT), "CI": "", **variables},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.nightly
def test_a_skip_passes_on_a_laptop_and_fails_in_ci(tmp_path: Path) -> None:
    """All cases in one run, because the start of pytest takes longer than the cases."""
    assert run_pytest(tmp_path, CASES.values()).returncode == 0
    in_ci = run_pytest(tmp_path, CASES.values(), CI="true")
    assert in_ci.returncode in (1, 2), in_ci.stdout
    summary = in_ci.stdout.partition("short test summary info")[2]
    for number in range(len(CASES)):
        assert f"test_case_{number}.py" in summary, in_ci.stdout
    assert in_ci.stdout.count("skipped although CI=true") >= len(CASES)


def test_an_expected_failure_is_not_a_skip(tmp_path: Path) -> None:
    source = "import pytest\n@pytest.mark.xfail(reason='known')\ndef test_it():\n    assert False\n"
    assert run_pytest(tmp_path, [source], CI="true").returncode == 0


def test_the_checkout_is_the_collection() -> None:
    package = importlib.import_module("ansible_collections.hyperfleet.pull_secret.plugins")
    # An event source that was loaded earlier has added the same directory with another path.
    assert {Path(path).resolve() for path in package.__path__} == {ROOT / "plugins"}
