#!/usr/bin/python
# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: kubelet_auth_sync
short_description: Bring a node's pull secret and its kubelet in sync
version_added: 0.1.0
description:
  - Merges a docker config into kubelet's C(config.json), and restarts kubelet if that changes the file's
    meaning. Watches kubelet, and rolls the file back if kubelet does not start or does not stay up.
  - Entries that others wrote stay. Entries of this module that are no longer in the docker config are
    removed, and the entries that they replaced are restored.
  - The names and keyed digests of its entries are in C(config.json.hyperfleet). The entries that they
    replaced are in C(config.json.hyperfleet-backup). Both files are beside C(config.json).
  - An entry that another program wrote and that makes kubelet reject the whole file is removed, with a warning.
  - Members of others beside C(auths) stay, unless the docker config has such members, which replace all of
    them. A member that breaks a rule is removed. A warning names each removed member.
  - A file that is not a docker config is replaced, with a warning. O(state=rolled_back) restores it while it
    is the previous file. O(state=absent) does not restore it.
  - The file is replaced atomically. A killed run leaves the old or the new file, and the next run continues
    from there.
  - The docker config is read on the controller and sent to the node. The connection must be pipelined.
  - A docker config that was rolled back is not tried again until it changes, unless O(retry_failed=true).
  - Check mode predicts the next run, provided that kubelet starts. After a killed run, it may watch kubelet
    for O(window) to do so.
extends_documentation_fragment:
  - hyperfleet.pull_secret.attributes
  - hyperfleet.pull_secret.run
options:
  state:
    description:
      - V(present) merges the docker config into the node's file.
      - V(absent) removes everything of this module from it. A file that did not exist before is deleted.
      - V(restarted) performs the restart that O(restart=deferred) postponed, and watches kubelet.
      - V(healthy) restarts nothing and fails unless kubelet is healthy and stays healthy for O(window). The
        file that kubelet was restarted with then counts as working.
      - V(rolled_back) restores the file from before the last write, and restarts kubelet.
    type: str
    choices: [present, absent, restarted, healthy, rolled_back]
    default: present
  path:
    description:
      - Path of the docker config that kubelet reads. It must not be a symbolic link.
      - Another file of Kubernetes, such as a KubeletConfiguration or a kubeconfig, is an error.
    type: path
    default: /var/lib/kubelet/config.json
  unit:
    description: Name of kubelet's unit.
    type: str
    default: kubelet.service
  healthz:
    description:
      - URL on the node that answers 200 while kubelet is healthy, without TLS. If empty, it is not checked.
      - If a restart would follow and kubelet runs without answering there, nothing is written, because
        neither file could be judged. The module first waits for an answer, for at most O(ready_timeout).
      - A kubelet that is down, was restarted by systemd, or reports itself unhealthy does not prevent the
        write.
    type: str
    default: http://127.0.0.1:10248/healthz
  systemd:
    description:
      - How to talk to systemd on the node. V(dbus) needs the Python package jeepney there.
      - V(auto) is V(dbus) if jeepney is installed, and V(systemctl) otherwise.
    type: str
    choices: [auto, dbus, systemctl]
    default: auto
  restart:
    description:
      - Whether kubelet is restarted when the meaning of its file changes. V(deferred) leaves the restart to a
        later task with O(state=restarted), such as a handler.
      - With V(never), kubelet detects the new file by itself, within 5 minutes.
      - A kubelet that is not running is never started. It reads the file when it starts.
    type: str
    choices: [on_change, never, deferred]
    default: on_change
  attempts:
    description: Maximum number of restarts before the file is rolled back. From 1 to 100.
    type: int
    default: 3
  backoff:
    description:
      - Seconds between the first two attempts. They double, up to 30. From 0 to 86400.
    type: float
    default: 2.0
  restart_timeout:
    description: Seconds that one restart may take. From 0 to 86400.
    type: float
    default: 120.0
  ready_timeout:
    description: Seconds after a restart within which kubelet must be healthy. From 0 to 86400.
    type: float
    default: 60.0
  window:
    description:
      - Seconds that kubelet must then stay healthy. From 0 to 86400. Healthy means that the unit runs, its
        process stays the same, and O(healthz) answers 200.
      - The default is longer than the 10 s after which kubeadm's unit restarts a crashed kubelet.
    type: float
    default: 12.0
  lock_timeout:
    description: Seconds to wait for another process that works on the node's file or kubelet.
      From 0 to 86400.
    type: float
    default: 30.0
  backup:
    description:
      - Whether the backup keeps the previous file once kubelet runs with the new one, for
        O(state=rolled_back). Entries that this module replaced are always kept.
    type: bool
    default: true
  rollback:
    description:
      - Whether the file is rolled back if kubelet does not start. With V(false), a task with
        O(state=rolled_back) must do it, and knows the reason.
      - With O(state=restarted) and V(false), RV(state) stays V(pending) until a task with O(state=healthy)
        has watched kubelet. If the run ends before that, the next run does it.
    type: bool
    default: true
  retry_failed:
    description: Whether to try a docker config again that has failed before.
    type: bool
    default: false
  source:
    description:
      - Where the controller reads the docker config from. Exactly one of the suboptions is required.
      - To merge several docker configs, use O(layers) instead. One of the two is required with
        O(state=present).
    type: dict
    suboptions: &places
      inline:
        description:
          - The docker config itself, as a string or a mapping. Prefer one of the references.
        type: raw
      file:
        description: Path of a file on the controller.
        type: path
      env:
        description: Name of an environment variable of C(ansible-playbook).
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
            description: Context of the kubeconfig. The default is that of O(kubernetes.context).
            type: str
          kubeconfig:
            description: Path of a kubeconfig. The default is that of O(kubernetes.kubeconfig).
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
            description: Number of a version, or V(latest) for the newest enabled version.
            type: str
            default: latest
          impersonate_service_account:
            description: Email address of a service account to impersonate for the read.
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
          - Dotted path of the docker config if the source holds a larger JSON or YAML document. An example is
            V(spec.pullSecret.data) in a cluster's file.
          - Keys may have dots. At each level the longest key that fits the rest of the path counts.
        type: str
  layers:
    description:
      - Docker configs to merge, in order. The first is the original, the others are additional.
      - An empty layer adds nothing, and a warning names it. The result must not be empty.
    type: list
    elements: dict
    suboptions:
      name:
        description: Name of the layer in results and in O(policy).
        type: str
        required: true
      source:
        description: Where the layer is read from. Same suboptions as O(source).
        type: dict
        required: true
        suboptions: *places
      optional:
        description:
          - Whether the other layers are merged if this one is missing or invalid. A warning then names it.
        type: bool
        default: false
  precedence:
    description:
      - Which layer wins if several have a registry. V(additional) is the later one, V(original) the earlier
        one.
      - The default is V(additional).
    type: str
    choices: [additional, original]
  policy:
    description: Exceptions to O(precedence). A mapping from a registry to the name of the layer that wins.
    type: dict
  drop:
    description:
      - Registries to leave out of the result, also without a merge.
      - The entries of these registries need not pass the rules.
      - The target fails if the original's V(cloud.openshift.com) would be lost, unless it is listed here.
    type: list
    elements: str
  strict:
    description:
      - Whether an entry with which a pull probably fails is an error, such as one without a password.
      - The default is V(false). Such an entry is a warning then.
      - With V(true), an optional layer that has such an entry is left out whole, with a warning.
      - See R(Rules for docker configs, ansible_collections.hyperfleet.pull_secret.docsite.rules).
    type: bool
