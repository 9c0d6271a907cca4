# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A module that leaks its argument in a chosen way. The watchers must detect each way."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from ansible.module_utils.basic import AnsibleModule


def main() -> None:
    """``way`` says how ``secret`` leaks."""
    module = AnsibleModule(
        dict(secret=dict(type="raw", no_log=False), way=dict(type="str")), supports_check_mode=True
    )
    secret, way = module.params["secret"], module.params["way"]
    module.params.pop("secret")
    if way == "result":
        module.exit_json(changed=True, got=secret)
    if way == "failure":
        module.fail_json(msg=f"cannot use {secret}")
    if way == "diff":
        module.exit_json(changed=True, diff={"before": "", "after": f"{secret}\n"})
    if way == "warning":
        module.warn(f"odd: {secret}")
    if way == "exception":
        raise ValueError(secret)
    if way == "stderr":
        sys.stderr.write(secret)
        sys.exit(1)
    if way == "log":
        module.log(secret)
    if way == "argv":
        subprocess.run([sys.executable, "-c", "", secret], check=True)
    if way == "short-lived program":
        subprocess.run(["true", secret], check=True)
    if way == "environment":
        subprocess.run(["true"], check=True, env={**os.environ, "SECRET": secret})
    if way == "temporary file":
        with tempfile.NamedTemporaryFile("w") as stream:
            stream.write(secret)
    if way in ("removed file", "file removed by a program", "overwritten file"):
        path = Path(tempfile.mkdtemp()) / "note"
        path.write_text(secret, encoding="utf-8")
        if way == "removed file":
            path.unlink()
        elif way == "file removed by a program":
            subprocess.run(["rm", str(path)], check=True)
        else:
            path.write_text("nothing", encoding="utf-8")
    if way == "file in home":
        Path("~/note").expanduser().write_text(secret, encoding="utf-8")
    module.exit_json(changed=False)


if __name__ == "__main__":
    main()
