#!/usr/bin/python
# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: hyperfleet_status
short_description: Report an adapter's statuses of clusters
version_added: 0.1.0
description:
  - Reports an adapter's statuses to the HyperFleet API, for one cluster or thousands in one task.
  - Every run reports, even if the status is the same, because the API expects a report from time to time. A
    target has changed if the API stores a different status than before.
  - The time of a report is that of the request, and later than that of the previous report.
requirements:
  - urllib3
extends_documentation_fragment:
  - hyperfleet.pull_secret.attributes
  - hyperfleet.pull_secret.run
  - hyperfleet.pull_secret.targets
options:
  id: &id
    description: Name of the target in results. The default is O(cluster_id).
    type: str
  cluster_id: &cluster_id
    description: Id of the cluster. Every target needs one.
    type: str
  adapter: &adapter
    description: Name of the adapter. The default is V(pullsecret).
    type: str
  generation: &generation
    description:
      - Generation of the cluster that the report is about. The default is the cluster's current generation.
        From 1 to 9223372036854775807.
      - If you read the cluster before, give the generation that you read.
    type: int
  conditions: &conditions
    description:
      - Conditions to report. C(Available), C(Applied) and C(Health) are required, C(Finalized) is
        recommended.
    type: list
    elements: dict
    suboptions:
      type:
        description: Name of the condition.
        type: str
        required: true
      status:
        description:
          - Status of the condition. The API discards a whole report with V(Unknown) for C(Available), except
            the first. Report running or waiting work as V(False).
        type: str
        required: true
        choices: ["True", "False", "Unknown"]
      reason:
        description: A word such as C(JobRunning).
        type: str
        required: true
      text:
        description: Message of the condition, a sentence for people. It must not contain a secret.
        type: str
        default: ""
  data: &data
    description: Data for other adapters.
    type: dict
  metadata: &metadata
    description: Facts about the work.
    type: dict
  when_gone: &when_gone
    description: What to do if the cluster does not exist. The default is V(ignore).
    type: str
    choices: [ignore, fail]
  targets:
    suboptions:
      id: *id
      cluster_id: *cluster_id
      adapter: *adapter
      generation: *generation
      conditions: *conditions
      data: *data
      metadata: *metadata
      when_gone: *when_gone
author:
  - HyperFleet contributors (@openshift-hyperfleet)
"""

EXAMPLES = r"""
- name: Report that the pull secret is available
  hyperfleet.pull_secret.hyperfleet_status:
    cluster_id: cls-123
    conditions:
      - type: Applied
        status: "True"
        reason: JobApplied
      - type: Available
        status: "True"
        reason: PullSecretStored
        text: The pull secret is stored
      - type: Health
        status: "True"
        reason: Healthy
      - type: Finalized
        status: "False"
        reason: NotDeleting
    data:
      secret_version: "3"
"""

RETURN = r"""
targets:
  description: One entry for each target, in their order.
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
      description: Full name of the status that is written.
      type: str
      returned: always
      sample: clusters/cls-123/statuses/pullsecret
    changed:
      description: Whether the API stores a different status than before, or would in check mode.
      type: bool
      returned: always
    actions:
      description: V(reported) for an adapter's first report, V(updated) for a different one.
      type: list
      elements: str
      returned: always
    accepted:
      description: Whether the API accepted the report. False if it was discarded, null in check mode.
      type: bool
      returned: always
    gone:
      description: Whether the cluster does not exist.
      type: bool
      returned: always
    generation:
      description: The generation that was reported on.
      type: int
      returned: when the cluster exists
    observed_time:
      description: Time of the report.
      type: str
      returned: when it was sent
    warnings:
      description: Why a report may have been discarded.
      type: list
      elements: str
      returned: always
    operations:
      description: Retries and failures, as entries of a structured log.
      type: list
      elements: dict
      returned: always
    retries:
      description: How many requests were retried.
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

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import hyperfleet_status
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks.entry import run_module


def main() -> None:
    """Run the module."""
    run_module(hyperfleet_status.target_options, hyperfleet_status.run)


if __name__ == "__main__":
    main()
