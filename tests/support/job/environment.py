# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The environment variables that the job contract requires."""

from __future__ import annotations

import base64
import json

DOCUMENT = {"auths": {"quay.io": {"auth": base64.b64encode(b"example-user:example-password").decode()}}}
# What the table in seed 003 marks as required.
REQUIRED = {
    "CLUSTER_ID": "cls-abc123",
    "CLUSTER_NAME": "production-cluster",
    "GCP_PROJECT_ID": "customer-prod-12345",
    "PULL_SECRET_DATA": json.dumps(DOCUMENT),
    "MANAGEMENT_NAMESPACE": "clusters-cls-abc123",
}
