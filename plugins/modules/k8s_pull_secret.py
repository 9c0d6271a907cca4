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
  - Makes a Secret of type C(kubernetes.io/dockerconfigjson) hold a docker config, for one cluster or
    thousands in one task.
  - Compares meaning, writes only the difference and only if nobody else was faster, keeps others'
    labels and annotations, and
    refuses a Secret that belongs to somebody else.
  - A Secret of another type, or an immutable one that has to change, is replaced.
  - A Secret that is made of a version of a secret in Secret Manager names that version by its number, in
    the annotation C(hyperfleet.io/gcp-secret-version). An older version of the same secret does not replace
    it. It stays, drift in the Secret is repaired with it, and the target's warnings say so. A version that
    is disabled, destroyed or gone does not stay.
  - Spell O(source.gcp.project) in the same way in all runs, always as the project's id or always as its
    number. With the other spelling the secret counts as another one, and an older version can replace a
    newer one.
requirements:
  - kubernetes
extends_documentation_fragment:
  - hyperfleet.pull_secret.attributes
  - hyperfleet.pull_secret.run
  - hyperfleet.pull_secret.targets
options:
  id: &id
    description:
      - What results call the target. The default is O(cluster_id), else O(name).
    type: str
  state: &state
    description:
      - Whether the Secret is there. The default is V(present).
      - With V(absent), a secret that is labelled as a cluster's is deleted only where O(cluster_id) names
        that cluster.
    type: str
    choices: [present, absent]
  namespace: &namespace
    description: Namespace of the Secret. Every target needs one.
    type: str
  name: &name
    description: Name of the Secret. The default is C({cluster_id}-pull-secret).
    type: str
  cluster_id: &cluster_id
    description: Id of the cluster, used in names and labels. Lower case letters, digits and dashes.
    type: str
  cluster_name: &cluster_name
    description: Name of the cluster, for the label C(cluster-name).
    type: str
  gcp_secret_path: &gcp_secret_path
    description:
      - Value of the annotation C(hyperfleet.io/gcp-secret-path), C(projects/P/secrets/S) with or without
        C(/versions/V). The default is the newest version of O(source.gcp).
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
      - The collection's own, C(hyperfleet.io/created-at), C(hyperfleet.io/created-by),
        C(hyperfleet.io/gcp-secret-path) and C(hyperfleet.io/gcp-secret-version), are refused.
    type: dict
  adopt: &adopt
    description:
      - Take over a secret that is there and is not labelled as this cluster's. Without it such a secret
        is refused.
      - With O(state=absent) such a secret is refused in any case. To delete it, take it over first, with
        O(state=present).
      - The default is V(false).
    type: bool
  immutable: &immutable
    description: Whether the Secret is immutable. Without it an existing Secret stays as it is.
    type: bool
  service_accounts: &service_accounts
    description:
      - Service accounts of the namespace that pull with the Secret. It is added to their
        C(imagePullSecrets), or with
        O(state=absent) taken out of them.
    type: list
    elements: str
  context: &context
    description: Context of the kubeconfig, if not the one of O(kubernetes.context).
    type: str
  kubeconfig: &kubeconfig
    description: Path of a kubeconfig, if not the one of O(kubernetes.kubeconfig).
    type: path
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
      namespace: *namespace
      name: *name
      cluster_id: *cluster_id
      cluster_name: *cluster_name
      gcp_secret_path: *gcp_secret_path
      labels: *labels
      annotations: *annotations
      adopt: *adopt
      immutable: *immutable
      service_accounts: *service_accounts
      context: *context
      kubeconfig: *kubeconfig
      source: *source
      layers: *layers
      precedence: *precedence
      policy: *policy
      drop: *drop
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

- name: Remove the Secret of a cluster that is gone
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
      description: What the target is called.
      type: str
      returned: always
      sample: cls-123
    place:
      description: Full name of what is written.
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
        - Each registry and the layer or kind of source that it came from.
        - A key that may be a credential is not shown. Its number stands for it.
      type: dict
      returned: always
      sample: {quay.io: hyperfleet}
    version:
      description:
        - Number of the version of O(source.gcp) that the Secret holds. It is newer than the one that was
          asked for where a newer one stays.
      type: str
      returned: when the source is a version of a secret in Secret Manager
      sample: "4"
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

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import k8s_pull_secret
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks.entry import run_module


def main() -> None:
    """Run the module."""
    run_module(k8s_pull_secret.target_options, k8s_pull_secret.run)


if __name__ == "__main__":
    main()
