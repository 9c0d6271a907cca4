# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import ClassVar


class ModuleDocFragment:
    """Options of every module of the collection: limits of the batch, and connections."""

    DOCUMENTATION = r"""
options:
  concurrency:
    description: How many targets are processed at once. From 1 to 1000.
    type: int
    default: 16
  timeout:
    description: Seconds that one target may take, including retries. Above 0, at most 86400.
    type: float
    default: 300.0
  api_timeout:
    description: Seconds that one request may take. Above 0, at most 86400.
    type: float
    default: 30.0
  retry:
    description: How requests are retried after a temporary failure. Delays double, and vary randomly by 20 percent.
    type: dict
    default: {}
    suboptions:
      tries:
        description: Maximum number of attempts for a request. From 1 to 1000.
        type: int
        default: 5
      delay:
        description: Seconds before the second attempt. From 0 to 86400.
        type: float
        default: 1.0
      max_delay:
        description: Maximum seconds between two attempts. From 0 to 86400.
        type: float
        default: 30.0
  digest_key:
    description:
      - Key of the digests in results and diffs, base64 or any text. With the same key, digests of different
        runs and targets can be compared.
      - Digests are keyed, because the digest of a guessable secret would reveal it. Without a key, only
        digests of the same C(ansible-playbook) run can be compared.
    type: str
  progress_file:
    description:
      - File to which the module writes its progress. The action plugin sets this option and prints the
        progress.
    type: path
  gcp:
    description:
      - How to connect to Google Secret Manager. The module finds credentials in the same way as Google's own
        clients, including Workload Identity.
    type: dict
    suboptions:
      transport:
        description: Protocol to use.
        type: str
        choices: [grpc, rest]
        default: grpc
      endpoint:
        description:
          - Host and port of the service. The default is Google's. If the value begins with C(http://), the module
            uses neither TLS nor credentials, as for an emulator.
          - If this option is unset, E(SECRET_MANAGER_EMULATOR_HOST) names such an emulator.
        type: str
      credentials_file:
        description: Path of a credentials file. The default is the application default credentials.
        type: path
      impersonate_service_account:
        description: Email address of a service account to impersonate.
        type: str
  kubernetes:
    description:
      - How to connect to the Kubernetes API.
      - Defaults of the options come from the environment variables that C(kubernetes.core) reads, such as
        E(K8S_AUTH_HOST), E(K8S_AUTH_API_KEY), E(K8S_AUTH_KUBECONFIG) and E(K8S_AUTH_CONTEXT).
      - Without options and variables, the module uses E(KUBECONFIG), the service account of its pod, or
        C(~/.kube/config).
      - If an option or a target names a kubeconfig or a context, neither the host nor the credentials of the
        variables are used.
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
        description:
          - Bearer token. It replaces the user of a kubeconfig and the service account of a pod.
          - It is not used for a target's own context or kubeconfig.
        type: str
      ca_cert:
        description:
          - Path of the CA certificates with which the API server's certificate is verified.
          - If O(kubernetes.host) is given, this option and O(kubernetes.validate_certs) apply only to that
            host. They do not apply to a target's own context or kubeconfig.
        type: path
      validate_certs:
        description: Whether the API server's certificate is verified. The default is V(true), or the value of
          E(K8S_AUTH_VERIFY_SSL).
        type: bool
  hyperfleet:
    description: How to connect to the HyperFleet API.
    type: dict
    suboptions:
      url:
        description: URL of the API without a path. If unset, E(HYPERFLEET_API_URL) is used.
        type: str
      token_file:
        description:
          - Path of a file with a bearer token. It is read again when it changes.
          - If neither this option nor O(hyperfleet.url) is set, E(HYPERFLEET_TOKEN_FILE) is used.
        type: path
      headers:
        description:
          - Headers of every request, such as a tenant header. A value is a string, a number or a boolean.
          - The values are treated as secrets. No result and no callback shows them.
        type: dict
      flavour:
        description:
          - Format of the API's statuses. V(current) is that of today's API. V(contract) is that of the adapter
            contract, with reports by POST, names in camelCase, and the adapters' statuses in the cluster.
          - Only modules that read or report statuses use this option.
        type: str
        choices: [current, contract]
        default: current
      ca_cert:
        description: Path of the CA certificates with which the API's certificate is verified.
        type: path
      validate_certs:
        description: Whether the API's certificate is verified.
        type: bool
        default: true
"""

    # The options of what uses the HyperFleet API only.
    HYPERFLEET: ClassVar[str] = (
        DOCUMENTATION.partition("  digest_key:\n")[0]
        + "  hyperfleet:\n"
        + DOCUMENTATION.partition("  hyperfleet:\n")[2]
    )
