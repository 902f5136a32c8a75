"""What links ask about groups with members, and the answers; part of `region`."""

from collections.abc import Mapping
from dataclasses import dataclass

from brokers.ids import Ticket


@dataclass(frozen=True, slots=True)
class DescribeGroups:
    """Ask whether groups have members, wherever they are coordinated -> `GroupsDescribed`."""

    ticket: Ticket
    groups: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FindReaders:
    """Ask which groups that have members read topics, wherever they are coordinated -> `ReadersFound`."""

    ticket: Ticket
    topics: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GroupsDescribed:
    """Whether each group has members. One whose coordinator did not answer is left out."""

    ticket: Ticket
    active: Mapping[str, bool]


@dataclass(frozen=True, slots=True)
class ReadersFound:
    """By topic: the groups that have members, and have committed offsets of the topic or have a member that subscribes
    to it. There may be more of them where something is `unknown`: why, for the operator."""

    ticket: Ticket
    groups: Mapping[str, tuple[str, ...]]
    unknown: tuple[str, ...] = ()
