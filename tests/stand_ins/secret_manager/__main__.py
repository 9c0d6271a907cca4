# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from tests.stand_ins.process import options_of, serve
from tests.stand_ins.secret_manager.lab import SecretManagerLab

if __name__ == "__main__":
    options = options_of("secret_manager").parse_args()
    serve(SecretManagerLab(), options.ready_file, lambda lab: {"grpc": lab.grpc, "rest": lab.rest})
