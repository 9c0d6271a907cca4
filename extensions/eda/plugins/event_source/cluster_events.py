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
short_description: Receive HyperFleet's cluster events, and have one playbook run for many of them
description:
  - Receives CloudEvents from RabbitMQ, Google Cloud Pub/Sub or by HTTP, as the HyperFleet sentinel publishes
    them. Of an event only the cluster's id is used (C(data.id)); any type, a missing C(time), a missing
    content type and further fields are taken. What names no cluster is counted, logged and acknowledged.
  - Events are collected by cluster into batches. One run is asked for a batch, and the next one when it has
    ended, so that no cluster is in two runs at once.
  - A message is acknowledged when the run of its cluster has ended, whatever it found - a failed cluster is
    published again by the sentinel. Of a cluster that waits only the newest message is kept; those before it
    are acknowledged when it comes.
  - The run is given a directory. It holds C(lock) there while it works, and writes C(result.json) at its end.
    A run that ends without a result, or does not begin, is asked for again with growing pauses.
  - A cluster whose result has C(again) is looked at again after so many seconds, without an event. The pauses
    double up to a minute for as long as looks find the same.
  - Events are C({"cluster_events":{"cluster_ids":[…],"run":"…","traceparents":{…}}}).
options:
  adapter_config:
    description:
      - Path of the AdapterConfig, an absolute one; its C(spec.broker) and C(spec.batch) are used.
      - Either this or O(broker) is needed.
    type: path
  broker:
    description:
      - The broker, in the words of the AdapterConfig's C(spec.broker).
      - C(type=rabbitmq) with C(url) or C(urlFile) (a file with the whole address, read again at each
        connection; without either, C(BROKER_RABBITMQ_URL)), C(topic) or C(exchange), C(exchangeType)
        (C(topic), the default, or C(fanout)), C(subscription), C(queue), C(caCert). The queue is
        C({queue or exchange}-{subscription}); it is made if it is not there.
      - C(type=gcp-pubsub) with C(projectId), C(subscription), C(endpoint) (C(http://) in front is an
        emulator, as is C(PUBSUB_EMULATOR_HOST)), C(ackDeadline).
      - C(type=webhook) with C(listen) (C(address), C(127.0.0.1) by default, and C(port), 8081 by default, or
        both as C(127.0.0.1:8081)), C(path), C(tokenFile) (what requests have to carry
        as a bearer token; only on loopback may it be left out). It answers 202 when the event is in the
        collection, which is in memory.
      - All have C(prefetch), the number of messages that are held at most, twice O(batch) by default.
    type: dict
  batch:
    description:
      - C(size) is how many clusters there are in a run at most, 1000 by default and at most. C(window) is for
        how many seconds events are collected, from the first that waits, 1 by default.
      - They are instead of the AdapterConfig's.
    type: dict
  run_dir:
    description:
      - Directory for the runs' directories, of this user alone (0700). What killed processes left there is
        removed; a run of theirs that is still at work is waited for by the clusters that it has.
      - The default is in C(XDG_RUNTIME_DIR), else in the directory for temporary files.
    type: path
  start_timeout:
    description: Seconds in which a run has to begin while ansible-rulebook has nothing else to do.
    type: float
    default: 60
  tries:
    description:
      - How many runs may end without a result before a cluster's message is acknowledged all the same.
        That is logged and counted.
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
