# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The event source as a process, which prints each event with its memory (KiB), threads and open files."""

from __future__ import annotations

import asyncio
import json
import runpy
import sys
from pathlib import Path
from typing import Any

COLLECTIONS = ("ansible_collections", "hyperfleet", "pull_secret")


def memory() -> int:
    """Resident, KiB."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0])


class Printed:
    def __init__(self) -> None:
        self.before = memory()

    async def put(self, data: Any) -> None:
        threads, files = (len(list(Path("/proc/self").glob(f"{kind}/*"))) for kind in ("task", "fd"))
        taken = {"before": self.before, "now": memory(), "threads": threads, "files": files}
        print(json.dumps({**data["kubernetes_secret"], **taken}), flush=True)


if __name__ == "__main__":
    source = Path(sys.argv[1])
    main = runpy.run_path(str(source))["main"]
    asyncio.run(main(Printed(), json.loads(sys.argv[2])))
