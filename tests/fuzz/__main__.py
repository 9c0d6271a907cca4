# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""``python -m tests.fuzz --seed 7 --inputs 10000``: try so many inputs on this Python's ansible-core."""

from __future__ import annotations

import argparse
import os
import random
import sys

from tests.fuzz.trying import sandbox

def main() -> int:
    """0 if nothing was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", default=None, help="of the inputs; a random one by default")
    parser.add_argument("--inputs", type=int, default=10_000)
    parser.add_argument("--only", default="", help="of the surfaces whose name has this, such as role/node")
    parser.add_argument("--number", type=int, default=None, help="only this one of the inputs")
    parser.add_argument("--at-once", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    seed = options.seed or str(random.SystemRandom().randrange(10**9))
    with sandbox() as root:
        from tests.fuzz.run import fuzz

        return fuzz(seed, options.inputs, root, only=options.only, number=options.number, at_once=options.at_once)


if __name__ == "__main__":
    sys.exit(main())
