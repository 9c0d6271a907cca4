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
  - Fulfils the job contract of the HyperFleet pull secret job. Stores the pull secret in Google Secret
    Manager, then copies it from there to the management cluster.
  - Is configured by environment variables and logs one JSON object a line. The playbook
    C(hyperfleet.pull_secret.job) runs it.
  - Logs the start of each phase, and its result at the end. In text, control characters are escaped, so that
    an entry is always one line.
  - The required variables are E(CLUSTER_ID), E(CLUSTER_NAME), E(GCP_PROJECT_ID), E(PULL_SECRET_DATA) and
    E(MANAGEMENT_NAMESPACE).
  - Optional variables for the secrets are E(SECRET_NAME) (default C(hyperfleet-{cluster-id}-pull-secret)),
    E(K8S_SECRET_NAME) (default C({cluster-id}-pull-secret)) and E(REPLICATION_POLICY) (V(automatic), or
    V(user-managed:LOCATION,LOCATION)).
  - Other optional variables are E(LOG_LEVEL) (V(debug), V(info), V(warn) or V(error), default V(info)),
    E(LOG_FORMAT) (V(json) or V(text), default V(json)) and E(GCP_API_TIMEOUT) (default V(30s)).
  - Only the processes that need the pull secret read it from the environment. It passes through no variable
    and no file.
extends_documentation_fragment:
  - hyperfleet.pull_secret.attributes
attributes:
  diff_mode:
    support: none
options:
  gcp:
    description: How to connect to Google Secret Manager, as in M(hyperfleet.pull_secret.gcp_pull_secret).
    type: dict
  kubernetes:
    description:
      - How to connect to the Kubernetes API, as in M(hyperfleet.pull_secret.k8s_pull_secret).
    type: dict
  retry:
    description: How requests are retried, as in M(hyperfleet.pull_secret.gcp_pull_secret).
    type: dict
author:
  - HyperFleet contributors (@openshift-hyperfleet)
"""

EXAMPLES = r"""
- name: Provision the cluster that the environment describes
  hyperfleet.pull_secret.pull_secret_job:
"""

RETURN = r"""
version:
  description: Version in Secret Manager that the management cluster holds.
  returned: success
  type: str
  sample: "1"
"""
