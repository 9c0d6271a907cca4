#!/usr/bin/python
# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: pull_secret_info
short_description: List stored and placed pull secrets
version_added: 0.1.0
description:
  - Lists what Secret Manager and the management clusters hold for one cluster or thousands, and what differs.
    It writes nothing and returns no value of a docker config.
  - For the secret in Secret Manager it returns the owner, and each version with number, state, creation time
    and keyed digest. For the Secret in the management cluster it returns the owner, the version that the Secret
    names, the digest, and whether it is immutable.
  - These are drift. The Secret in the management cluster differs from the newest enabled version, a secret is
    missing, it has no enabled version, it belongs to somebody else, or the Secret has the annotation
    C(kubectl.kubernetes.io/last-applied-configuration), which may hold an old pull secret. Labels, other
    annotations and replication are not compared.
  - The value of a secret that belongs to somebody else is not used, and in Secret Manager not read.
  - A target that fails does not end the others. Drift is no failure.
  - A place that cannot be read fails its target. What the other place holds is returned all the same.
  - Quota of Secret Manager. A project with three targets or more is listed once, then each target takes one
    ListSecretVersions. Google allows 600 of such reads a minute and project, so that with more than 300 targets
    the module makes 500 a minute. With O(digests=newest) each target takes one AccessSecretVersion, of which
    Google allows 90,000.
  - Secret Manager's lists may be minutes old. A version that was added a moment ago may be missing, so that the
    Secret in the management cluster names a newer one.
requirements:
  - google-cloud-secret-manager
  - google-crc32c
  - kubernetes
extends_documentation_fragment:
  - hyperfleet.pull_secret.attributes
  - hyperfleet.pull_secret.run
  - hyperfleet.pull_secret.targets
  - hyperfleet.pull_secret.cluster.info
attributes:
  diff_mode:
    support: none
    details:
      - It changes nothing.
options:
  digests:
    description:
      - Of which versions the docker config is read, for a digest.
      - V(newest) reads the newest enabled version, V(all) every enabled one, V(none) no version.
      - With V(none) drift is found by the number that the Secret in the management cluster names.
    type: str
    choices: [newest, all, none]
    default: newest
  compare_source:
    description: Whether the docker config of O(source) or O(layers) is read and compared with the newest version.
    type: bool
    default: false
  unlisted:
    description:
      - Whether secrets are listed that carry the labels of this collection and belong to no target.
      - They are looked for in the projects and management clusters of the targets, in O(projects) and in
        O(namespaces).
      - Removing a cluster from a list removes nothing. This option finds what is left. To remove it, run
        provision with the cluster in the list again and O(state=absent).
      - Listing the Secrets of all namespaces of a management cluster needs a ClusterRole. Without it, the
        namespaces of the targets and O(namespaces) are listed.
    type: bool
    default: false
  projects:
    description: More projects to look through with O(unlisted), such as one whose last cluster has left the list.
    type: list
    elements: str
    default: []
  namespaces:
    description: More namespaces to look through with O(unlisted), where nobody may list all.
    type: list
    elements: str
    default: []
  show_table:
    description:
      - Whether a table is printed.
      - It also lists the versions of a single target. With O(digests=all) it lists those of up to 40 targets.
    type: bool
    default: false
seealso:
  - plugin: hyperfleet.pull_secret.info_targets
    plugin_type: filter
author:
  - HyperFleet contributors (@openshift-hyperfleet)
"""

EXAMPLES = r"""
- name: List what there is for the clusters of a list
  hyperfleet.pull_secret.pull_secret_info:
    targets: "{{ clusters | hyperfleet.pull_secret.info_targets }}"
    show_table: true
  register: found

- name: Fail if a cluster has drifted
  ansible.builtin.assert:
    that: found.targets | rejectattr('in_sync') | length == 0

- name: List every version of one cluster's secret with its digest, to choose one to restore
  hyperfleet.pull_secret.pull_secret_info:
    cluster_id: cls-123
    project: customer-prod-12345
    namespace: clusters-cls-123
    digests: all

