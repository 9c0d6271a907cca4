#!/usr/bin/python
# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: cloud_event
short_description: Publish events about HyperFleet clusters
version_added: 0.1.0
description:
  - Publishes a CloudEvent for each of many clusters to RabbitMQ, Google Cloud Pub/Sub or a webhook, as the
    HyperFleet sentinel does. Whatever adapter listens looks at these clusters.
  - Each event is confirmed by the broker. At RabbitMQ one that reaches no queue is a failure, as it would be
    lost.
requirements:
  - aio-pika for RabbitMQ
  - google-cloud-pubsub for Pub/Sub
  - urllib3 for a webhook
extends_documentation_fragment:
  - hyperfleet.pull_secret.attributes
attributes:
  action_group:
    support: none
    membership: []
    details:
      - It reaches brokers, and has none of the group's options.
  diff_mode:
    support: none
    details:
      - There is nothing to compare.
  idempotent:
    support: none
    details:
      - Each run publishes new events. Who receives them twice does the same once more, which changes nothing.
options:
  broker:
    description: Where the events go.
    type: dict
    required: true
    suboptions:
      type:
        description: Kind of the broker.
        type: str
        required: true
        choices: [gcp-pubsub, rabbitmq, webhook]
      url:
        description:
          - Address of RabbitMQ (C(amqp) or C(amqps)) or of the webhook (C(http) or C(https)).
          - One that holds a password is refused, as Ansible shows arguments.
          - For RabbitMQ, E(BROKER_RABBITMQ_URL) is used if neither this nor O(broker.url_file) is given.
        type: str
      url_file:
        description: Path of a file that holds RabbitMQ's whole address, with its password.
        type: path
      ca_cert:
        description: Path of the certificates that the broker's is checked against.
        type: path
      topic:
        description: Pub/Sub's topic, or the sentinel's topic, which is the name of RabbitMQ's exchange.
        type: str
      exchange:
        description: Name of RabbitMQ's exchange, if it is not that of O(broker.topic).
        type: str
      exchange_type:
        description: Type of RabbitMQ's exchange. It is made if it is not there.
        type: str
        choices: [topic, fanout]
        default: topic
      project_id:
        description: Id of the project of Google Cloud. If unset, E(GOOGLE_CLOUD_PROJECT) is used.
        type: str
      endpoint:
        description:
          - Host and port of Pub/Sub, if not Google's. With C(http://) in front, neither TLS nor credentials
            are used, as with an emulator.
          - If unset, E(PUBSUB_EMULATOR_HOST) names such an emulator.
        type: str
      token_file:
        description: Path of a file with a bearer token for the webhook.
        type: path
  cluster_ids:
    description: Ids of clusters of which there is nothing else to say. They go before O(targets).
    type: list
    elements: str
    default: []
  targets:
    description:
      - The clusters. One that fails does not stop the others.
      - This or O(cluster_ids) is needed.
    type: list
    elements: dict
    default: []
    suboptions:
      cluster_id:
        description: Id of the cluster.
        type: str
        required: true
      generation:
        description: Generation of the cluster, from 1 to 9223372036854775807. Adapters read it from the API
          all the same.
        type: int
      type:
        description: Type of the event, if not the one of O(type).
        type: str
      source:
        description: Source of the event, if not the one of O(source).
        type: str
      id:
        description: Id of the event. The default is a fresh UUID, in the order of time.
        type: str
      traceparent:
        description: Trace context (W3C) that the adapter carries on.
        type: str
  type:
    description: Type of the events. The default is C(com.redhat.hyperfleet.cluster.reconcile).
    type: str
  source:
    description: Source of the events. The default is C(hyperfleet-sentinel).
    type: str
  timeout:
    description: Seconds that the publishing may take, by webhook each event's. Above 0, at most 86400.
    type: float
    default: 60.0
author:
  - HyperFleet contributors (@openshift-hyperfleet)
"""

EXAMPLES = r"""
- name: Have the adapters look at two clusters
  hyperfleet.pull_secret.cloud_event:
    broker:
      type: gcp-pubsub
      project_id: hyperfleet-prod
      topic: hyperfleet-clusters
    cluster_ids:
      - cls-123
      - cls-456

- name: Say what would be published to RabbitMQ
  hyperfleet.pull_secret.cloud_event:
    broker:
      type: rabbitmq
      url_file: /etc/hyperfleet/broker-url
      topic: hyperfleet-clusters
    source: maintenance
    targets:
      - cluster_id: cls-123
        generation: 2
  check_mode: true
"""

RETURN = r"""
targets:
  description: One entry for each target, in their order.
  returned: always
  type: list
  elements: dict
  contains:
    id:
      description: Id of the cluster.
      type: str
      returned: always
    event:
      description: Id of the event.
      type: str
      returned: when there is an event
    place:
      description: Where it went.
      type: str
      returned: always
      sample: rabbitmq:127.0.0.1:5672/hyperfleet-clusters
    changed:
      description: Whether it was published, or would be in check mode.
      type: bool
      returned: always
    actions:
      description: What was done.
      type: list
      elements: str
      returned: always
      sample: [published]
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
  description: The failed ones again, with their id, place, kind and message.
  returned: always
  type: list
  elements: dict
summary:
  description: Counts of total, changed and failed targets.
  returned: always
  type: dict
  sample: {total: 1000, changed: 1000, failed: 0}
"""

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import cloud_event
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks.entry import run_with


def main() -> None:
    """Run the module."""
    run_with(cloud_event.spec(), cloud_event.run)


if __name__ == "__main__":
    main()
