# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import re


def _with_targets(options: str) -> str:
    """Return the options, and each of them also as a suboption of ``targets``."""
    names = re.findall(r"^  (\w+): &\1$", options, re.MULTILINE)
    return f"options:{options}  targets:\n    suboptions:\n" + "".join(
        f"      {name}: *{name}\n" for name in names
    )


_SHARED = r"""
  cluster_id: &cluster_id
    description: Id of the cluster, used in names and labels. Lower case letters, digits and dashes.
    type: str
  cluster_name: &cluster_name
    description: Name of the cluster, for the label C(cluster-name).
    type: str
  labels: &labels
    description:
      - Labels to set in addition to the collection's own. Labels that others have set are kept.
      - A label that the collection sets, such as C(managed-by) or C(cluster-id), cannot have another value.
      - A target's labels are added to the task's.
      - A value is a string, a number or a boolean. A boolean is written as V(true) or V(false). Null, a list
        or a mapping is an error.
    type: dict
  adopt: &adopt
    description:
      - Whether to take over an existing secret without the labels of this cluster. Otherwise the target fails
        for such a secret.
      - With O(state=absent), the target always fails for such a secret. To delete it, first take it over with
        O(state=present).
      - The default is V(false).
    type: bool
"""
_DOCUMENT = r"""
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
          - Dotted path of the docker config in a larger JSON or YAML document, such as V(spec.pullSecret.data) in
            a cluster's file.
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
      - Which layer wins if several contain the same registry. V(additional) is the later one, V(original) the
        earlier one.
      - The default is V(additional).
    type: str
    choices: [additional, original]
  policy: &policy
    description: Exceptions to O(precedence). A mapping from a registry to the name of the layer that wins.
    type: dict
  drop: &drop
    description:
      - Registries to leave out of the result. This also applies to a single source.
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
"""
_STORE = r"""
  id: &id
    description:
      - Name of the target in results. The default is O(cluster_id), or O(secret) without one.
    type: str
  state: &state
    description:
      - Whether the secret exists. The default is V(present).
      - With V(absent), a secret that is labelled as a cluster's is deleted only if O(cluster_id) is that
        cluster.
      - With V(absent), outdated metadata may show no secret. The task then requests version 1. If that version
        exists, the task waits for the metadata.
    type: str
    choices: [present, absent]
  project: &project
    description: Id or number of the Google Cloud project. Every target needs one.
    type: str
  secret: &secret
    description: Id of the secret. The default is C(hyperfleet-{cluster_id}-pull-secret).
    type: str
  annotations: &annotations
    description:
      - Annotations of the secret.
      - The collection's own annotations, C(hyperfleet-adding) and C(hyperfleet-restoring), are refused.
    type: dict
  replication: &replication
    description:
      - How a new secret is replicated. V(automatic) leaves it to Google, V(user_managed) uses O(locations).
        It cannot be changed later.
      - An existing secret with other replication or other keys is left unchanged. If this option or
        O(kms_key) is given, a warning names both.
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
    description: What happens to older versions. Without this option they are left unchanged.
    type: dict
    suboptions:
      keep:
        description:
          - How many of the newest enabled versions to leave unchanged. From 1 to 2147483647.
          - With 1, if two runs overlap, the newer run disables the version of the older run. The older run
            fails if it has not read its version yet. Nothing is lost, because the newer version is in use.
        type: int
        required: true
      disable:
        description: Whether older enabled versions are disabled.
        type: bool
        default: true
      destroy_after:
        description:
          - Seconds until a disabled version is destroyed, counted from the creation of the next version. From
            0 to 315360000 (ten years).
          - Without it nothing is destroyed.
        type: float
  restore_version: &restore_version
    description:
      - Number of an older version to restore. Its docker config is added as the newest version. The action is
        V(restored from 3), or none if the newest version has the same meaning.
      - If O(source) or O(layers) is also given, it is not stored. If it differs from the restored version, a
        warning says so, because the next run without O(restore_version) stores it again.
      - A disabled version is enabled while it is read. Until then, the annotation C(hyperfleet-restoring) names
        it, so that the next run disables it if this run is killed.
      - Check mode enables nothing, so it fails for a disabled version.
      - The new version has the same meaning as the old one, in this module's usual format.
    type: str
  impersonate_service_account: &impersonate_service_account
    description: Email address of a service account to impersonate. The default is that of
      O(gcp.impersonate_service_account).
    type: str
"""
_PLACE = r"""
  id: &id
    description:
      - Name of the target in results. The default is O(cluster_id), or O(name) without one.
    type: str
  state: &state
    description:
      - Whether the Secret exists. The default is V(present).
      - With V(absent), a secret that is labelled as a cluster's is deleted only if O(cluster_id) is that
        cluster.
    type: str
    choices: [present, absent]
  namespace: &namespace
    description: Namespace of the Secret. Every target needs one.
    type: str
  name: &name
    description: Name of the Secret. The default is C({cluster_id}-pull-secret).
    type: str
  gcp_secret_path: &gcp_secret_path
    description:
      - Value of the annotation C(hyperfleet.io/gcp-secret-path). Its form is C(projects/P/secrets/S), with or
        without C(/versions/V). The default is the newest version of O(source.gcp).
    type: str
  annotations: &annotations
    description:
      - Annotations of the Secret.
      - The collection's own annotations are refused. They are C(hyperfleet.io/created-at),
        C(hyperfleet.io/created-by), C(hyperfleet.io/gcp-secret-path) and C(hyperfleet.io/gcp-secret-version).
        So is C(kubectl.kubernetes.io/last-applied-configuration), which would hold a copy of the Secret.
    type: dict
  immutable: &immutable
    description: Whether the Secret is immutable. Without this option an existing Secret keeps its setting.
    type: bool
  service_accounts: &service_accounts
    description:
      - Service accounts of the namespace that pull with the Secret. The Secret is added to their
        C(imagePullSecrets). With O(state=absent) it is removed from them.
    type: list
    elements: str
  wait_for_namespace: &wait_for_namespace
    description:
      - Whether to retry while the namespace is missing, with the limits of O(retry). With V(false), a missing
        namespace is an error at once.
      - The Job and the adapter wait, because the placement adapter may be about to create the namespace.
      - The default is V(false).
    type: bool
  source_digest: &source_digest
    description:
      - Digest of the version that O(source) names by its number, as M(hyperfleet.pull_secret.gcp_pull_secret)
        returned it with the same O(digest_key). The version is then read only if the Secret has another digest.
      - It has no effect with O(drop), O(policy) or O(strict).
    type: str
  context: &context
    description: Context of the kubeconfig. The default is that of O(kubernetes.context).
    type: str
  kubeconfig: &kubeconfig
    description: Path of a kubeconfig. The default is that of O(kubernetes.kubeconfig).
    type: path
"""
_INFO = r"""
  id: &id
    description:
      - Name of the target in results. The default is O(cluster_id), or O(secret) without one.
    type: str
  cluster_id: &cluster_id
    description: Id of the cluster, used in names and labels. Lower case letters, digits and dashes.
    type: str
  state: &state
    description:
      - Whether the secrets should exist. The default is V(present).
      - With V(absent), an existing secret is drift.
    type: str
    choices: [present, absent]
  project: &project
    description: Id or number of the Google Cloud project. Every target needs one.
    type: str
  secret: &secret
    description: Id of the secret. The default is C(hyperfleet-{cluster_id}-pull-secret).
    type: str
  impersonate_service_account: &impersonate_service_account
    description: Email address of a service account to impersonate. The default is that of
      O(gcp.impersonate_service_account).
    type: str
  namespace: &namespace
    description: Namespace of the Secret. Every target needs one.
    type: str
  name: &name
    description: Name of the Secret. The default is C({cluster_id}-pull-secret).
    type: str
  context: &context
    description: Context of the kubeconfig. The default is that of O(kubernetes.context).
    type: str
  kubeconfig: &kubeconfig
    description: Path of a kubeconfig. The default is that of O(kubernetes.kubeconfig).
    type: path
  problem: &problem
    description:
      - Why the target cannot be inspected. The target fails with this text, and the module reads nothing for it.
      - The filter P(hyperfleet.pull_secret.info_targets#filter) sets it for a cluster with a wrong description.
    type: str
"""


class ModuleDocFragment:
    """The options of modules about clusters, at the top level and in ``targets``."""

    # Annotated, because ansible-test's yamllint fails with a traceback on an assignment without a type.
    # ansible-doc and validate-modules read both forms.
    STORE: str = _with_targets(_STORE + _SHARED.lstrip("\n") + _DOCUMENT.lstrip("\n"))
    PLACE: str = _with_targets(_PLACE + _SHARED.lstrip("\n") + _DOCUMENT.lstrip("\n"))
    DOCUMENT: str = f"options:{_DOCUMENT}"
    INFO: str = _with_targets(_INFO + _DOCUMENT.lstrip("\n"))