- name: Find the secrets of clusters that are no longer in the list
  hyperfleet.pull_secret.pull_secret_info:
    targets: "{{ clusters | hyperfleet.pull_secret.info_targets }}"
    digests: none
    unlisted: true
    projects:
      - customer-dev-67890
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
      description: Full name of the secret in Secret Manager.
      type: str
      returned: always
      sample: projects/customer-prod-12345/secrets/hyperfleet-cls-123-pull-secret
    changed:
      description: Always false.
      type: bool
      returned: always
    in_sync:
      description: Whether there is no drift.
      type: bool
      returned: when the target has not failed
    drift:
      description: What differs, in sentences. Empty where nothing does.
      type: list
      elements: str
      returned: when the target has not failed
      sample: [namespaces/clusters-cls-123/secrets/cls-123-pull-secret does not exist]
    secret_manager:
      description: The secret in Secret Manager.
      type: dict
      returned: unless the target's options are wrong
      contains:
        place:
          description: Full name of the secret.
          type: str
          returned: always
        exists:
          description: Whether it is there.
          type: bool
          returned: when it could be read
        owner:
          description: Id of the cluster that its labels name, or the other manager that they name.
          type: str
          returned: when it exists
        foreign:
          description: Whether it belongs to somebody else than the target's cluster.
          type: bool
          returned: when it exists
        created:
          description: When it was created.
          type: str
          returned: when it exists
        newest:
          description: Number of the newest enabled version.
          type: str
          returned: when it exists
        digest:
          description: Keyed digest of the newest enabled version. See O(digest_key).
          type: str
          returned: when it exists
        versions:
          description: All versions, newest first.
          type: list
          elements: dict
          returned: when it exists
          sample:
            - version: "2"
              state: enabled
              created: "2026-01-02T03:04:05Z"
              digest: hmac-sha256:0f4a2a6a0c1b2d3e4f5061728394a5b6
        failed:
          description: Whether it could not be read. Then C(kind) and C(msg) say why.
          type: bool
          returned: when it could not be read
    management_secret:
      description: The Secret in the management cluster.
      type: dict
      returned: unless the target's options are wrong
      contains:
        place:
          description: Full name of the Secret.
          type: str
          returned: always
        exists:
          description: Whether it is there.
          type: bool
          returned: when it could be read
        owner:
          description: Id of the cluster that its labels name, or the other manager that they name.
          type: str
          returned: when it exists
        foreign:
          description: Whether it belongs to somebody else than the target's cluster.
          type: bool
          returned: when it exists
        created:
          description: When it was created.
          type: str
          returned: when it exists
        version:
          description: Number of the version that it names as its content.
          type: str
          returned: when it exists
        digest:
          description: Keyed digest of its docker config.
          type: str
          returned: when it exists
        immutable:
          description: Whether it is immutable.
          type: bool
          returned: when it exists
        failed:
          description: Whether it could not be read. Then C(kind) and C(msg) say why.
          type: bool
          returned: when it could not be read
    source:
      description: >-
        The docker config of the target's source, with its C(digest), or with C(failed), C(kind) and C(msg).
      type: dict
      returned: with O(compare_source)
    warnings:
      description: What should be looked at in the source.
      type: list
      elements: str
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
unlisted:
  description: Secrets that carry the labels of this collection and belong to no target.
  returned: with O(unlisted)
  type: list
  elements: dict
  contains:
    kind:
      description: Where it is, C(secret_manager) or C(management_secret).
      type: str
      returned: always
    place:
      description: Its full name.
      type: str
      returned: always
    cluster_id:
      description: Id of the cluster that its labels name.
      type: str
      returned: always
    created:
      description: When it was created.
      type: str
      returned: always
unlisted_failed:
  description: Which places could not be listed, and why. The task has failed then.
  returned: with O(unlisted)
  type: list
  elements: str
failed_targets:
  description: The failed ones again, with their id, place, kind and message.
  returned: always
  type: list
  elements: dict
summary:
  description: Counts of total, changed and failed targets.
  returned: always
  type: dict
  sample: {total: 1000, changed: 0, failed: 1}
"""

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import pull_secret_info
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks.entry import run_with


def main() -> None:
    """Run the module."""
    run_with(pull_secret_info.target_options(), pull_secret_info.run)


if __name__ == "__main__":
    main()
