#!/usr/bin/python
# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: pull_secret_job
short_description: Provision one cluster as the HyperFleet pull secret job does
version_added: 0.1.0
description:
  - Does what the container of the HyperFleet pull secret job does. Stores the pull secret in Google
    Secret Manager, then gives
    the management cluster what Secret Manager holds.
  - Is configured by environment variables and logs one JSON object a line. The playbook
    C(hyperfleet.pull_secret.job) runs it.
  - A phase is logged when it begins, and what it did when it has ended. In text, control characters of a
    value are written out, so that an entry is always one line.
  - The required variables are E(CLUSTER_ID), E(CLUSTER_NAME), E(GCP_PROJECT_ID), E(PULL_SECRET_DATA) and
    E(MANAGEMENT_NAMESPACE).
  - The others are E(SECRET_NAME) (C(hyperfleet-{cluster-id}-pull-secret) by default), E(K8S_SECRET_NAME)
    (C({cluster-id}-pull-secret)), E(REPLICATION_POLICY) (V(automatic), or
    V(user-managed:LOCATION,LOCATION)), E(LOG_LEVEL)
    (V(debug), V(info), V(warn) or V(error), by default V(info)), E(LOG_FORMAT) (V(json) or V(text), by
    default V(json)) and
    E(GCP_API_TIMEOUT) (V(30s)).
  - The pull secret is read from the environment by the processes that need it. It passes through no
    variable and no file.
extends_documentation_fragment:
  - hyperfleet.pull_secret.attributes
attributes:
  diff_mode:
    support: none
options:
  gcp:
    description: How Google Secret Manager is reached, as the option of
      M(hyperfleet.pull_secret.gcp_pull_secret).
    type: dict
  kubernetes:
    description:
      - How the Kubernetes API is reached, as the option of M(hyperfleet.pull_secret.k8s_pull_secret).
    type: dict
  retry:
    description: How requests are repeated, as the option of M(hyperfleet.pull_secret.gcp_pull_secret).
    type: dict
author:
  - HyperFleet contributors (@openshift-hyperfleet)
"""

EXAMPLES = r"""
- name: Do what the environment says
  hyperfleet.pull_secret.pull_secret_job:
"""

RETURN = r"""
version:
  description: Version in Secret Manager that the management cluster holds.
  returned: success
  type: str
  sample: "1"
"""
