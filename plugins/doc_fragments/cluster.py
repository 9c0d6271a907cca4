# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import re


def _with_targets(options: str) -> str:
    """The options, and each of them again as a suboption of ``targets``."""
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
      - Labels beside those that the collection sets. Labels that others have set are kept.
      - One that the collection sets, such as C(managed-by) or C(cluster-id), is refused with any other value.
      - A target's labels are added to the task's.
      - A value is a string, a number or a boolean, which is written as V(true) or V(false). Null, a list or a
        mapping is an error.
    type: dict
  adopt: &adopt
    description:
      - Take over a secret that is there and is not labelled as this cluster's. Without it such a secret
        is refused.
      - With O(state=absent) such a secret is refused in any case. To delete it, take it over first, with
        O(state=present).
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
"""
_STORE = r"""
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
  annotations: &annotations
    description:
      - Annotations of the secret.
      - The collection's own, C(hyperfleet-adding) and C(hyperfleet-restoring), are refused.
    type: dict
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
      - Number of an older version, whose docker config becomes the newest version again. The action is
        V(restored from 3), or none where the newest version has the same meaning.
      - O(source) or O(layers) beside it is not stored. It is compared with what was restored, and a warning
        says that it differs, since the next run without O(restore_version) stores it again.
      - A disabled version is enabled for the time of the read. If the run is killed meanwhile, the
        annotation C(hyperfleet-restoring) names that version, and the next run disables it.
      - Check mode enables nothing, so it fails for a disabled version.
      - The new version has the old one's meaning, written as this module writes every docker config.
    type: str
  impersonate_service_account: &impersonate_service_account
    description: Address of a service account to act as, if not the one of O(gcp.impersonate_service_account).
    type: str
"""
_PLACE = r"""
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
  gcp_secret_path: &gcp_secret_path
    description:
      - Value of the annotation C(hyperfleet.io/gcp-secret-path), C(projects/P/secrets/S) with or without
        C(/versions/V). The default is the newest version of O(source.gcp).
    type: str
  annotations: &annotations
    description:
      - Annotations of the Secret.
      - The collection's own, C(hyperfleet.io/created-at), C(hyperfleet.io/created-by),
        C(hyperfleet.io/gcp-secret-path) and C(hyperfleet.io/gcp-secret-version), are refused.
    type: dict
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
  wait_for_namespace: &wait_for_namespace
    description:
      - Whether a missing namespace is waited for, as O(retry) says. With V(false) it is an error at once.
      - The Job and the adapter wait, since the placement adapter may be about to create the namespace.
      - The default is V(false).
    type: bool
  context: &context
    description: Context of the kubeconfig, if not the one of O(kubernetes.context).
    type: str
  kubeconfig: &kubeconfig
    description: Path of a kubeconfig, if not the one of O(kubernetes.kubeconfig).
    type: path
"""


class ModuleDocFragment:
    """The options of ``gcp_pull_secret`` and ``k8s_pull_secret``, at the top level and in ``targets``."""

    # With a type, since ansible-test's yamllint takes what is assigned without one for a text, and ends with a
    # traceback. ansible-doc and validate-modules read both.
    STORE: str = _with_targets(_STORE + _SHARED.lstrip("\n"))
    PLACE: str = _with_targets(_PLACE + _SHARED.lstrip("\n"))
