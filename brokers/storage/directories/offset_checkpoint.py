"""One offset checkpoint of a log directory (Kafka's `OffsetCheckpointFile`): written at once, or by another thread."""

from collections.abc import Mapping

from brokers.ids import Offset, TopicPartition
from brokers.ports import Files, Replacing
from brokers.storage.directories.checkpoint_files import (
    CheckpointError,
    format_offsets,
    parse_offsets,
)


class OffsetCheckpointFile:
    """`offsets` now, `_saved` on disk; or still those before it, until `_begun` is durable."""

    def __init__(self, files: Files, name: str) -> None:
        self._files = files
        self._name = name
        self.repair = ""
        self._saved = self._before = self._load()
        self._begun: Replacing | None = None
        self.offsets = dict(self._saved)

    def _load(self) -> dict[TopicPartition, Offset]:
        if not self._files.exists(self._name):
            return {}
        try:
            return parse_offsets(self._files.read(self._name, 0, self._files.size(self._name)))
        except CheckpointError as error:
            self.repair = f"{self._name}: unreadable, ignored: {error}"
            return {}

    def get(self, partition: TopicPartition) -> Offset:
        return self.offsets.get(partition, 0)

    @property
    def _on_disk(self) -> tuple[Mapping[TopicPartition, Offset], ...]:
        """One of these."""
        is_sure = self._begun is None or self._begun.is_durable
        return (self._saved,) if is_sure else (self._before, self._saved)

    def surely_saved(self, partition: TopicPartition) -> Offset:
        """The lowest that the disk may have."""
        return min(each.get(partition, 0) for each in self._on_disk)

    def is_above(self, partition: TopicPartition, offset: Offset) -> bool:
        """Whether it is now, or may be on disk."""
        known = (self.offsets, *self._on_disk)
        return max(each.get(partition, 0) for each in known) > offset

    def may_have(self, partition: TopicPartition) -> bool:
        """Whether the disk may have the partition."""
        return any(partition in each for each in self._on_disk)

    def save(self) -> None:
        """Write the file if it changed. What was begun ends before. Raises `DiskError`."""
        if self._begun is not None:
            self._begun.give_up()
        if self.offsets != self._saved or len(self._on_disk) > 1:
            self._files.replace(self._name, format_offsets(self.offsets))
            self._saved = dict(self.offsets)
        self._begun = None

    def save_failed(self) -> None:
        """`save`, where what was begun has failed. Raises `DiskError`."""
        if self._begun is not None and self._begun.is_over and not self._begun.is_durable:
            self.save()

    def begin_save(self) -> Replacing | None:
        """`save` for another thread; None where nothing changed, or what was begun before is not durable yet."""
        if self.offsets == self._saved or len(self._on_disk) > 1:
            return None
        self._before, self._saved = self._saved, dict(self.offsets)
        self._begun = self._files.begin_replace(self._name, format_offsets(self._saved))
        return self._begun
