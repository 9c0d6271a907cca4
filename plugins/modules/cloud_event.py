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
  - Publishes a CloudEvent for each cluster to RabbitMQ, Google Cloud Pub/Sub or a webhook, as the HyperFleet
    sentinel does. Adapters that receive the events process these clusters.
  - The broker confirms each event. With RabbitMQ, an event that reaches no queue is a failure, because it
    would be lost.
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
      - It connects to brokers only, so it has none of the group's options.
  diff_mode:
    support: none
    details:
      - There is nothing to compare.
  idempotent:
    support: none
    details:
      - Each run publishes new events. An adapter that receives an event twice repeats its work, which changes
        nothing.
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
          - URL of RabbitMQ (C(amqp) or C(amqps)) or of the webhook (C(http) or C(https)).
          - A URL with a password is refused, because Ansible shows arguments.
          - For RabbitMQ, E(BROKER_RABBITMQ_URL) is used if neither this nor O(broker.url_file) is given.
        type: str
      url_file:
        description: Path of a file that holds the URL of RabbitMQ, including the password.
        type: path
      ca_cert:
        description: Path of the CA certificates that the broker's certificate is checked against.
        type: path
      topic:
        description: Topic of Pub/Sub. For RabbitMQ, the sentinel's topic, which is the name of the exchange.
        type: str
      exchange:
        description: Name of RabbitMQ's exchange. The default is O(broker.topic).
        type: str
      exchange_type:
        description: Type of RabbitMQ's exchange. The exchange is created if it does not exist.
        type: str
        choices: [topic, fanout]
        default: topic
      project_id:
        description: Id of the project of Google Cloud. If unset, E(GOOGLE_CLOUD_PROJECT) is used.
        type: str
      endpoint:
        description:
          - Host and port of Pub/Sub. The default is Google's. With C(http://) in front, neither TLS nor
            credentials are used, as for an emulator.
          - If unset, E(PUBSUB_EMULATOR_HOST) names such an emulator.
        type: str
      token_file:
        description: Path of a file with a bearer token for the webhook.
        type: path
  cluster_ids:
    description: Ids of clusters that need no other options. They are published before O(targets).
    type: list
    elements: str
    default: []
  targets:
    description:
      - The clusters. A cluster that fails does not stop the others.
      - This option or O(cluster_ids) is required.
    type: list
    elements: dict
    default: []
    suboptions:
      cluster_id:
        description: Id of the cluster.
        type: str
        required: true
      generation:
        description: Generation of the cluster, from 1 to 9223372036854775807. Adapters still read it from the
          API.
        type: int
      type:
        description: Type of the event. The default is O(type).
        type: str
      source:
        description: Source of the event. The default is O(source).
        type: str
      id:
        description: Id of the event. The default is a new UUID that sorts by time.
        type: str
      traceparent:
        description: Trace context (W3C) that the adapter passes on.
        type: str
  type:
    description: Type of the events. The default is C(com.redhat.hyperfleet.cluster.reconcile).
    type: str
  source:
    description: Source of the events. The default is C(hyperfleet-sentinel).
    type: str
  timeout:
    description: Seconds that publishing may take, with a webhook for each event. Above 0, at most 86400.
    type: float
    default: 60.0
author:
  - HyperFleet contributors (@openshift-hyperfleet)
"""

EXAMPLES = r"""
- name: Have the adapters process two clusters
  hyperfleet.pull_secret.cloud_event:
    broker:
      type: gcp-pubsub
      project_id: hyperfleet-prod
      topic: hyperfleet-clusters
    cluster_ids:
      - cls-123
      - cls-456

- name: Show what would be published to RabbitMQ
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
      description: Where it was published.
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
  description: The failed targets again, each with its id, place, kind and message.
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
