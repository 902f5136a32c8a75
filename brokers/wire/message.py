"""What every generated message class shares."""

from typing import Any, ClassVar, TypeAlias

from brokers.ids import Buffer
from brokers.ports import FileRange

# What is answered may come from several places of a log, or only say where it lies; what is asked is one slice.
Records: TypeAlias = Buffer | list[Buffer] | tuple[Buffer, ...] | FileRange
# A part of what is sent: bytes, or where they are.
Chunk: TypeAlias = Buffer | FileRange
EMPTY: Any = object()  # stands for "a new empty list" (or struct) in the constructors of messages


class Message:
    """A mutable value with named fields (its slots), one class for all versions of the wire.

    Each constructor takes its fields by keyword; those left out get the protocol's default.
    """

    __slots__: tuple[str, ...] = ()
    __hash__: ClassVar[None]  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self.__slots__)

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__slots__)
        return f"{type(self).__name__}({fields})"
