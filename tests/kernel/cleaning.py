"""What a host does for compaction between the effects of a core: digests of sealed segments, and cleanings."""

from collections.abc import Callable, Iterator

from brokers.events import Event
from brokers.ids import TopicPartition
from brokers.ports import Files
from brokers.storage.cleaning.cleaning_plan import CleanedSegment, CleaningPlan
from brokers.storage.cleaning.log_cleaning import LogCleaning
from brokers.storage.log_manager import LogManager
from brokers.storage.storage import Storage

MakeCleaning = Callable[[Files, CleaningPlan], LogCleaning]


def digest_steps(storage: Storage | LogManager, partition: TopicPartition) -> Iterator[list[Event]]:
    """The digests that a log waits for -> the events of each."""
    while partition in storage.undigested:
        writing = storage.begin_digest(partition)
        assert all(step is None for step in writing.steps())
        yield storage.end_digest(partition, writing)


def cleaning_steps(
    storage: Storage | LogManager,
    partition: TopicPartition,
    make_cleaning: MakeCleaning = LogCleaning,
) -> Iterator[list[Event]]:
    """The cleanings of a log that wait, step by step -> the events of each. The log may go on between two steps."""
    while partition in storage.uncleaned:
        cleanings = storage.cleanings_of(partition)
        cleaning = cleanings.begin(partition)
        for step in make_cleaning(cleanings.files, cleaning.plan).steps():
            if isinstance(step, CleanedSegment):
                swap = cleanings.begin_swap(partition, cleaning, step)
                while not swap.is_over:
                    yield swap.advance()
                    swap.sync()
            elif isinstance(step, int):
                yield []
            else:
                yield cleanings.end(partition, cleaning, step)
