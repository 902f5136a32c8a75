"""The base of all generated message classes."""

from typing import Any, ClassVar, TypeAlias

from brokers.ids import Buffer
from brokers.ports import FileRange

# A response's records may be several slices of a log, or ranges of its files; a request's records are one slice.
Records: TypeAlias = Buffer | list[Buffer] | tuple[Buffer, ...] | FileRange
# A part of an encoded message: bytes, or a range of a file.
Chunk: TypeAlias = Buffer | FileRange
EMPTY: Any = object()  # stands for "a new empty list" (or struct) in the constructors of messages


class Message:
    """A mutable value with named fields (its slots); one class for all versions of a message.

    The constructor takes fields by keyword; a field that is left out gets the protocol's default.
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
