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
  - For each cluster, reads it and the other adapters' statuses from the HyperFleet API, evaluates the
    preconditions, brings the pull secret to Google Secret Manager and the management cluster, by a Kubernetes
    Job or inline, and reports what it sees to the API.
  - Reports on every cluster that it is given, also where preconditions are not met or something failed.
    Never waits for a Job. Run it again to see how far a Job is. The result says after how many seconds that
    is worth it.
  - A cluster that is being deleted gets nothing more. What was made for it is removed, and reported as
    finalized once all of it is confirmed to be gone.
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
      - How the places are reached is in the configuration, so it has none of the group's options.
  check_mode:
    support: full
    details:
      - Nothing is written and nothing is reported. The result holds what would be.
  diff_mode:
    support: none
  idempotent:
    support: partial
    details:
      - Nothing is written a second time, but for the report, which the API takes as a sign of life.
options:
  config:
    description:
      - Path of the C(AdapterConfig), a YAML or JSON file of C(hyperfleet.redhat.com/v1alpha1).
    type: path
    required: true
  overrides:
    description:
      - What holds in place of the document in O(config). A mapping of C(adapter_name), C(api_flavour),
        C(batch_size), C(batch_window), C(deletion), C(execution), C(headers) and C(token_file), in the words
        of the fields that they stand for. An empty value says nothing.
    type: dict
  cluster_ids:
    description:
      - The clusters. One that is given several times is handled once.
      - One of O(cluster_ids), O(events) and O(all) is required. The first two can be given together.
    type: list
    elements: str
  events:
    description:
      - The clusters, as the C(data) of their events. Each needs an C(id), and may have a C(traceparent), which
        is carried into the log, the report and the Job.
    type: list
    elements: dict
  traceparents:
    description:
      - W3C's C(traceparent) of each cluster's event, by its id. A value that is not valid is left out.
    type: dict
  all:
    description:
      - Handle all clusters of the API, and remove what is left of those that the API says are gone. Their
        Jobs say where that is.
      - What cannot be read of the list does not end it. The task fails at its end then, and removes nothing.
    type: bool
    default: false
  run_directory:
    description:
      - Directory in which the run holds a lock on the file C(lock) as long as it goes on, and leaves its
        result as C(result.json), for an event source that started it.
      - Without that file the run does nothing and fails, since nobody waits for it.
    type: path
  results:
    description:
      - Which clusters the result lists. V(all), V(brief) for those that failed, or V(log) for none, since
        the log has each of them.
      - The default is V(all) for up to 50 clusters, else V(brief).
    type: str
    choices: [all, brief, log]
  concurrency:
    description: How many clusters are handled at once. From 1 to 1000.
    type: int
    default: 16
  timeout:
    description: Seconds that each step of one cluster may take, retries included. Above 0, at most 86400.
    type: float
    default: 60.0
  api_timeout:
    description: Seconds that one request to Kubernetes or Secret Manager may take. The configuration has that
      of the HyperFleet API. Above 0, at most 86400.
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
        default: 4
      delay:
        description: Seconds before the second try. From 0 to 86400.
        type: float
        default: 0.5
      max_delay:
        description: Seconds between two tries at most. From 0 to 86400.
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
  description: The clusters that O(results) asks for, in their order.
  returned: always
  type: list
  elements: dict
  contains:
    id:
      description: Id of the cluster.
      type: str
      returned: always
    generation:
      description: Its generation, as it was read. None where it could not be.
      type: int
      returned: always
    outcome:
      description: What became of its report. V(reported), V(discarded) by the API, V(gone) for a cluster that
        does not exist any more, or V(failed).
      type: str
      returned: always
      sample: reported
    state:
      description: What its work is in. V(unmet), V(refused), V(created), V(pending), V(running), V(stuck),
        V(succeeded), V(failed), V(deleting) or V(deleted).
      type: str
      returned: always
      sample: running
    reason:
      description: Why its pull secret is available, or is not.
      type: str
      returned: always
      sample: JobRunning
    again:
      description: Seconds until a look is worth it, without an event.
      type: float
      returned: always
    message:
      description: The same in words.
      type: str
      returned: always
    kind:
      description: Kind of the failure, such as C(unavailable). None where the outcome is no failure.
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
      returned: when something could be said
    data:
      description: The data that was reported, such as C(secret_version) and C(management_secret).
      type: dict
      returned: when something could be said
    job:
      description: What a Job said of itself, where this run is the first to see its end. Inline work says the
        same of itself where it wrote something or failed.
      type: dict
      returned: always
    job_created:
      description: Whether a Job was made.
      type: bool
      returned: always
    reports:
      description: How many reports were accepted, discarded and failed.
      type: dict
      returned: always
    retries:
      description: How many requests had to be repeated.
      type: int
      returned: always
    traceparent:
      description: That of the cluster's event.
      type: str
      returned: always
summary:
  description: Counts of all clusters by outcome, of those that were changed, and by state.
  returned: always
  type: dict
  sample: {total: 2, reported: 2, discarded: 0, gone: 0, failed: 0, changed: 1, states: {running: 2}}
problems:
  description: What a sweep could not read of the list of clusters, each with C(kind) and C(msg). The task
    fails for them.
  returned: when something could not be read
  type: list
  elements: dict
msg:
  description: What could not be read, how many clusters failed, and the first reasons. The task itself does
    not fail for a cluster's failure.
  returned: when a cluster failed, or a sweep is not whole
  type: str
"""

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import hyperfleet_adapter
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks.entry import run_with


def main() -> None:
    """Run the module."""
    run_with(hyperfleet_adapter.spec(), hyperfleet_adapter.run)


if __name__ == "__main__":
    main()
