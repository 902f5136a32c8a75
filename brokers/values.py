"""Values that are made for every request, and so have to be made cheaply."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

Class = TypeVar("Class")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def value(cls: type[Class]) -> type[Class]:
    """A slotted dataclass that the type checker holds to be frozen.

    At run time nothing stops an assignment: that guard would make the making three times as dear.
    """
    make: Callable[[type[Class]], type[Class]] = dataclass(slots=True, unsafe_hash=True)
    return make(cls)
