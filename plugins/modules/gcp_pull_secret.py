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
  - Refuses a secret that belongs to somebody else, and adds one version even when two runs meet.
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
options:
  id: &id
    description:
      - What results call the target. The default is O(cluster_id), else O(secret).
    type: str
  state: &state
    description:
      - Whether the secret is there. The default is V(present).
      - With V(absent), a secret that is labelled as a cluster's is deleted only where O(cluster_id) names
        that cluster.
      - With V(absent), version 1 is asked for where the metadata show no secret, since metadata may be old.
        If the version is there, the task waits for the metadata.
    type: str
    choices: [present, absent]
  project: &project
    description: Id or number of the Google Cloud project. Every target needs one.
    type: str
  secret: &secret
    description: Id of the secret. The default is C(hyperfleet-{cluster_id}-pull-secret).
    type: str
  cluster_id: &cluster_id
    description: Id of the cluster, used in names and labels. Lower case letters, digits and dashes.
    type: str
  cluster_name: &cluster_name
    description: Name of the cluster, for the label C(cluster-name).
    type: str
  labels: &labels
    description:
      - Labels beside those that the collection sets. Labels that others have set are kept.
      - One that the collection sets, such as C(managed-by) or C(cluster-id), is refused with any other value.
      - A target's labels are added to the task's.
      - A value is a string, a number or a boolean, which is written as V(true) or V(false). Null, a list or a
        mapping is an error.
    type: dict
  annotations: &annotations
    description:
      - Annotations, likewise.
      - The collection's own, C(hyperfleet-adding) and C(hyperfleet-restoring), are refused.
    type: dict
  adopt: &adopt
    description:
      - Take over a secret that is there and is not labelled as this cluster's. Without it such a secret
        is refused.
      - With O(state=absent) such a secret is refused in any case. To delete it, take it over first, with
        O(state=present).
      - The default is V(false).
    type: bool
  replication: &replication
    description:
      - How a new secret is replicated, V(automatic) by Google or V(user_managed) in O(locations). It
        cannot be changed later.
      - A secret that is there and is replicated otherwise, or with other keys, is left as it is. Where this
        option or O(kms_key) is given, the target then has a warning that names both.
      - The default for a new secret is V(automatic).
    type: str
    choices: [automatic, user_managed]
  locations: &locations
    description: Locations of a V(user_managed) secret, such as V(europe-west1).
    type: list
    elements: str
  kms_key: &kms_key
    description: Full name of the Cloud KMS key that encrypts an V(automatic) secret.
    type: str
  location_kms_keys: &location_kms_keys
    description: Full names of the Cloud KMS keys of a V(user_managed) secret, by location.
    type: dict
  retention: &retention
    description: What becomes of older versions. Without it they stay as they are.
    type: dict
    suboptions:
      keep:
        description:
          - How many of the newest enabled versions stay as they are. From 1 to 2147483647.
          - With 1, of two runs that meet, the newer one disables the version of the older one. If the older
            one has not read it yet, it fails. Nothing is lost, since the newer version counts.
        type: int
        required: true
      disable:
        description: Whether older enabled versions are disabled.
        type: bool
        default: true
      destroy_after:
        description:
          - Seconds after which a disabled version is destroyed, counted from the creation of the
            version that followed it. From 0 to 315360000, which is ten years.
          - Without it nothing is destroyed.
        type: float
  restore_version: &restore_version
    description:
      - Number of an older version, whose docker config becomes the newest version again. Takes the
        place of O(source).
      - A disabled version is enabled for the time of the read. If the run is killed meanwhile, the
        annotation C(hyperfleet-restoring) names that version, and the next run disables it.
      - Check mode enables nothing, so it fails for a disabled version.
      - The new version has the old one's meaning, written as this module writes every docker config.
    type: str
  impersonate_service_account: &impersonate_service_account
    description: Address of a service account to act as, if not the one of O(gcp.impersonate_service_account).
    type: str
  source: &source
    description:
      - Where the docker config is read from. Exactly one place, and no place's content passes through
        Ansible's variables.
      - Instead of O(source), O(layers) merges several.
    type: dict
    suboptions: &places
      inline:
        description:
          - The docker config itself, as a string or a mapping. For drop-in use; prefer a reference.
          - Needs a pipelined connection, so that it is never written to a temporary file.
        type: raw
      file:
        description: Path of a file on the machine that runs the task.
        type: path
      env:
        description: Name of an environment variable of the task's process.
        type: str
      kubernetes:
        description: A key of a Kubernetes Secret.
        type: dict
        suboptions:
          namespace:
            description: Namespace of the Secret.
            type: str
            required: true
          name:
            description: Name of the Secret.
            type: str
            required: true
          key:
            description: Key of the Secret's data.
            type: str
            default: .dockerconfigjson
          context:
            description: Context of the kubeconfig, if not the one of O(kubernetes.context).
            type: str
          kubeconfig:
            description: Path of a kubeconfig, if not the one of O(kubernetes.kubeconfig).
            type: path
      gcp:
        description: A version of a secret in Google Secret Manager.
        type: dict
        suboptions:
          project:
            description: Id or number of the project.
            type: str
            required: true
          secret:
            description: Id of the secret.
            type: str
            required: true
          version:
            description: Number of a version, or V(latest) for the newest one that is enabled.
            type: str
            default: latest
          impersonate_service_account:
            description: Address of a service account to read as.
            type: str
      hyperfleet:
        description: The pull secret in a cluster's spec in the HyperFleet API.
        type: dict
        suboptions:
          cluster_id:
            description: Id of the cluster.
            type: str
            required: true
      field:
        description:
          - Dotted path of the docker config inside the JSON or YAML document that the place holds,
            such as V(spec.pullSecret.data) in a cluster's file.
        type: str
  layers: &layers
    description:
      - Docker configs to be merged, in order. The first is the original, the others are additional.
      - An empty one adds nothing, and is named in the warnings of the target. The result may not be empty.
    type: list
    elements: dict
    suboptions:
      name:
        description: Name of the layer, as results and O(policy) call it.
        type: str
        required: true
      source:
        description: Where the layer is read from, as O(source).
        type: dict
        required: true
        suboptions: *places
      optional:
        description:
          - Whether the others are merged when this layer is missing or invalid. It is then named in the
            target's warnings.
        type: bool
        default: false
  precedence: &precedence
    description:
      - Which layer wins where several have a registry, V(additional) for the later one, V(original) for
        the earlier one.
      - The default is V(additional).
    type: str
    choices: [additional, original]
  policy: &policy
    description: Exceptions from O(precedence), a mapping of registry to the name of the layer that wins.
    type: dict
  drop: &drop
    description:
      - Registries that are left out of the result, merged or not.
      - V(cloud.openshift.com) of the original may not get lost unless it is named here.
    type: list
    elements: str
  targets:
    suboptions:
      id: *id
      state: *state
      project: *project
      secret: *secret
      cluster_id: *cluster_id
      cluster_name: *cluster_name
      labels: *labels
      annotations: *annotations
      adopt: *adopt
      replication: *replication
      locations: *locations
      kms_key: *kms_key
      location_kms_keys: *location_kms_keys
      retention: *retention
      restore_version: *restore_version
      impersonate_service_account: *impersonate_service_account
      source: *source
      layers: *layers
      precedence: *precedence
      policy: *policy
      drop: *drop
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
