"""What a process does in the background, all at once: digests of sealed segments, cleanings of compacted logs."""

from collections.abc import Callable
from typing import Any

from brokers.effects import CleanLog
from brokers.storage.cleaning.cleaning_plan import CleanedSegment
from brokers.storage.cleaning.log_cleaning import LogCleaning
from brokers.storage.storage import Storage


def work_off(
    storage: Storage,
    feed: Callable[[Any], None],
    adjust: Callable[[CleanLog], CleanLog] = lambda effect: effect,
) -> None:
    """Until nothing waits any more. `feed` gets every event, in order, and may lead to more of it. `adjust` may make a
    cleaning another one."""
    while storage.undigested or storage.uncleaned:
        for partition in list(storage.undigested):
            writing = storage.begin_digest(partition)
            assert all(step is None for step in writing.steps())
            for event in storage.end_digest(partition, writing):
                feed(event)
        for partition in list(storage.uncleaned):
            storage.uncleaned[partition] = adjust(storage.uncleaned[partition])
            cleaning = storage.cleanings.begin(partition)
            for step in LogCleaning(storage.files, cleaning.plan).steps():
                if isinstance(step, int):
                    continue
                act = (
                    storage.cleanings.swap
                    if isinstance(step, CleanedSegment)
                    else storage.cleanings.end
                )
                for event in act(partition, cleaning, step):  # type: ignore[arg-type, operator]
                    feed(event)
