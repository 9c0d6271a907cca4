#!/usr/bin/python
# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: hosted_cluster_pull_secret
short_description: Keep the global pull secret of hosted clusters and their nodes
version_added: 0.1.0
description:
  - Merges two pull secrets, for one hosted cluster or thousands in one task. The original is in the
    management cluster. The tenant's C(additional-pull-secret) is in the hosted cluster.
  - The result is the Secret C(global-pull-secret) in the hosted cluster. The DaemonSet
    C(global-pull-secret-syncer) copies it to every node and restarts the kubelets, some at a time. Its
    ServiceAccount may read that one Secret and little else.
  - Nothing is deployed without an additional secret. After it is deleted, the nodes get the original back
    before anything is removed.
  - An invalid additional secret does not stop the rotation of the original. Its previous entries stay. An
    Event and the annotation C(hyperfleet.io/pull-secret-problem) tell its owner which registry breaks which
    rule.
  - Every run reads the current state, writes only differences and repairs drift. A concurrent change by
    others is never overwritten.
  - Keeps labels and annotations that others have set. Refuses objects that belong to another owner.
requirements:
  - kubernetes
  - PyYAML
extends_documentation_fragment:
  - hyperfleet.pull_secret.attributes
  - hyperfleet.pull_secret.run
  - hyperfleet.pull_secret.targets
