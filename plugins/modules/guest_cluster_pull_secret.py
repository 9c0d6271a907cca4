#!/usr/bin/python
# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: guest_cluster_pull_secret
short_description: Deliver a pull secret to Cluster API's guest clusters
version_added: 0.1.0
description:
  - Delivers one pull secret to every guest cluster of a host cluster that runs Cluster API, in one task for any
    number of guests. The task finds the guests by the host's namespaces and the Cluster objects in them. The host
    is the cluster of O(kubernetes).
  - With O(delivery=cluster_resource_set), it keeps a Secret with the manifest of the pull secret in the namespace
    of each Cluster, and a ClusterResourceSet that selects the Cluster by its name. Cluster API then creates the
    pull secret in the guest, and updates it after each rotation.
  - With O(delivery=direct), it writes the pull secret in each guest itself, with the kubeconfig that Cluster API
    keeps on the host. It then also repairs what others changed there, removes it from namespaces and guests that
    left, and can name it in service accounts.
  - A namespace with one Cluster has a ClusterResourceSet named O(set_name). Where a namespace has several
    Clusters, the Cluster's name follows.
  - A guest that fails does not stop the others.
  - Reads Cluster API's objects as v1beta2, or as v1beta1 if the host does not serve v1beta2, and writes what it
    read.
  - An entry of the docker config that the source cannot deliver, a list that fails and a wrong option fail the
    task before anything is written.
requirements:
  - kubernetes
extends_documentation_fragment:
  - hyperfleet.pull_secret.attributes
  - hyperfleet.pull_secret.run
  - hyperfleet.pull_secret.cluster.document
options:
  state:
    description:
      - With V(present), all selected guests get the pull secret.
      - With V(absent), the objects of this delivery are removed from the host, and with O(delivery=direct) first
        from the guests. With O(namespace_selector) or O(namespace_pattern), only those of the selected namespaces.
        O(prune_limit) does not apply.
    type: str
    choices: [present, absent]
    default: present
  namespace_selector:
    description:
      - Label selector of the host's namespaces, such as C(capi-pull-secret=true).
      - With O(state=present), this option or O(namespace_pattern) is required. With both, both must fit.
    type: str
  namespace_pattern:
    description: Regular expression that the whole name of a host's namespace must match.
    type: str
  delivery:
    description:
      - V(cluster_resource_set) lets Cluster API write in the guests. It repairs nothing there, but see
        O(report_drift).
      - V(direct) writes in the guests with their kubeconfigs, the Secrets C(CLUSTER-kubeconfig) of the host.
      - To change it, first remove the delivery with O(state=absent) and the old value.
    type: str
    choices: [cluster_resource_set, direct]
    default: cluster_resource_set
  set_name:
    description:
      - Name of the ClusterResourceSets and their Secrets, and of this delivery. A task removes only objects of
        the delivery of this name, so two tasks with different selectors need different names.
      - To change the name, first remove the delivery of the old name with O(state=absent). Otherwise both deliver
        to the same guests.
      - At most 63 lower case letters, digits and dashes.
    type: str
    default: crs-pull-secret
  secret_name:
    description: Name of the pull secret in the guests.
    type: str
    default: pull-secret
  secret_namespaces:
    description: Namespaces of the guests that get the pull secret.
    type: list
    elements: str
    default: [kube-system]
  secret_namespace_selector:
    description:
      - Label selector of more namespaces of the guests. Needs O(delivery=direct).
      - If it selects no namespace of a guest, nothing is removed from that guest.
    type: str
  all_secret_namespaces:
    description: Whether every namespace of the guests gets the pull secret. Needs O(delivery=direct).
    type: bool
    default: false
  service_accounts:
    description:
      - Service accounts of these namespaces whose C(imagePullSecrets) get the pull secret's name, such as
        V(default). Other entries stay. Needs O(delivery=direct).
      - A service account that does not exist is a warning, and a later task adds the name to it. An account that is
        no longer listed loses it.
    type: list
    elements: str
  objects:
    description:
      - Files with Kubernetes manifests of further objects that each guest gets, besides the pull secret. The files
        are on the machine that runs the task. A file may have several YAML documents, each with one object. In a
        rulebook, write absolute paths.
      - C({{ namespace }}) and C({{ cluster }}) in a manifest stand for the host's namespace and the name of the
        Cluster.
      - In the C(data) of a Secret, C(valueFrom.secretKeyRef) with C(namespace), C(name) and C(key) in place of a
        value copies a value of a Secret of the host, which is read in every task.
      - With O(delivery=direct), they are applied as C(kubectl apply --server-side --force-conflicts) does, and
        removed when their manifest is gone. Only a Namespace and a CustomResourceDefinition stay, with a warning.
        Without this option, a guest keeps the objects that it has; an empty list deletes them.
      - With O(delivery=cluster_resource_set), an object whose manifest is gone stays in the guests, with a warning.
    type: list
    elements: path
  report_drift:
    description:
      - Whether the task looks into each delivered guest whose kubeconfig it may read, and warns of what differs
        there. A guest that does not answer costs 5 seconds. Has no effect with O(delivery=direct).
    type: bool
    default: true
  label_clusters:
    description:
      - Whether to set the label C(cluster.x-k8s.io/cluster-name) on Clusters without it. Cluster API does not
        set it, and a ClusterResourceSet selects a Cluster by it.
      - Otherwise a Cluster without the label fails. With O(delivery=direct), no label is needed.
    type: bool
    default: false
  adopt:
    description:
      - Take over existing objects of these names without this collection's labels, such as those of KubeNSync.
        Without this option the guest fails and nothing is written for it.
      - From then on they are this collection's, and a later task may remove them. An object that also delivers
        something else, or a ClusterResourceSet with another selector or strategy, is refused all the same.
    type: bool
    default: false
  prune:
    description:
      - Whether to remove the objects of guests that left and of namespaces that are no longer selected.
      - With O(delivery=direct) also those in namespaces of a guest that are no longer selected. If one namespace of
        a guest fails, nothing is removed from that guest.
    type: bool
    default: true
  prune_limit:
    description:
      - Largest share of the delivery's guests that one task removes, in percent, but always at least one guest.
        If more would be removed, nothing is removed, and the task fails after the delivery to the others.
      - If no namespace is selected, or the selected namespaces have no Cluster, nothing is removed at all.
      - With O(delivery=direct), it is also the largest share of the guests that lose some of O(objects). If more
        would lose one, none is deleted.
      - Namespaces of a guest do not count.
      - V(100%) confirms any number.
    type: str
    default: 10%
  show_table:
    description: Whether a table of the guests is printed.
    type: bool
    default: false
