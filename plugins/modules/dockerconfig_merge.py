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
  - Reads docker configs by reference, checks each as kubelet and containers/image read it, and merges them.
  - Writes the result to a file in one step, or only reports which registry comes from which layer.
  - With O(images), reports which credential kubelet and containers/image would use to pull each image.
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
      - Name of the target in results. The default is V(target).
    type: str
  state: &state
    description: Whether the file at O(dest) exists. The default is V(present).
    type: str
    choices: [present, absent]
  dest: &dest
    description:
      - Path of the file to write. Without it nothing is written.
      - An existing file is replaced, or deleted with O(state=absent), only if it is a docker config. That is
        a JSON object with C(auths), valid or not, or the beginning of a truncated one.
      - Any other file, even an empty one or a kubeconfig with C(auths), is an error unless O(force) is V(true).
    type: path
  follow: &follow
    description:
      - Whether O(dest) may be a symbolic link. The file that it points to is then written or deleted. The
        link stays.
      - The default is V(false). A link is then an error.
    type: bool
  force: &force
    description:
      - Whether to replace or delete also a file that is not a docker config, such as an empty one from
        C(ansible.builtin.tempfile). It must be a regular file.
      - The default is V(false).
    type: bool
  mode: &mode
    description:
      - Mode of the file, an octal number in quotes. It must not give others access.
      - A new file gets V('0600'). An existing file keeps its mode, without permissions for others.
    type: raw
  images: &images
    description:
      - Names of images, as in a pod. For each, RV(targets[].images) names the entry of the docker config that
        kubelet would use, and that containers/image (CRI-O, Podman, Skopeo) would use, with the reason.
      - The two differ. Kubelet also uses C(quay.io/team) for C(quay.io/team-evil/app), supports globs in a
        host, and ignores C(credHelpers). Containers/image does none of these.
      - If one of them has no credential for an image, the target has a warning, because many images need
        none. With O(require_credentials=true) it is an error.
      - At most 1000 names. A name that neither of the two accepts is an error, and so is a host of more than
        253 characters.
      - O(timeout) includes this check.
      - Nothing is pulled, and no registry is contacted.
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
      - Where the docker config is read from. Exactly one of the suboptions is required.
      - The content never passes through Ansible's variables, except that of O(source.inline).
      - To merge several docker configs, use O(layers) instead.
    type: dict
    suboptions: &places
      inline:
        description:
          - The docker config itself, as a string or a mapping. Prefer one of the references.
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
  layers: &layers
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
  precedence: &precedence
    description:
      - Which layer wins if several have a registry. V(additional) is the later one, V(original) the earlier
        one.
      - The default is V(additional).
    type: str
    choices: [additional, original]
  policy: &policy
    description: Exceptions to O(precedence). A mapping from a registry to the name of the layer that wins.
    type: dict
  drop: &drop
    description:
      - Registries to leave out of the result, also without a merge.
      - The entries of these registries need not pass the rules.
      - The target fails if the original's V(cloud.openshift.com) would be lost, unless it is listed here.
    type: list
    elements: str
  strict: &strict
    description:
      - Whether an entry with which a pull probably fails is an error, such as one without a password.
      - The default is V(false). Such an entry is a warning then.
      - With V(true), an optional layer that has such an entry is left out whole, with a warning.
      - See R(Rules for docker configs, ansible_collections.hyperfleet.pull_secret.docsite.rules).
    type: bool
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
      strict: *strict
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
      description: Name of the target.
      type: str
      returned: always
      sample: cls-123
    place:
      description: Full name of the file.
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
        - Each registry, with the layer or kind of source that it comes from.
        - A key that may be a credential is shown as a number.
      type: dict
      returned: always
      sample: {quay.io: hyperfleet}
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
    images:
      description:
        - For each of O(images), in their order, the entry that kubelet and containers/image would use.
        - RV(targets[].images[].kubelet.rule) says why an entry applies. V(repository), V(path) and V(host)
          mean that its key is the image's repository, a path above it, or its host. With V(glob), a glob
          matches the host. With V(docker_hub), the key is another name of Docker Hub. With
          V(credential_helper), the host has a credential helper, which decides when it is run.
      type: list
      elements: dict
      returned: when O(images) is given and the target did not fail
      sample:
        - image: quay.io/team/app:1.4
          kubelet: {found: true, registry: quay.io/team, rule: path, layer: additional, others: [quay.io]}
          containers_image: {found: true, registry: quay.io/team, rule: path, layer: additional, others: []}
      contains:
        image:
          description: The image's name, as given. A secret of the docker config in the name is replaced by
            asterisks.
          type: str
        kubelet: &answer
          description: The entry that this reader would use.
          type: dict
          contains:
            found:
              description: Whether it has a credential.
              type: bool
            registry:
              description: Key of the entry that it uses, or null.
              type: str
            rule:
              description: Why the entry applies, or null.
              type: str
            layer:
              description: Layer or kind of source of the entry. Null for a credential helper.
              type: str
            others:
              description:
                - Keys that kubelet tries next if the registry refuses the first, at most ten.
                - For containers/image, keys that it might use instead, because their order is random.
              type: list
              elements: str
            problem:
              description: Why this reader refuses the image's name, which the other one accepts.
              type: str
              returned: when it does
        containers_image: *answer
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

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import dockerconfig_merge
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks.entry import run_module


def main() -> None:
    """Run the module."""
    run_module(dockerconfig_merge.target_options, dockerconfig_merge.run)


if __name__ == "__main__":
    main()
