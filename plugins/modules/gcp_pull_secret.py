#!/usr/bin/python
# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: gcp_pull_secret
short_description: Keep pull secrets in Google Secret Manager
version_added: 0.1.0
description:
  - Makes a secret in Google Secret Manager hold a docker config, for one cluster or thousands in one task.
  - Reads the docker config by reference, checks it as kubelet and containers/image would read it,
    creates the secret with
    its labels, adds a version only when the meaning differs from the newest enabled version, and reads
    it back.
  - Refuses a secret that belongs to another owner, and adds one version even when two runs meet.
notes:
  - Secret Manager promises a fresh answer only for a version that is read by its number. The module finds
    the newest version by its number, so it does not depend on C(latest) or on lists, which may be minutes
    old. Where metadata are old, a target that has to be changed waits for the current ones, for O(timeout)
    at most.
  - Before a version is added, the annotation C(hyperfleet-adding) claims the secret for 20 seconds, up to
    twice O(api_timeout) and 10 seconds where the service has shown to be slow. Other runs wait for it, and
    say so in C(operations), until the version is there or the time is over, so that is how long a run that
    was killed can hold up the next one. A run that gives up takes its claim back, unless its add may still
    take effect.
  - The clocks of machines that write the same secret may differ by less than 10 seconds.
requirements:
  - google-cloud-secret-manager
  - google-crc32c
extends_documentation_fragment:
  - hyperfleet.pull_secret.attributes
  - hyperfleet.pull_secret.run
  - hyperfleet.pull_secret.targets
  - hyperfleet.pull_secret.cluster.store
author:
  - HyperFleet contributors (@openshift-hyperfleet)
"""

EXAMPLES = r"""
- name: Store the pull secret of one cluster
  hyperfleet.pull_secret.gcp_pull_secret:
    cluster_id: cls-123
    cluster_name: production-cluster
    project: customer-prod-12345
    source:
      hyperfleet:
        cluster_id: cls-123

- name: Store the pull secrets of many clusters, each in its customer's project
  hyperfleet.pull_secret.gcp_pull_secret:
    retention:
      keep: 3
      destroy_after: 604800
    targets:
      - cluster_id: cls-123
        project: customer-prod-12345
        impersonate_service_account: pullsecret-manager@customer-prod-12345.iam.gserviceaccount.com
        source:
          kubernetes:
            namespace: hyperfleet-system
            name: cluster-cls-123-pullsecret-data
      - cluster_id: cls-456
        project: customer-dev-67890
        source:
          file: /etc/pull-secrets/cls-456.json

- name: Go back to version 3
  hyperfleet.pull_secret.gcp_pull_secret:
    cluster_id: cls-123
    project: customer-prod-12345
    restore_version: "3"

- name: Remove the secret of a cluster that is gone
  hyperfleet.pull_secret.gcp_pull_secret:
    cluster_id: cls-456
    project: customer-dev-67890
    state: absent
"""

RETURN = r"""
targets:
  description: One entry for each target, in their order. No entry holds a value of a docker config.
  returned: always
  type: list
  elements: dict
  contains:
    id:
      description: What the target is called.
      type: str
      returned: always
      sample: cls-123
    place:
      description: Full name of what is written.
      type: str
      returned: always
      sample: projects/customer-prod-12345/secrets/hyperfleet-cls-123-pull-secret
    changed:
      description: Whether anything was changed, or would be in check mode.
      type: bool
      returned: always
    actions:
      description: What was done.
      type: list
      elements: str
      returned: always
      sample: [created]
    registries:
      description:
        - Each registry and the layer or kind of source that it came from.
        - A key that may be a credential is not shown. Its number stands for it.
      type: dict
      returned: always
      sample: {quay.io: hyperfleet}
    digest:
      description: Keyed digest of the docker config's meaning. See O(digest_key).
      type: str
      returned: when the target was read
      sample: hmac-sha256:0f4a2a6a0c1b2d3e4f5061728394a5b6
    warnings:
      description: What was repaired or should be looked at, by registry.
      type: list
      elements: str
      returned: always
    conflicts:
      description: Registries that several layers had, with the winner and the losers.
      type: list
      elements: dict
      returned: when layers were merged and had conflicts
    version:
      description: Number of the version that holds the docker config.
      type: str
      returned: when the secret is there
      sample: "4"
    replication_differs:
      description: Whether the secret was there and is replicated otherwise than O(replication) asks.
      type: bool
      returned: when it is
    operations:
      description: The calls that changed something, retries and failures, as entries of a structured log.
      type: list
      elements: dict
      returned: always
    retries:
      description: How many calls had to be repeated.
      type: int
      returned: always
    failed:
      description: Whether the target failed.
      type: bool
      returned: on failure
    kind:
      description: Kind of the failure.
      type: str
      returned: on failure
      sample: permission_denied
    msg:
      description: What went wrong, where, and what to do.
      type: str
      returned: on failure
failed_targets:
  description: The failed ones again, with their id, place, kind and message.
  returned: always
  type: list
  elements: dict
summary:
  description: Counts of total, changed and failed targets.
  returned: always
  type: dict
  sample: {total: 1000, changed: 10, failed: 1}
"""

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import gcp_pull_secret
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks.entry import run_module


def main() -> None:
    """Run the module."""
    run_module(gcp_pull_secret.target_options, gcp_pull_secret.run)


if __name__ == "__main__":
    main()
