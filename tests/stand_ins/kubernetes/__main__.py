# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import os

from tests.stand_ins.kubernetes.lab import ADMIN_TOKEN, VIEWER_TOKEN, KubernetesLab
from tests.stand_ins.process import options_of, serve


def _address(lab: KubernetesLab) -> dict[str, str | None]:
    ca = lab.ca.decode() if lab.ca else None
    return {"url": lab.url, "ca": ca, "token": lab.admin_token, "viewer_token": lab.viewer_token}


if __name__ == "__main__":
    parser = options_of("kubernetes")
    parser.add_argument(
        "--tls", action="store_true", help="with a certificate of its own (`ca`), for kubectl"
    )
    options = parser.parse_args()
    # A second stand-in gets other tokens through the environment.
    tokens = {
        "admin_token": os.environ.get("LAB_K8S_TOKEN", ADMIN_TOKEN),
        "viewer_token": os.environ.get("LAB_K8S_VIEWER_TOKEN", VIEWER_TOKEN),
    }
    serve(KubernetesLab(**tokens, tls=options.tls), options.ready_file, _address)