options:
  id: &id
    description:
      - Name of the target in results. The default is O(cluster_id).
    type: str
  state: &state
    description:
      - With V(present), the additional secret decides what is deployed. The default is V(present).
      - With V(absent), the nodes get the original back and everything is removed, also if an additional
        secret exists. If the original is deleted or unreadable, the nodes get its last entries.
    type: str
    choices: [present, absent]
  cluster_id: &cluster_id
    description:
      - Id of the cluster, used in labels. Lower case letters, digits and dashes. Every target needs one.
    type: str
  control_plane_namespace: &control_plane_namespace
    description:
      - Namespace of the hosted control plane in the management cluster. The HostedControlPlane there says
        which Secrets hold the original pull secret and the hosted cluster's kubeconfig.
    type: str
  hosted_control_plane: &hosted_control_plane
    description: Name of the HostedControlPlane. The default is the only one in the namespace.
    type: str
  original: &original
    description:
      - The Secret in the management cluster that holds the original pull secret. The default is the
        HostedControlPlane's C(spec.pullSecret).
    type: dict
    suboptions:
      namespace:
        description: Namespace of the Secret. The default is O(control_plane_namespace).
        type: str
      name:
        description: Name of the Secret.
        type: str
        required: true
      key:
        description: Key of the Secret's data. The default is V(.dockerconfigjson).
        type: str
  management_context: &management_context
    description: Context of the management cluster. The default is that of O(kubernetes.context).
    type: str
  management_kubeconfig: &management_kubeconfig
    description:
      - Path of the management cluster's kubeconfig. The default is that of O(kubernetes.kubeconfig). Without
        O(management_context), its current context is used.
    type: path
  hosted_context: &hosted_context
    description: Context of the hosted cluster, in O(hosted_kubeconfig) or in the task's own kubeconfig.
    type: str
  hosted_kubeconfig: &hosted_kubeconfig
    description:
      - Path of the hosted cluster's kubeconfig on the machine that runs the task.
      - Without this option and O(hosted_context), the kubeconfig is read from a Secret in the management
        cluster.
    type: path
  hosted_kubeconfig_secret: &hosted_kubeconfig_secret
    description:
      - The Secret in the management cluster that holds the hosted cluster's kubeconfig. The default is the
        HostedControlPlane's C(status.kubeConfig).
      - The kubeconfig stays in memory and is written to no file. It may hold addresses, certificates and
        tokens, at most 1 MiB and 10,000 values.
      - Paths, exec plugins and auth providers are refused, because they would act on the machine that runs
        the task.
      - Link-local addresses and clouds' metadata services are refused, because they hand out credentials of
        that machine.
    type: dict
    suboptions:
      namespace:
        description: Namespace of the Secret. The default is O(control_plane_namespace).
        type: str
      name:
        description: Name of the Secret.
        type: str
        required: true
      key:
        description: Key of the Secret's data. The default is V(kubeconfig).
        type: str
  hosted_namespace: &hosted_namespace
    description:
      - Namespace of both secrets and the syncer in the hosted cluster. The default is V(kube-system).
    type: str
  precedence: &precedence
    description:
      - Which secret wins if both have a registry. The default is V(additional).
    type: str
    choices: [additional, original]
  policy: &policy
    description: Exceptions to O(precedence). A mapping from a registry to V(additional) or V(original).
    type: dict
  drop: &drop
    description:
      - Registries to leave out of the result.
      - The entries of these registries need not pass the rules.
      - The target fails if the original's V(cloud.openshift.com) would be lost, unless it is listed here.
    type: list
    elements: str
  when_additional_is_gone: &when_additional_is_gone
    description:
      - What to do after the additional secret is deleted.
      - With V(remove), the global secret becomes the original. Once every node has reported it, everything is
        removed. Until then the next runs continue. The default is V(remove).
      - With V(revert), the global secret becomes the original, and the syncer stays.
    type: str
    choices: [remove, revert]
  adopt: &adopt
    description:
      - Take over existing objects of these names that are not labelled as this cluster's. Without this option
        the target fails and nothing is written. Such objects are never deleted.
      - HyperShift's own controller manages objects of the same names. If it does, this module is not needed.
      - Entries that its syncer wrote to the nodes count as the nodes' own. They return when this module's
        entries are removed.
      - The default is V(false).
    type: bool
  syncer_image: &syncer_image
    description: Image of the syncer. Every target that is to be present needs one.
    type: str
  syncer_image_pull_secrets: &syncer_image_pull_secrets
    description: Secrets in O(hosted_namespace) for pulling the syncer's own image.
    type: list
    elements: str
  syncer_node_selector: &syncer_node_selector
    description:
      - Labels of the nodes that get the secret, such as
        C(hypershift.openshift.io/nodepool-globalps-enabled). The default is every node.
    type: dict
  syncer_tolerations: &syncer_tolerations
    description: Taints that the syncer's pods tolerate. The default is every taint.
    type: list
    elements: dict
    suboptions:
      key:
        description: Key of the taint.
        type: str
      operator:
        description: Whether the value is compared. Kubernetes' default is V(Equal), which needs a key.
        type: str
        choices: [Exists, Equal]
      value:
        description: Value of the taint. V(Exists) has none.
        type: str
      effect:
        description: Effect of the taint. Without it, every effect.
        type: str
        choices: [NoSchedule, PreferNoSchedule, NoExecute]
      toleration_seconds:
        description: Seconds for which V(NoExecute) is tolerated. Valid with that effect only. From 0 to
          2147483647.
        type: int
  syncer_priority_class: &syncer_priority_class
    description: Priority class of the syncer's pods, such as V(system-node-critical).
    type: str
  syncer_host_network: &syncer_host_network
    description:
      - Whether the pods use the node's network, in which the kubelet's health endpoint is reachable. The
        default is V(true). With V(false), O(healthz) must be V(none).
    type: bool
  syncer_selinux_type: &syncer_selinux_type
    description:
      - SELinux type of the syncer's pods. Nodes that enforce SELinux need V(spc_t). There, an ordinary
        container can write neither to the kubelet's directory nor to D-Bus.
    type: str
  syncer_resources: &syncer_resources
    description:
      - Requests and limits of the syncer's container. The default is requests of 5m CPU and 24Mi memory, and
        no limit. A request must not exceed its limit.
    type: dict
  max_restarting: &max_restarting
    description:
      - How many kubelets may restart at the same time. A number from 1 to 1024, or a share of the nodes such
        as V(10%). The default is V(10%).
      - A share is rounded down to a power of two and never exceeded. The number changes only when it is above
        the share or below a quarter of it, because each change replaces all syncer pods.
    type: str
  restart: &restart
    description:
      - Whether a kubelet is restarted when its pull secret changes. With V(never), it detects the change by
        itself within five minutes. The default is V(on_change).
    type: str
    choices: [on_change, never]
  health_window: &health_window
    description: Seconds that a kubelet must stay healthy after its restart. From 0 to 86400. The default is
      12.
    type: float
  healthz: &healthz
    description:
      - URL of the kubelet's health endpoint on the node's loopback. With V(none) it is not checked. The
        default is V(http://127.0.0.1:10248/healthz).
    type: str
  kubelet_unit: &kubelet_unit
    description: The kubelet's systemd unit. The default is V(kubelet.service).
    type: str
  kubelet_dir: &kubelet_dir
    description:
      - The kubelet's directory on the nodes. The path must not contain V(..) or colons.
      - The default is V(/var/lib/kubelet).
    type: path
  wait: &wait
    description:
      - Whether the run waits until every node has reported that it has the secret. The target fails if a node
        has not within O(rollout_timeout). The default is V(false), because the syncers continue by
        themselves.
    type: bool
  rollout_timeout: &rollout_timeout
    description:
      - Seconds to wait for the nodes, with O(wait) and before everything is removed. The default is 60. From
        0 to 2592000 (30 days).
      - Without O(wait), only the run that gives the nodes the original back waits for them. The next runs
        check whether they have it.
      - With 0, objects are removed at once, even if nodes do not have the original yet.
    type: float
  targets:
    suboptions:
      id: *id
      state: *state
      cluster_id: *cluster_id
      control_plane_namespace: *control_plane_namespace
      hosted_control_plane: *hosted_control_plane
      original: *original
      management_context: *management_context
      management_kubeconfig: *management_kubeconfig
      hosted_context: *hosted_context
      hosted_kubeconfig: *hosted_kubeconfig
      hosted_kubeconfig_secret: *hosted_kubeconfig_secret
      hosted_namespace: *hosted_namespace
      precedence: *precedence
      policy: *policy
      drop: *drop
      when_additional_is_gone: *when_additional_is_gone
      adopt: *adopt
      syncer_image: *syncer_image
      syncer_image_pull_secrets: *syncer_image_pull_secrets
      syncer_node_selector: *syncer_node_selector
      syncer_tolerations: *syncer_tolerations
      syncer_priority_class: *syncer_priority_class
      syncer_host_network: *syncer_host_network
      syncer_selinux_type: *syncer_selinux_type
      syncer_resources: *syncer_resources
      max_restarting: *max_restarting
      restart: *restart
      health_window: *health_window
      healthz: *healthz
      kubelet_unit: *kubelet_unit
      kubelet_dir: *kubelet_dir
      wait: *wait
      rollout_timeout: *rollout_timeout
author:
  - HyperFleet contributors (@openshift-hyperfleet)
"""

EXAMPLES = r"""
- name: Keep the global pull secret of a hosted cluster
  hyperfleet.pull_secret.hosted_cluster_pull_secret:
    cluster_id: cls-123
    control_plane_namespace: clusters-cls-123
    management_context: mgmt-1
    syncer_image: registry.example.com/hyperfleet/syncer:1.0.0

- name: Two hosted clusters in one task, the original winning in one of them
  hyperfleet.pull_secret.hosted_cluster_pull_secret:
    syncer_image: registry.example.com/hyperfleet/syncer:1.0.0
    targets:
      - cluster_id: cls-123
        control_plane_namespace: clusters-cls-123
        management_context: mgmt-1
      - cluster_id: cls-456
        control_plane_namespace: clusters-cls-456
        management_context: mgmt-2
        precedence: original

- name: Name the secrets where there is no HostedControlPlane, and wait for the nodes
  hyperfleet.pull_secret.hosted_cluster_pull_secret:
    cluster_id: cls-123
    original:
      namespace: pull-secrets
      name: cls-123-pull-secret
    hosted_kubeconfig: /etc/kubeconfigs/cls-123
    syncer_image: registry.example.com/hyperfleet/syncer:1.0.0
    wait: true
    rollout_timeout: 600
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
      description: Full name of the global secret.
      type: str
      returned: always
      sample: cls-123:namespaces/kube-system/secrets/global-pull-secret
    changed:
      description: Whether anything was changed, or would be in check mode.
      type: bool
      returned: always
    actions:
      description: What was done.
      type: list
      elements: str
      returned: always
      sample: [updated secret]
    additional:
      description:
        - Result for the additional secret. One of V(absent), V(empty), V(merged), V(kept) and V(invalid).
        - With V(merged), entries that probably do not work are in RV(targets[].warnings), and the additional secret
          has an Event C(PullSecretWarning).
        - With V(kept) it is invalid and its previous entries stay. With V(invalid) there were no previous
          entries.
      type: str
      returned: when the target did not fail and was not skipped
      sample: merged
    skipped:
      description: Why the hosted cluster was skipped. It or its namespace is being deleted.
      type: str
      returned: when it was skipped
    rollout:
      description:
        - Counts of nodes that have the secret, that have not reported, and that failed. Names the pending and
          the failed nodes, with the messages of their syncers.
      type: dict
      returned: when the syncer is deployed
      sample:
        nodes: 3
        in_sync: 2
        pending: 1
        pending_nodes: [node-3]
        failed: 0
        failed_nodes: {}
    registries:
      description:
        - Each registry, with the secret that it comes from.
        - A key that may be a credential is shown as a number.
      type: dict
      returned: always
      sample: {quay.io: original, registry.example.com: additional}
    conflicts:
      description: Registries that both secrets have, with the secret that won and the one that lost.
      type: list
      elements: dict
      returned: when there are any
    digest:
      description: Keyed digest of the docker config's meaning. See O(digest_key).
      type: str
      returned: when the global secret exists
      sample: hmac-sha256:0f4a2a6a0c1b2d3e4f5061728394a5b6
    warnings:
      description: What was repaired or needs attention, by registry or node.
      type: list
      elements: str
      returned: always
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

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import hosted_cluster_pull_secret
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks.entry import run_module


def main() -> None:
    """Run the module."""
    run_module(hosted_cluster_pull_secret.target_options, hosted_cluster_pull_secret.run)


if __name__ == "__main__":
    main()
