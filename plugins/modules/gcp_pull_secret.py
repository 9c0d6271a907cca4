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
  - Stores docker configs in Google Secret Manager, for one cluster or thousands in one task.
  - Reads the docker config by reference and checks it as kubelet and containers/image read it.
  - Creates the secret with its labels if necessary. Adds a version only if its meaning differs from the
    newest enabled version, and reads it back.
  - Refuses a secret that belongs to another owner. Two simultaneous runs with the same docker config add one
    version.
notes:
  - Secret Manager guarantees a current answer only for a version that is read by its number. C(latest) and
    lists may be minutes old. The module therefore finds the newest version by its number.
  - If metadata are old, a target that needs a change waits for the current metadata, for at most O(timeout).
  - Before it adds a version, a run claims the secret with the annotation C(hyperfleet-adding). The claim is
    valid for 20 seconds, or up to twice O(api_timeout) plus 10 seconds if the service is slow.
  - Other runs wait until the version exists or the claim expires, and say so in C(operations). A killed run
    can delay the next one for that time.
  - A run that gives up removes its claim, unless its request may still take effect.
  - The clocks of all machines that write the same secret must agree within 10 seconds.
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

- name: Remove the secret of a deleted cluster
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
      description: Name of the target.
      type: str
      returned: always
      sample: cls-123
    place:
      description: Full name of the secret.
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
        - Each registry, with the layer or kind of source that it comes from.
        - A key that may be a credential is shown as a number.
      type: dict
      returned: always
      sample: {quay.io: hyperfleet}
    digest:
      description: Keyed digest of the docker config's meaning. See O(digest_key).
      type: str
      returned: when the target was read
      sample: hmac-sha256:0f4a2a6a0c1b2d3e4f5061728394a5b6
    warnings:
      description: What was repaired or needs attention, by registry.
      type: list
      elements: str
      returned: always
    conflicts:
      description: Registries that several layers have, with the layer that won and those that lost.
      type: list
      elements: dict
      returned: when layers were merged and had conflicts
    version:
      description: Number of the version that holds the docker config.
      type: str
      returned: when the secret exists
      sample: "4"
    replication_differs:
      description: Whether the replication of an existing secret differs from O(replication).
      type: bool
      returned: when it differs
    operations:
      description: Calls that changed something, retries and failures, as entries of a structured log.
      type: list
      elements: dict
      returned: always
    retries:
      description: How many calls were retried.
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
  description: The failed targets again, each with its id, place, kind and message.
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
