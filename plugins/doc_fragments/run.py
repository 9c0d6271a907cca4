# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations


class ModuleDocFragment:
    """Options of every module of the collection: how the batch runs and how the places are reached."""

    DOCUMENTATION = r"""
options:
  concurrency:
    description: How many targets are handled at once. From 1 to 1000.
    type: int
    default: 16
  timeout:
    description: Seconds that one target may take, retries included. Above 0, at most 86400.
    type: float
    default: 300.0
  api_timeout:
    description: Seconds that one request may take. Above 0, at most 86400.
    type: float
    default: 30.0
  retry:
    description: How requests are repeated that failed for a passing reason. Delays double and are spread by a
      fifth.
    type: dict
    default: {}
    suboptions:
      tries:
        description: How often a request is made at most. From 1 to 1000.
        type: int
        default: 5
      delay:
        description: Seconds before the second try. From 0 to 86400.
        type: float
        default: 1.0
      max_delay:
        description: Seconds between two tries at most. From 0 to 86400.
        type: float
        default: 30.0
  digest_key:
    description:
      - Key of the digests in results and diffs, base64 or any text. With the same key, digests of
        different runs and places
        can be compared.
      - They are keyed since the digest of a guessable secret can be guessed at. Without a key, the
        digests of one
        C(ansible-playbook) run can be compared with each other and with nothing else.
    type: str
  progress_file:
    description:
      - File to which the module writes how far the batch is. The action plugin sets it, and prints what it
        says.
    type: path
  gcp:
    description:
      - How Google Secret Manager is reached. Credentials are found as Google's own clients find them,
        Workload Identity
        included.
    type: dict
    suboptions:
      transport:
        description: Protocol to speak.
        type: str
        choices: [grpc, rest]
        default: grpc
      endpoint:
        description:
          - Host and port of the service, if not Google's. With C(http://) in front, neither TLS nor
            credentials are used,
            as with an emulator.
          - If unset, E(SECRET_MANAGER_EMULATOR_HOST) names such an emulator.
        type: str
      credentials_file:
        description: Path of a credentials file, if not the application default credentials.
        type: path
      impersonate_service_account:
        description: Address of a service account to act as.
        type: str
  kubernetes:
    description:
      - How the Kubernetes API is reached. What the options do not say, the variables E(K8S_AUTH_HOST),
        E(K8S_AUTH_API_KEY), E(K8S_AUTH_KUBECONFIG), E(K8S_AUTH_CONTEXT) and the others that
        C(kubernetes.core) reads say. Without either, it is reached by E(KUBECONFIG); in a pod, by its
        service account; else by C(~/.kube/config).
      - What the variables say of a server is not used for another one. Where an option or a target names a
        kubeconfig or a context, neither the variables' host nor their credentials are used.
    type: dict
    suboptions:
      kubeconfig:
        description: Path of a kubeconfig.
        type: path
      context:
        description: Context of the kubeconfig.
        type: str
      host:
        description: URL of an API server, in place of a kubeconfig.
        type: str
      api_key:
        description: Bearer token for O(kubernetes.host).
        type: str
      ca_cert:
        description:
          - Path of the certificates that the API server's is checked against.
          - Where O(kubernetes.host) is given, this and O(kubernetes.validate_certs) are for it, and not for
            a target's own context or kubeconfig.
        type: path
      validate_certs:
        description: Whether the API server's certificate is checked. It is, unless this or
          E(K8S_AUTH_VERIFY_SSL) says otherwise.
        type: bool
  hyperfleet:
    description: How the HyperFleet API is reached.
    type: dict
    suboptions:
      url:
        description: URL of the API without a path. If unset, E(HYPERFLEET_API_URL) is used.
        type: str
      token_file:
        description: Path of a file with a bearer token. It is read again when it changes.
        type: path
      headers:
        description:
          - Headers of every request, such as a tenant's. A value is a string, a number or a boolean.
          - The values are secrets, which no result and no callback shows.
        type: dict
      flavour:
        description:
          - Form of the API's statuses. V(current) is the API's of today. V(contract) is the adapter contract's,
            where reports are sent with POST, in camelCase, and a cluster holds its adapters' statuses.
          - Only modules that read or report statuses heed it.
        type: str
        choices: [current, contract]
        default: current
      ca_cert:
        description: Path of the certificates that the API's is checked against.
        type: path
      validate_certs:
        description: Whether the API's certificate is checked.
        type: bool
        default: true
"""
