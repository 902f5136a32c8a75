"""What a process does in the background, all at once: digests of sealed segments, compaction."""

from collections.abc import Callable
from typing import Any

from brokers.effects import CleanLog
from brokers.storage.storage import Storage
from tests.kernel.cleaning import cleaning_steps, digest_steps


def work_off(
    storage: Storage,
    feed: Callable[[Any], None],
    adjust: Callable[[CleanLog], CleanLog] = lambda effect: effect,
) -> None:
    """Until nothing waits any more. `feed` gets every event, in order, and may lead to more of it. `adjust` may make a
    cleaning another one."""
    while storage.undigested or storage.uncleaned:
        for partition in list(storage.undigested):
            for events in digest_steps(storage, partition):
                for event in events:
                    feed(event)
        for partition in list(storage.uncleaned):
            storage.uncleaned[partition] = adjust(storage.uncleaned[partition])
            for events in cleaning_steps(storage, partition):
                for event in events:
                    feed(event)