seealso:
  - module: hyperfleet.pull_secret.hosted_cluster_pull_secret
author:
  - HyperFleet contributors (@openshift-hyperfleet)
"""

EXAMPLES = r"""
- name: Deliver the host's pull secret to all guests whose namespaces have the label
  hyperfleet.pull_secret.guest_cluster_pull_secret:
    source:
      kubernetes: {namespace: kube-system, name: source-pull-secret}
    namespace_selector: capi-pull-secret=true
    label_clusters: true

- name: Remove the delivery from the host
  hyperfleet.pull_secret.guest_cluster_pull_secret:
    state: absent

- name: Deliver further objects, such as a Secret whose values the host has
  hyperfleet.pull_secret.guest_cluster_pull_secret:
    source:
      kubernetes: {namespace: kube-system, name: source-pull-secret}
    namespace_selector: capi-pull-secret=true
    objects: [guest-objects.yml]

- name: Keep it right in the guests themselves, also for the default service account of a team's namespaces
  hyperfleet.pull_secret.guest_cluster_pull_secret:
    source:
      kubernetes: {namespace: kube-system, name: source-pull-secret}
    namespace_selector: capi-pull-secret=true
    delivery: direct
    secret_namespace_selector: team=example
    service_accounts: [default]
"""

RETURN = r"""
targets:
  description: One entry per guest, with the result of this task.
  returned: if the task could read the source and the host
  type: list
  elements: dict
  contains:
    id:
      description: The guest, as NAMESPACE/CLUSTER on the host.
      type: str
      returned: always
      sample: capi-cluster-1/cluster-1
    state:
      description:
        - C(delivered) if the guest has the current pull secret, C(repaired) if it had changed there since the last
          task, C(waiting) if Cluster API has not applied it yet, the guest's control plane is not ready, or an
          object that is removed waits for its finalizers,
          C(pruned) if it was removed, C(skipped) if the Cluster is being deleted.
      type: str
      returned: on success
      sample: delivered
    reason:
      description: Why the objects were removed.
      type: str
      returned: if they were
      sample: its namespace is not selected
    place:
      description: Full name of the Secret on the host; with O(delivery=direct), of the ConfigMap.
      type: str
      returned: always
      sample: namespaces/capi-cluster-1/secrets/crs-pull-secret
    changed:
      description: Whether the guest's objects changed, on the host or in the guest.
      type: bool
      returned: always
    actions:
      description: What was done, in order.
      type: list
      elements: str
      returned: always
      sample: [created secret, created clusterresourceset]
    registries:
      description: Registries of the pull secret, with the layer that each comes from.
      type: dict
      returned: always
      sample: {registry.example.com: kubernetes}
    digest:
      description: Keyed digest of the pull secret.
      type: str
      returned: on success
    warnings:
      description: What a person should know about this guest.
      type: list
      elements: str
      returned: always
    kind:
      description: Kind of the failure.
      type: str
      returned: on failure
      sample: configuration
    msg:
      description: What went wrong, where, and what to do.
      type: str
      returned: on failure
    operations:
      description: The operations on this guest, with times and retries.
      type: list
      elements: dict
      returned: always
    retries:
      description: Number of retried requests.
      type: int
      returned: always
notes:
  description:
    - What a person should know about the run as a whole. Warnings about the docker config, selected namespaces
      without a Cluster, and namespaces that are being deleted.
  returned: if the task could read the source and the host
  type: list
  elements: str
  sample: [namespace capi-cluster-9 is selected and has no Cluster]
refused:
  description: What the task refused to remove, such as from more guests than O(prune_limit) allows.
  returned: if it refused something
  type: list
  elements: str
conflicts:
  description: Registries that several layers have, with the layer that wins.
  returned: if there are any
  type: list
  elements: str
failed_targets:
  description: The failed guests again, with their id, place, kind and message.
  returned: if the task could read the source and the host
  type: list
  elements: dict
summary:
  description: Counts of total, changed and failed guests.
  returned: if the task could read the source and the host
  type: dict
  sample: {total: 200, changed: 1, failed: 0}
"""

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import guest_cluster_pull_secret
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks.entry import run_with


def main() -> None:
    """Run the module."""
    run_with(guest_cluster_pull_secret.target_options(), guest_cluster_pull_secret.run)


if __name__ == "__main__":
    main()
