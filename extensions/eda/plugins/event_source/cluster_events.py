# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Event source of ansible-rulebook: the clusters for which the HyperFleet sentinel reports work."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

DOCUMENTATION = r"""
---
short_description: Receive HyperFleet's cluster events, and run one playbook for many of them
description:
  - Receives the CloudEvents of the HyperFleet sentinel from RabbitMQ, from Google Cloud Pub/Sub, or by HTTP. The
    source uses only the cluster's id (C(data.id)). It accepts any event type, and events without C(time) or a
    content type. A message that names no cluster is counted, logged and acknowledged.
  - Collects the clusters of events into batches. The source requests one run for each batch, and the next run
    only after the previous one has ended. No cluster is therefore in two runs at the same time.
  - Acknowledges a message when the run of its cluster has ended, even if the cluster failed. The sentinel
    publishes a failed cluster again. For a waiting cluster, only the newest message stays unacknowledged. The
    source acknowledges the older ones when a newer one arrives.
  - Creates a directory for each run. The run locks C(lock) in it while it works, and writes C(result.json) at its
    end. If a run does not start, or ends without a result, the source requests it again after growing pauses.
  - A cluster whose result has C(again) is processed again after this number of seconds, without an event. While
    runs have the same result, the pause doubles, up to a minute.
  - Events are C({"cluster_events":{"cluster_ids":[…],"run":"…","traceparents":{…}}}).
options:
  adapter_config:
    description:
      - Absolute path of the AdapterConfig. The source uses its C(spec.broker), C(spec.batch), C(spec.metrics) and
        C(spec.logging).
      - Exactly one of O(adapter_config) and O(broker) is required.
    type: path
  broker:
    description:
      - The broker, with the fields of C(spec.broker) in the AdapterConfig.
      - C(type=rabbitmq) has C(url), C(urlFile), C(topic), C(exchange), C(exchangeType) (C(topic), the default, or
        C(fanout)), C(subscription), C(queue) and C(caCert). C(urlFile) is a file with the complete URL, and is
        read again for each connection. If both C(url) and C(urlFile) are missing, C(BROKER_RABBITMQ_URL) is used.
        The queue is C({queue or exchange}-{subscription}), or C(queue) alone if C(subscription) is missing. The
        source creates it if it does not exist.
      - C(type=gcp-pubsub) has C(projectId), C(subscription), C(endpoint) and C(ackDeadline). An endpoint that
        begins with C(http://), and the one in C(PUBSUB_EMULATOR_HOST), are emulators, which the source uses without
        TLS and credentials.
      - C(type=webhook) has C(listen), C(path) and C(tokenFile). C(listen) is a mapping with C(address) (the
        default is C(127.0.0.1)) and C(port) (the default is 8081), or a string such as C(127.0.0.1:8081).
        C(tokenFile) holds the bearer token that requests must have. It is required unless the address is a
        loopback address. The webhook answers 202 when the event is queued. The queue is in memory.
      - All types have C(prefetch), the maximum number of unacknowledged messages. The default is twice the size
        of O(batch).
    type: dict
  batch:
    description:
      - C(size) is the maximum number of clusters in one run, from 1 to 1000. The default is 1000.
      - C(window) is the number of seconds for which events are collected, from the first waiting one. The default
        is 1.
      - These values replace those of the AdapterConfig.
    type: dict
  run_dir:
    description:
      - Directory for the directories of runs. Only this user may have access to it (mode 0700). The source creates
        it if it does not exist.
      - At its start, the source removes the directories that killed processes left. If a run of a killed process
        is still working, its clusters wait until it ends.
      - The default is a directory in C(XDG_RUNTIME_DIR), or in the directory for temporary files.
    type: path
  start_timeout:
    description: Seconds in which a run must start while ansible-rulebook runs no other action.
    type: float
    default: 60
  tries:
    description:
      - Number of runs without a result after which a cluster's message is acknowledged anyway. The source logs
        and counts such a cluster.
    type: int
    default: 3
"""

EXAMPLES = r"""
- hyperfleet.pull_secret.cluster_events:
    adapter_config: /etc/hyperfleet/adapter.yml

- hyperfleet.pull_secret.cluster_events:
    broker:
      type: rabbitmq
      urlFile: /etc/hyperfleet/broker/url
      topic: hyperfleet-clusters
      subscription: pullsecret
    batch:
      size: 200
      window: 2
"""


def _find_collection() -> None:
    """Make the collection that this file is in importable.

    ansible-rulebook loads sources by their path and knows nothing of collections.
    """
    path = Path(__file__).absolute()
    if path.parts[-8:-5] != ("ansible_collections", "hyperfleet", "pull_secret"):
        return
    sys.path.append(str(path.parents[7]))
    import ansible_collections

    # The package `ansible` has a module of this name for its own collections only.
    if str(path.parents[6]) not in ansible_collections.__path__:
        ansible_collections.__path__.append(str(path.parents[6]))


_find_collection()

from ansible_collections.hyperfleet.pull_secret.extensions.eda.monitoring.start import (  # noqa: E402
    start_monitoring,
)
from ansible_collections.hyperfleet.pull_secret.extensions.eda.receiving.batching import (  # noqa: E402
    BatchQueue,
)
from ansible_collections.hyperfleet.pull_secret.extensions.eda.receiving.playbook_runs import (  # noqa: E402
    LOGGER,
    PlaybookRuns,
)
from ansible_collections.hyperfleet.pull_secret.extensions.eda.receiving.receiver import (  # noqa: E402
    Receiver,
)
from ansible_collections.hyperfleet.pull_secret.extensions.eda.receiving.run_directories import (  # noqa: E402
    RunDirectories,
)
from ansible_collections.hyperfleet.pull_secret.extensions.eda.receiving.settings import (  # noqa: E402
    parse_cluster_events_settings,
)
from ansible_collections.hyperfleet.pull_secret.extensions.eda.receiving.signals import (  # noqa: E402
    restore_signal_handlers,
)
from ansible_collections.hyperfleet.pull_secret.extensions.eda.watching.batches import (  # noqa: E402
    Queue,
    engine_is_busy,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import (  # noqa: E402
    ConfigurationError,
)


async def main(queue: Queue, args: dict[str, Any]) -> None:
    """Put events until it is cancelled.

    It never returns, which would end ansible-rulebook. It raises only errors of its arguments.
    """
    settings = parse_cluster_events_settings(args)
    run_directories = RunDirectories(settings.run_dir)
    run_directories.open()
    restore_signal_handlers()
    try:
        async with start_monitoring(settings.config) as recorder:
            while True:
                runs = PlaybookRuns(
                    queue, run_directories, recorder, start=settings.start, busy=engine_is_busy
                )
                batch_queue = BatchQueue(settings.size, settings.window, settings.tries)
                receiver = Receiver(settings.broker, batch_queue, runs, run_directories, recorder)
                try:
                    await receiver.run()
                except ConfigurationError:
                    raise
                except Exception as error:  # noqa: BLE001 - the end of a source ends the rulebook
                    # A defect of ours. Unacknowledged messages are delivered again.
                    name = type(error).__name__
                    LOGGER.error(
                        "internal error (%s): the event source starts again; please report this", name
                    )
                await asyncio.sleep(5.0)
    finally:
        run_directories.close()
