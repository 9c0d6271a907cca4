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
  - Merges a docker config into kubelet's C(config.json), restarts kubelet if that changes the file's
    meaning, watches it for a while, and rolls the file back if kubelet does not come up or does not stay up.
  - Entries that others wrote into the file stay. Entries of this module that are no longer wanted go,
    and the entries that they replaced come back. Names and keyed digests of them are kept in
    C(config.json.hyperfleet), and the entries that they replaced in C(config.json.hyperfleet-backup), both
    beside the file.
  - An entry that others wrote and for which kubelet rejects the whole file is removed, with a warning.
  - What others have beside C(auths) stays as well, unless the docker config has members of its own there,
    which replace all of them. A member that breaks a rule is taken out. A warning names each member that goes.
  - A file that is not a docker config is replaced, with a warning. O(state=rolled_back) restores it as long
    as it is the file of before, O(state=absent) does not.
  - The file is replaced in one step. A run that is killed leaves the old file or the new one, and the
    next run goes on from there.
  - The docker config is read on the controller and sent to the node over a pipelined connection, or not
    at all.
  - A docker config that was rolled back is not tried again until it changes, unless O(retry_failed=true).
  - Check mode says what the following run does, if kubelet then comes up. After a run that was killed it
    may watch kubelet for O(window) to find that out.
extends_documentation_fragment:
  - hyperfleet.pull_secret.attributes
  - hyperfleet.pull_secret.run
options:
  state:
    description:
      - V(present) merges the docker config into the node's file.
      - V(absent) takes everything of this module's out of it. A file that was not there before is removed.
      - V(restarted) makes the restart that O(restart=deferred) has left to be made, and watches kubelet.
      - V(healthy) restarts nothing and fails unless kubelet is well, and stays so for O(window). The
        file that kubelet has been restarted with then counts as known to work.
      - V(rolled_back) restores the file of before the last write, and restarts kubelet.
    type: str
    choices: [present, absent, restarted, healthy, rolled_back]
    default: present
  path:
    description: Path of kubelet's file. It must not be a symbolic link.
    type: path
    default: /var/lib/kubelet/config.json
  unit:
    description: Name of kubelet's unit.
    type: str
    default: kubelet.service
  healthz:
    description:
      - URL on the node that answers 200 while kubelet is well, without TLS. Empty, it is not asked.
      - Nothing is written if a restart would follow and kubelet runs without answering there, for then
        neither the old file nor the new one could be judged. It is waited for, O(ready_timeout) at most. A
        kubelet that is down, or was started again by systemd, or itself says that it is unwell, is no
        reason against it.
    type: str
    default: http://127.0.0.1:10248/healthz
  systemd:
    description:
      - How systemd is spoken to on the node. V(dbus) needs the Python package jeepney there.
      - V(auto) is V(dbus) where jeepney is installed, else V(systemctl).
    type: str
    choices: [auto, dbus, systemctl]
    default: auto
  restart:
    description:
      - Whether kubelet is restarted when the meaning of its file changes. V(deferred) leaves that to a
        later task with O(state=restarted), such as a handler.
      - With V(never), kubelet finds the file within 5 minutes, by itself.
      - A kubelet that is not running is never started. It reads the file when it starts.
    type: str
    choices: [on_change, never, deferred]
    default: on_change
  attempts:
    description: How often kubelet is restarted at most before the file is rolled back. From 1 to 100.
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
    description: Seconds after a restart until kubelet has to be well. From 0 to 86400.
    type: float
    default: 60.0
  window:
    description:
      - Seconds that kubelet then has to stay well, from 0 to 86400. Well is a running unit, the same process
        all the time, and O(healthz) answering 200.
      - The default is longer than the 10 s after which kubeadm's unit starts a crashed kubelet again.
    type: float
    default: 12.0
  lock_timeout:
    description: Seconds to wait for another process that is at work on the node's file or kubelet.
      From 0 to 86400.
    type: float
    default: 30.0
  backup:
    description:
      - Whether the file of before stays in the backup once kubelet runs with the new one, so that
        O(state=rolled_back) finds it. Entries that ours replaced are kept in any case.
    type: bool
    default: true
  rollback:
    description:
      - Whether the file is rolled back when kubelet does not come up. Otherwise that is left to a task with
        O(state=rolled_back), which then knows the reason.
      - With O(state=restarted) and without it, RV(state) stays V(pending) until a task with O(state=healthy)
        has watched kubelet. A run that ends before that leaves it to the next one.
    type: bool
    default: true
  retry_failed:
    description: Whether a docker config that has failed is tried again.
    type: bool
    default: false
  source:
    description:
      - Where the docker config is read from, on the controller. Exactly one place, and no place's content
        passes through Ansible's variables.
      - Instead of O(source), O(layers) merges several. One of them is required with O(state=present).
    type: dict
    suboptions: &places
      inline:
        description:
          - The docker config itself, as a string or a mapping. For drop-in use; prefer a reference.
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
  layers:
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
            warnings.
        type: bool
        default: false
  precedence:
    description:
      - Which layer wins where several have a registry, V(additional) for the later one, V(original) for
        the earlier one.
      - The default is V(additional).
    type: str
    choices: [additional, original]
  policy:
    description: Exceptions from O(precedence), a mapping of registry to the name of the layer that wins.
    type: dict
  drop:
    description:
      - Registries that are left out of the result, merged or not.
      - V(cloud.openshift.com) of the original may not get lost unless it is named here.
    type: list
    elements: str
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