author:
  - HyperFleet contributors (@openshift-hyperfleet)
"""

EXAMPLES = r"""
- name: Update the file and restart kubelet
  hyperfleet.pull_secret.kubelet_auth_sync:
    layers:
      - name: original
        source:
          gcp:
            project: customer-prod-12345
            secret: hyperfleet-cls-123-pull-secret
      - name: additional
        source:
          kubernetes:
            namespace: kube-system
            name: additional-pull-secret
        optional: true

- name: Write the file and let kubelet detect it within 5 minutes
  hyperfleet.pull_secret.kubelet_auth_sync:
    restart: never
    source:
      file: /etc/pull-secrets/platform.json

- name: Remove our entries again
  hyperfleet.pull_secret.kubelet_auth_sync:
    state: absent

- name: Go back to the previous file
  hyperfleet.pull_secret.kubelet_auth_sync:
    state: rolled_back
"""

RETURN = r"""
place:
  description: The file that is written.
  type: str
  returned: always
  sample: file:/var/lib/kubelet/config.json
actions:
  description: What was done, or would be in check mode.
  type: list
  elements: str
  returned: when the node was reached
  sample: [written, restarted]
state:
  description:
    - V(in-sync), V(pending), V(failed) or V(held).
    - V(pending) means that a restart is still to be made or judged. V(held) means that the docker config has
      failed before and was not tried again.
  type: str
  returned: when the node was reached
  sample: in-sync
restart:
  description: Facts about the restart.
  type: dict
  returned: when the node was reached
  contains:
    needed:
      description: Whether a restart was made or is still to be made. Always false with O(restart=never).
      type: bool
    attempts:
      description: Number of restarts, including those of a rollback.
      type: int
    jobs:
      description: Results of the restarts, as systemd reports them.
      type: list
      elements: str
      sample: [done]
    healthy:
      description: Whether kubelet was healthy in the end. Null if it was not checked.
      type: bool
    seconds:
      description: How long restarting and watching took.
      type: float
    effective:
      description: When kubelet uses the file.
      type: str
      sample: now
    systemd:
      description: How the module talked to systemd, V(dbus) or V(systemctl). Empty if it did not.
      type: str
  sample: {needed: true, attempts: 1, jobs: [done], healthy: true, seconds: 12.4, effective: now}
rolled_back:
  description: Whether the previous file was restored.
  type: bool
  returned: when the node was reached
registries:
  description:
    - Each registry in the file, with its source. V(node) is an entry that another program wrote.
    - A key that may be a credential is shown as a number.
  type: dict
  returned: when the node was reached
  sample: {quay.io: original, 123456789012.dkr.ecr.example: node}
digest:
  description: Keyed digest of the file's meaning. See O(digest_key).
  type: str
  returned: when the file was read
  sample: hmac-sha256:0f4a2a6a0c1b2d3e4f5061728394a5b6
warnings:
  description: What was repaired or needs attention, by registry.
  type: list
  elements: str
  returned: when there are any
conflicts:
  description: Registries that several layers have, with the layer that won and those that lost.
  type: list
  elements: dict
  returned: when layers were merged and had conflicts
kind:
  description: Kind of the failure. V(kubelet) if it did not start, V(held) if it failed before.
  type: str
  returned: on failure
msg:
  description: What went wrong, where, and what was left behind.
  type: str
  returned: on failure
"""

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import kubelet_auth_sync
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks.entry import run_with


def main() -> None:
    """Run the module."""
    run_with(kubelet_auth_sync.spec(), kubelet_auth_sync.run, with_commands=True)


if __name__ == "__main__":
    main()
