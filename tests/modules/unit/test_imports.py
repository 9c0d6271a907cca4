# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What runs on other machines is imported where Python and Ansible's module_utils are all that is installed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import ansible

from conftest import COLLECTION, COLLECTIONS_PATH, ROOT

_IMPORT = """
import importlib, sys
sys.path[:0] = sys.argv[1:3]
for name in sys.argv[3:]:
    importlib.import_module(name)
print(len(sys.argv[3:]))
"""


def test_modules_and_module_utils_need_no_other_package(tmp_path: Path) -> None:
    (tmp_path / "ansible").symlink_to(Path(ansible.__file__).parent)
    files = [*(ROOT / "plugins" / "modules").glob("*.py"), *(ROOT / "plugins" / "module_utils").rglob("*.py")]
    names = [".".join((COLLECTION / file.relative_to(ROOT).with_suffix("")).parts) for file in files]
    command = [sys.executable, "-I", "-S", "-c", _IMPORT, str(COLLECTIONS_PATH), str(tmp_path), *names]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout == f"{len(names)}\n", done.stderr
    assert len(names) > 200
