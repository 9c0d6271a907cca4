#!/usr/bin/python
# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: hyperfleet_adapter
short_description: Run the HyperFleet pull secret adapter over a batch of clusters
version_added: 0.1.0
description:
  - Reads each cluster and the other adapters' statuses from the HyperFleet API, and evaluates the
    preconditions.
  - Stores the pull secret in Google Secret Manager and in the management cluster, by a Kubernetes Job or
    inline. Reports the result to the API.
  - Reports on every given cluster, also if preconditions are not met or something failed.
  - Never waits for a Job. Run the module again to see the progress of a Job. The result says after how many
    seconds.
  - A cluster that is being deleted gets nothing new. Its secrets and Jobs are removed. The cluster is
    reported as finalized once their removal is confirmed.
  - Prints a structured log, one JSON object a line, while it runs.
requirements:
  - common-expression-language
  - jsonschema
  - kubernetes
  - urllib3
extends_documentation_fragment:
  - hyperfleet.pull_secret.attributes
attributes:
  action_group:
    support: none
    membership: []
    details:
      - The configuration says how to connect, so it has none of the group's options.
  check_mode:
    support: full
    details:
      - Nothing is written or reported. The result shows what would be.
  diff_mode:
    support: none
  idempotent:
    support: partial
    details:
      - Nothing is written a second time except the report, which the API takes as a sign of life.
options:
  config:
    description:
      - Path of the C(AdapterConfig), a YAML or JSON file of C(hyperfleet.redhat.com/v1alpha1).
    type: path
    required: true
  overrides:
    description:
      - Values that replace those of the document in O(config). An empty value replaces nothing.
      - The keys are C(adapter_name), C(api_flavour), C(batch_size), C(batch_window), C(deletion),
        C(execution), C(headers) and C(token_file). Values have the form of the document's fields.
    type: dict
  cluster_ids:
    description:
      - Ids of the clusters. A cluster that is given several times is processed once.
      - One of O(cluster_ids), O(events) and O(all) is required. The first two can be given together.
    type: list
    elements: str
  events:
    description:
      - The clusters, as the C(data) of their events. Each needs an C(id). An optional C(traceparent) is
        copied to the log, the report and the Job.
    type: list
    elements: dict
  traceparents:
    description:
      - W3C's C(traceparent) of each cluster's event, by its id. A value that is not valid is left out.
    type: dict
  all:
    description:
      - Process all clusters of the API. Remove the secrets and Jobs of clusters that the API reports as
        deleted. Their Jobs say where these are.
      - If a part of the list cannot be read, the run continues with the rest, removes nothing and then fails.
      - If the configuration has a tenant header (a header whose name begins with C(X-Tenant)), the run warns and
        removes nothing, because the API may hide other tenants' clusters.
    type: bool
    default: false
  run_directory:
    description:
      - Directory of a run that an event source started. The run holds a lock on the file C(lock) there, and
        writes its result to C(result.json).
      - Without the file C(lock) the run does nothing and fails, because nobody waits for it.
    type: path
  results:
    description:
      - Which clusters the result lists. V(brief) lists only failed clusters. V(log) lists none, because the
        log has all of them.
      - The default is V(all) for up to 50 clusters, and V(brief) for more.
    type: str
    choices: [all, brief, log]
  concurrency:
    description: How many clusters are processed at once. From 1 to 1000.
    type: int
    default: 16
  timeout:
    description: Seconds that each step of one cluster may take, including retries. Above 0, at most 86400.
    type: float
    default: 60.0
  api_timeout:
    description: Seconds that one request to Kubernetes or Secret Manager may take. Above 0, at most 86400.
      For the HyperFleet API, the configuration has this value.
    type: float
    default: 30.0
  retry:
    description: How requests are retried after a temporary failure. Delays double and vary by a fifth.
    type: dict
    default: {}
    suboptions:
      tries:
        description: Maximum number of attempts for a request. From 1 to 1000.
        type: int
        default: 4
      delay:
        description: Seconds before the second attempt. From 0 to 86400.
        type: float
        default: 0.5
      max_delay:
        description: Maximum seconds between two attempts. From 0 to 86400.
        type: float
        default: 5.0
