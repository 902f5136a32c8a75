"""A cheap dataclass, for values that are created for every request."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

Class = TypeVar("Class")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def value(cls: type[Class]) -> type[Class]:
    """A slotted dataclass that is frozen for the type checker only.

    At run time an assignment is possible: the check of a frozen dataclass would make construction three times as slow.
    """
    make: Callable[[type[Class]], type[Class]] = dataclass(slots=True, unsafe_hash=True)
    return make(cls)
