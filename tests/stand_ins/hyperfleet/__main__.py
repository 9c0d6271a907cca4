# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from tests.stand_ins.hyperfleet.server import HyperFleetLab
from tests.stand_ins.process import options_of, serve

if __name__ == "__main__":
    options = options_of("hyperfleet").parse_args()
    serve(HyperFleetLab(), options.ready_file, lambda lab: {"url": lab.url})