- name: Write the file and let kubelet find it within 5 minutes
  hyperfleet.pull_secret.kubelet_auth_sync:
    restart: never
    source:
      file: /etc/pull-secrets/platform.json

- name: Take our entries out again
  hyperfleet.pull_secret.kubelet_auth_sync:
    state: absent

- name: Go back to the file of before
  hyperfleet.pull_secret.kubelet_auth_sync:
    state: rolled_back
"""

RETURN = r"""
place:
  description: What is written.
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
    - V(in-sync), V(pending) for a restart that is still to be made or judged, V(failed), or V(held) for a
      docker config that has failed before and was left alone.
  type: str
  returned: when the node was reached
  sample: in-sync
restart:
  description: Facts on the restart.
  type: dict
  returned: when the node was reached
  contains:
    needed:
      description: Whether a restart was made, or is to be made. Never with O(restart=never).
      type: bool
    attempts:
      description: How often it was restarted, for a roll-back too.
      type: int
    jobs:
      description: Results of the restarts, in systemd's words.
      type: list
      elements: str
      sample: [done]
    healthy:
      description: Whether kubelet was well in the end. None if it was not looked at.
      type: bool
    seconds:
      description: How long restarting and watching took.
      type: float
    effective:
      description: When kubelet uses the file.
      type: str
      sample: now
    systemd:
      description: How systemd was spoken to, V(dbus) or V(systemctl), or empty if it was not.
      type: str
  sample: {needed: true, attempts: 1, jobs: [done], healthy: true, seconds: 12.4, effective: now}
rolled_back:
  description: Whether the file is the one of before again.
  type: bool
  returned: when the node was reached
registries:
  description:
    - Each registry in the file and where it came from, V(node) for a foreign entry.
    - A key that may be a credential is not shown. Its number stands for it.
  type: dict
  returned: when the node was reached
  sample: {quay.io: original, 123456789012.dkr.ecr.example: node}
digest:
  description: Keyed digest of the file's meaning. See O(digest_key).
  type: str
  returned: when the file was read
  sample: hmac-sha256:0f4a2a6a0c1b2d3e4f5061728394a5b6
warnings:
  description: What was repaired or should be looked at, by registry.
  type: list
  elements: str
  returned: when there are any
conflicts:
  description: Registries that several layers had, with the winner and the losers.
  type: list
  elements: dict
  returned: when layers were merged and had conflicts
kind:
  description: Kind of the failure, V(kubelet) if it did not come up, V(held) if it did not before.
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