author:
  - HyperFleet contributors (@openshift-hyperfleet)
"""

EXAMPLES = r"""
- name: Reconcile two clusters
  hyperfleet.pull_secret.hyperfleet_adapter:
    config: /etc/pullsecret-adapter/config.yaml
    cluster_ids:
      - 0198c0de-0000-7000-8000-000000000001
      - 0198c0de-0000-7000-8000-000000000002

- name: Reconcile the whole fleet without Jobs
  hyperfleet.pull_secret.hyperfleet_adapter:
    config: /etc/pullsecret-adapter/config.yaml
    overrides:
      execution: inline
    all: true
"""

RETURN = r"""
clusters:
  description: The clusters that O(results) selects, in their order.
  returned: always
  type: list
  elements: dict
  contains:
    id:
      description: Id of the cluster.
      type: str
      returned: always
    generation:
      description: Its generation, or null if it could not be read.
      type: int
      returned: always
    outcome:
      description: Result of its report. V(reported), V(discarded) by the API, V(gone) for a cluster that no
        longer exists, or V(failed).
      type: str
      returned: always
      sample: reported
    state:
      description: State of its work. V(unmet), V(refused), V(created), V(pending), V(running), V(stuck),
        V(succeeded), V(failed), V(deleting) or V(deleted).
      type: str
      returned: always
      sample: running
    reason:
      description: Why its pull secret is available or not.
      type: str
      returned: always
      sample: JobRunning
    again:
      description: Seconds after which to run the module again without an event.
      type: float
      returned: always
    message:
      description: The reason as a sentence.
      type: str
      returned: always
    kind:
      description: Kind of the failure, such as C(unavailable), of the report or of the cluster's work. Null
        without a failure.
      type: str
      returned: always
    actions:
      description: What was written.
      type: list
      elements: str
      returned: always
    conditions:
      description: The conditions that were reported.
      type: list
      elements: dict
      returned: when there was something to report
    data:
      description: The data that was reported, such as C(secret_version) and C(management_secret).
      type: dict
      returned: when there was something to report
    ends:
      description: What is counted of the ends of Jobs that this run is the first to see. C(result),
        C(duration_seconds) from the Job's start to its end, and the requests and added versions of all its pods.
        Inline work has the same if it wrote something or failed.
      type: list
      elements: dict
      returned: always
    job_created:
      description: Whether a Job was created.
      type: bool
      returned: always
    reports:
      description: How many reports were accepted, discarded and failed.
      type: dict
      returned: always
    retries:
      description: How many requests were retried.
      type: int
      returned: always
    traceparent:
      description: The C(traceparent) of the cluster's event.
      type: str
      returned: always
summary:
  description: Counts of clusters by outcome, of clusters that were refused, failed or could not be reported
    (C(failed)), of changed clusters, and of clusters by state.
  returned: always
  type: dict
  sample: {total: 2, reported: 2, discarded: 0, gone: 0, unreported: 0, failed: 0, changed: 1, states: {running: 2}}
problems:
  description: Parts of the list of clusters that a sweep could not read, each with C(kind) and C(msg). They
    fail the task.
  returned: when something could not be read
  type: list
  elements: dict
msg:
  description: What could not be read, how many clusters failed, and the first reasons. A cluster's failure
    does not fail the task.
  returned: when a cluster failed or a sweep could not read the whole list
  type: str
"""

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import hyperfleet_adapter
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks.entry import run_with


def main() -> None:
    """Run the module."""
    run_with(hyperfleet_adapter.spec(), hyperfleet_adapter.run)


if __name__ == "__main__":
    main()
