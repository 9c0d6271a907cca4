#!/usr/bin/python
# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: dockerconfig_merge
short_description: Check and merge docker configs
version_added: 0.1.0
description:
  - Reads docker configs by reference, checks each as kubelet and containers/image would read it, and
    merges them.
  - Writes the result to a file in one step, or only reports which registry comes from which layer.
  - Tells which credential kubelet and containers/image would pull an image with, if O(images) names some.
  - To merge straight into Secret Manager or Kubernetes, give O(layers) to
    M(hyperfleet.pull_secret.gcp_pull_secret) or
    M(hyperfleet.pull_secret.k8s_pull_secret).
extends_documentation_fragment:
  - hyperfleet.pull_secret.attributes
  - hyperfleet.pull_secret.run
  - hyperfleet.pull_secret.targets
options:
  id: &id
    description:
      - What results call the target. The default is V(target).
    type: str
  state: &state
    description: Whether the file at O(dest) is there. The default is V(present).
    type: str
    choices: [present, absent]
  dest: &dest
    description:
      - Path of the file to write. Without it nothing is written.
      - A file that is there is replaced, or with O(state=absent) deleted, only if it is a docker config.
        That is a JSON object with C(auths), right or wrong, or the beginning of one that was cut off.
      - Any other file, an empty one too, is an error, unless O(force) is V(true).
    type: path
  follow: &follow
    description:
      - Whether O(dest) may be a symbolic link. It then stands for the file that it leads to, which is
        written or deleted. The link stays.
      - The default is V(false), with which a link in the place of the file is an error.
    type: bool
  force: &force
    description:
      - Whether a file is replaced or deleted that is not a docker config, such as an empty one that
        C(ansible.builtin.tempfile) made. What is no regular file never is.
      - The default is V(false).
    type: bool
  mode: &mode
    description:
      - Mode of the file, an octal number in quotes. Nobody else may be let in.
      - A new file gets V('0600'), an existing one keeps its mode, without the permissions for others.
    type: raw
  images: &images
    description:
      - Names of images, as in a pod. RV(targets[].images) says for each of them which entry of the docker
        config kubelet would use, and which one containers/image (CRI-O, Podman, Skopeo), and why.
      - The two disagree. Kubelet takes C(quay.io/team) for C(quay.io/team-evil/app) as well, knows globs in a
        host, and ignores C(credHelpers). Containers/image knows none of these.
      - An image for which one of them has no credential is a warning of the target, since many images need
        none. With O(require_credentials=true) it is an error.
      - A name that neither of the two takes is an error, and so is a host of more than 253 characters. There may
        be 1000 of them.
      - O(timeout) counts for them, too.
      - Nothing is pulled, and no registry is asked.
    type: list
    elements: str
  require_credentials: &require_credentials
    description:
      - Whether the target fails, before anything is written, if kubelet or containers/image has no credential
        for one of O(images).
      - The default is V(false).
    type: bool
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
      dest: *dest
      follow: *follow
      force: *force
      mode: *mode
      images: *images
      require_credentials: *require_credentials
      source: *source
      layers: *layers
      precedence: *precedence
      policy: *policy
      drop: *drop
author:
  - HyperFleet contributors (@openshift-hyperfleet)
"""

EXAMPLES = r"""
- name: Check a docker config
  hyperfleet.pull_secret.dockerconfig_merge:
    source:
      file: /etc/pull-secrets/platform.json
  register: checked

- name: Merge two docker configs, the team's wins but for quay.io
  hyperfleet.pull_secret.dockerconfig_merge:
    dest: /run/pull-secrets/merged.json
    layers:
      - name: original
        source:
          file: /etc/pull-secrets/platform.json
      - name: additional
        source:
          env: TEAM_PULL_SECRET
        optional: true
    policy:
      quay.io: original

- name: Tell which credential would pull the images of a deployment, and fail if there is none
  hyperfleet.pull_secret.dockerconfig_merge:
    source:
      file: /etc/pull-secrets/platform.json
    images:
      - quay.io/team/app:1.4
      - registry.redhat.io/ubi9/ubi
    require_credentials: true
  register: pulled

- name: Delete the file; anything but a docker config would be left alone
  hyperfleet.pull_secret.dockerconfig_merge:
    dest: /run/pull-secrets/merged.json
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
      sample: file:/run/pull-secrets/merged.json
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
    images:
      description:
        - For each of O(images), in their order, what kubelet and containers/image would pull it with.
        - RV(targets[].images[].kubelet.rule) says why an entry applies. Its key is the image's repository
          (V(repository)), a path above it (V(path)), or its host (V(host)). The host matches a V(glob). The key
          is another name of Docker Hub (V(docker_hub)). Or a V(credential_helper) is named for the host, which
          decides when it is run.
      type: list
      elements: dict
      returned: when O(images) is given and the target did not fail
      sample:
        - image: quay.io/team/app:1.4
          kubelet: {found: true, registry: quay.io/team, rule: path, layer: additional, others: [quay.io]}
          containers_image: {found: true, registry: quay.io/team, rule: path, layer: additional, others: []}
      contains:
        image:
          description: The image's name, as given. A secret of the docker config in it is replaced by asterisks.
          type: str
        kubelet: &answer
          description: What the reader would pull the image with.
          type: dict
          contains:
            found:
              description: Whether it has a credential.
              type: bool
            registry:
              description: Key of the entry that it uses, null without one.
              type: str
            rule:
              description: Why the entry applies, null without one.
              type: str
            layer:
              description: Layer or kind of source that the entry came from. Null for a credential helper.
              type: str
            others:
              description:
                - Keys that kubelet tries next if the registry refuses the first, at most ten.
                - For containers/image, keys that it might take instead, since their order is left to chance.
              type: list
              elements: str
            problem:
              description: Why the reader refuses the image's name, which the other one takes.
              type: str
              returned: if it does
        containers_image: *answer
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

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import dockerconfig_merge
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks.entry import run_module


def main() -> None:
    """Run the module."""
    run_module(dockerconfig_merge.target_options, dockerconfig_merge.run)


if __name__ == "__main__":
    main()
