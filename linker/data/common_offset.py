"""Up to where a mirror partition has what its source has."""

from brokers.ids import Offset


class CommonOffset:
    """`offset` is -1 as long as the source was not asked. What is placed after it has agreed is its, too.

    `source_began_at`: below it the source never held anything; -1: it has not said so.
    """

    def __init__(self) -> None:
        self.offset: Offset = -1
        self.source_began_at: Offset = -1
        self._is_agreed = False

    def agreed(self, offset: Offset) -> Offset:
        """The source goes on from there."""
        self.offset, self._is_agreed = offset, True
        return offset

    def parted(self, offset: Offset, source_began_at: Offset = -1) -> None:
        """The source has other records from there on."""
        self.offset, self._is_agreed = offset, False
        self.source_began_at = source_began_at

    def placed(self, next_offset: Offset) -> None:
        """The log ends there now."""
        if self._is_agreed:
            self.offset = max(self.offset, next_offset)

    def forget(self) -> None:
        """It was asked for something else."""
        self.offset, self._is_agreed = -1, False
