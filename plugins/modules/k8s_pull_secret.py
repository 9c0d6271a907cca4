#!/usr/bin/python
# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: k8s_pull_secret
short_description: Keep pull secrets in Kubernetes
version_added: 0.1.0
description:
  - Stores docker configs in Secrets of type C(kubernetes.io/dockerconfigjson), for one cluster or thousands
    in one task.
  - Compares the meaning of docker configs and writes only differences. A concurrent change by others is never
    overwritten.
  - Keeps labels and annotations that others have set. Refuses a Secret that belongs to another owner.
  - Removes the annotation C(kubectl.kubernetes.io/last-applied-configuration), in which C(kubectl apply)
    keeps a copy of the pull secret.
  - Replaces a Secret of another type, and an immutable Secret that has to change.
  - If the source is Secret Manager, the annotation C(hyperfleet.io/gcp-secret-version) holds the number of
    the version.
  - An older version of the same secret does not replace a newer one. The newer version stays, drift is
    repaired with it, and a warning says so. A version that is disabled, destroyed or deleted is replaced.
  - Write O(source.gcp.project) in the same way in all runs, either as the project's id or as its number.
    Otherwise the secret counts as another one, and an older version can replace a newer one.
requirements:
  - kubernetes
extends_documentation_fragment:
  - hyperfleet.pull_secret.attributes
  - hyperfleet.pull_secret.run
  - hyperfleet.pull_secret.targets
  - hyperfleet.pull_secret.cluster.place
author:
  - HyperFleet contributors (@openshift-hyperfleet)
"""

EXAMPLES = r"""
- name: Give the management cluster what Secret Manager holds
  hyperfleet.pull_secret.k8s_pull_secret:
    cluster_id: cls-123
    cluster_name: production-cluster
    namespace: clusters-cls-123
    source:
      gcp:
        project: customer-prod-12345
        secret: hyperfleet-cls-123-pull-secret

- name: Two management clusters in one task
  hyperfleet.pull_secret.k8s_pull_secret:
    targets:
      - cluster_id: cls-123
        namespace: clusters-cls-123
        context: mgmt-1
        source:
          gcp:
            project: customer-prod-12345
            secret: hyperfleet-cls-123-pull-secret
      - cluster_id: cls-456
        namespace: clusters-cls-456
        context: mgmt-2
        source:
          file: /etc/pull-secrets/cls-456.json

- name: Merge two docker configs for a namespace and let its pods pull with them
  hyperfleet.pull_secret.k8s_pull_secret:
    name: team-pull-secret
    namespace: team-a
    service_accounts:
      - default
    layers:
      - name: platform
        source:
          file: /etc/pull-secrets/platform.json
      - name: team
        source:
          env: TEAM_PULL_SECRET

- name: Remove the Secret of a deleted cluster
  hyperfleet.pull_secret.k8s_pull_secret:
    cluster_id: cls-456
    namespace: clusters-cls-456
    context: mgmt-2
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
      description: Full name of the Secret.
      type: str
      returned: always
      sample: namespaces/clusters-cls-123/secrets/cls-123-pull-secret
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
    version:
      description:
        - Number of the version of O(source.gcp) that the Secret holds. It can be newer than the requested
          version, because a newer version is not replaced.
      type: str
      returned: when the source is a version of a secret in Secret Manager
      sample: "4"
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

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import k8s_pull_secret
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks.entry import run_module


def main() -> None:
    """Run the module."""
    run_module(k8s_pull_secret.target_options, k8s_pull_secret.run)


if __name__ == "__main__":
    main()
