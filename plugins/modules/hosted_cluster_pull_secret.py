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
  - Merges the original pull secret of a hosted control plane, which lies in the management cluster, with the
    tenant's C(additional-pull-secret) in the hosted cluster, for one hosted cluster or thousands in one task.
  - The result is the Secret C(global-pull-secret) in the hosted cluster. The DaemonSet
    C(global-pull-secret-syncer), whose ServiceAccount may read that one Secret and little else, brings it
    to every node and restarts the kubelets, some at a time.
  - Nothing is deployed as long as there is no additional secret. When it is gone, the nodes get the
    original back before anything is removed.
  - An additional secret that is not valid does not stop the original's rotation. What it brought before
    stays, and its owner finds an Event and the annotation C(hyperfleet.io/pull-secret-problem) that name
    registry and rule.
  - Every run looks at what is there, writes only the difference and only if nobody else was faster,
    repairs drift, keeps others' labels and annotations, and refuses objects that belong to another owner.
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
      - What results call the target. The default is O(cluster_id).
    type: str
  state: &state
    description:
      - With V(present), what there should be follows from the additional secret. The default is V(present).
      - With V(absent), the nodes get the original back and everything is removed, whether or not there is an
        additional secret. An original that is gone or cannot be read is no obstacle. Then the nodes get its
        last entries.
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
      - The Secret in the management cluster that holds the original pull secret, if not the one that the
        HostedControlPlane's C(spec.pullSecret) names.
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
    description: Context of the management cluster, if not the one of O(kubernetes.context).
    type: str
  management_kubeconfig: &management_kubeconfig
    description:
      - Path of the management cluster's kubeconfig, if not the one of O(kubernetes.kubeconfig). Without
        O(management_context) its current context counts.
    type: path
  hosted_context: &hosted_context
    description: Context of the hosted cluster, in O(hosted_kubeconfig) or else in the task's own kubeconfig.
    type: str
  hosted_kubeconfig: &hosted_kubeconfig
    description:
      - Path of the hosted cluster's kubeconfig on the machine that runs the task.
      - Without this and O(hosted_context), the kubeconfig is read from a Secret in the management cluster.
    type: path
  hosted_kubeconfig_secret: &hosted_kubeconfig_secret
    description:
      - The Secret in the management cluster that holds the hosted cluster's kubeconfig, if not the one
        that the HostedControlPlane's C(status.kubeConfig) names.
      - It is used in memory and written to no file. It may hold addresses, certificates and tokens. Paths,
        exec plugins and auth providers are refused, since they would be followed on the machine that runs
        the task. Link-local addresses and metadata services of clouds are refused as well, since they hand
        out credentials of that machine. A kubeconfig may have 1 MiB and 10,000 values.
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
      - Namespace in the hosted cluster of both secrets and of the syncer. The default is V(kube-system).
    type: str
  precedence: &precedence
    description:
      - Which secret wins where both have a registry. The default is V(additional).
    type: str
    choices: [additional, original]
  policy: &policy
    description: Exceptions from O(precedence), a mapping of registry to V(additional) or V(original).
    type: dict
  drop: &drop
    description:
      - Registries that are left out of the result.
      - V(cloud.openshift.com) of the original may not get lost unless it is named here.
    type: list
    elements: str
  when_additional_is_gone: &when_additional_is_gone
    description:
      - What is done when there is no additional secret any more.
      - With V(remove) the global secret becomes the original, and when every node has reported that it has
        it, everything is removed. Until then the next runs go on. The default is V(remove).
      - With V(revert) the global secret becomes the original, and the syncer stays.
    type: str
    choices: [remove, revert]
  adopt: &adopt
    description:
      - Take over objects of these names that are there and are not labelled as this cluster's. Without it
        they are refused, and nothing is written. They are never deleted.
      - HyperShift's own controller keeps objects of the same names. Where it does, this module is not needed.
      - What its syncer wrote to the nodes counts as the nodes' own, and is back where ours is taken out.
      - The default is V(false).
    type: bool
  syncer_image: &syncer_image
    description: Image of the syncer. Every target that is to be present needs one.
    type: str
  syncer_image_pull_secrets: &syncer_image_pull_secrets
    description: Secrets in O(hosted_namespace) that the syncer's own image is pulled with.
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
        description: Whether the value counts. Kubernetes' own default is V(Equal), which needs a key.
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
        description: Seconds for which V(NoExecute) is tolerated, with that effect only. From 0 to 2147483647.
        type: int
  syncer_priority_class: &syncer_priority_class
    description: Priority class of the syncer's pods, such as V(system-node-critical).
    type: str
  syncer_host_network: &syncer_host_network
    description:
      - Whether the pods are in the node's network, where the kubelet's health can be asked for. The
        default is V(true). Without it O(healthz) has to be V(none).
    type: bool
  syncer_selinux_type: &syncer_selinux_type
    description:
      - SELinux type of the syncer's pods. Nodes that enforce SELinux let an ordinary container write
        neither the kubelet's directory nor to the bus, and need V(spc_t).
    type: str
  syncer_resources: &syncer_resources
    description:
      - Requests and limits of the syncer's container. The default is requests of 5m CPU and 24Mi memory, and
        no limit. A request is not above its limit.
    type: dict
  max_restarting: &max_restarting
    description:
      - How many kubelets may restart at the same time, 1 at least and 1024 at most, a number, or a share of
        the nodes such as V(10%) that is never exceeded. The default is V(10%).
      - Of a share it is a power of two, which stays while it is a quarter of the share at least, since the
        syncers' pods are replaced when it changes.
    type: str
  restart: &restart
    description:
      - Whether a kubelet is restarted when its pull secret changes. With V(never) it finds the change by
        itself, within five minutes. The default is V(on_change).
    type: str
    choices: [on_change, never]
  health_window: &health_window
    description: Seconds that a kubelet has to stay healthy after its restart. From 0 to 86400, default is 12.
    type: float
  healthz: &healthz
    description:
      - Address of the kubelet's health on the node's own loopback. With V(none) it is not asked for.
        The default is V(http://127.0.0.1:10248/healthz).
    type: str
  kubelet_unit: &kubelet_unit
    description: The kubelet's systemd unit. The default is V(kubelet.service).
    type: str
  kubelet_dir: &kubelet_dir
    description:
      - The kubelet's directory on the nodes, without V(..) and colons in it.
      - The default is V(/var/lib/kubelet).
    type: path
  wait: &wait
    description:
      - Whether the run waits until every node has reported that it has the secret, and fails where one has
        not within O(rollout_timeout). The default is V(false), since the syncers continue by themselves.
    type: bool
  rollout_timeout: &rollout_timeout
    description:
      - Seconds that the nodes are waited for, with O(wait) and before everything is removed. The default
        is 60. From 0 to 2592000, which is 30 days.
      - Without O(wait), only the run that gives the nodes the original back waits for them before everything
        is removed. The next runs look whether they have followed.
      - With 0, what is to be removed is removed at once, also where nodes have not followed.
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
      description: What the target is called.
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
        - What became of the additional secret. It is V(absent), V(empty), V(merged), V(kept) where it is
          not valid and what it brought before stays, or V(invalid) where it is not valid and nothing of it
          was there.
      type: str
      returned: when the target did not fail and was not skipped
      sample: merged
    skipped:
      description: Why the hosted cluster was left alone. It, or its namespace, is being deleted.
      type: str
      returned: when it was
    rollout:
      description:
        - How many nodes have the secret, how many have not reported, and which, and which failed, with
          what their syncers say.
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
        - Each registry and the secret that it came from.
        - A key that may be a credential is not shown. Its number stands for it.
      type: dict
      returned: always
      sample: {quay.io: original, registry.example.com: additional}
    conflicts:
      description: Registries that both secrets had, with the winner and the losers.
      type: list
      elements: dict
      returned: when there are any
    digest:
      description: Keyed digest of the docker config's meaning. See O(digest_key).
      type: str
      returned: when the global secret is there
      sample: hmac-sha256:0f4a2a6a0c1b2d3e4f5061728394a5b6
    warnings:
      description: What was repaired or should be looked at, by registry or node.
      type: list
      elements: str
      returned: always
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

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import hosted_cluster_pull_secret
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks.entry import run_module


def main() -> None:
    """Run the module."""
    run_module(hosted_cluster_pull_secret.target_options, hosted_cluster_pull_secret.run)


if __name__ == "__main__":
    main()
