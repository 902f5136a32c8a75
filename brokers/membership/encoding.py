"""Commands, and what becomes of them, as they travel between nodes: JSON, by the types of their fields.

Kafka's requests don't cover what links ask of a controller, so a command that has to travel is encoded here and put
into an Envelope (KIP-590). Both ends must speak the same version: what is unknown, missing or of another type is
refused whole.
"""

import base64
import binascii
import json
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, is_dataclass
from enum import Enum
from functools import cache
from typing import Any, Union, get_args, get_origin, get_type_hints
from uuid import UUID

from brokers.errors import KafkaError, Refusal
from brokers.ids import LeaderEpoch, Offset
from brokers.metadata.commands.broker_commands import (
    BrokerHeartbeat,
    BrokerHeartbeatReply,
    FenceBroker,
    RegisterBroker,
    RegisterController,
    UnregisterBroker,
    UpdateFeatures,
)
from brokers.metadata.commands.commands import Command
from brokers.metadata.commands.config_commands import AlterConfigs, ConfigOutcome
from brokers.metadata.commands.document_commands import PutDocuments
from brokers.metadata.commands.mirror_commands import (
    CreateMirrorTopic,
    RaiseLeaderEpochs,
    SetTopicWriter,
)
from brokers.metadata.commands.producer_id_commands import AllocateProducerIds, ProducerIdBlock
from brokers.metadata.commands.replica_commands import (
    AlterPartition,
    AlterPartitionReassignments,
    AssignedReplica,
    AssignReplicasToDirs,
    BalanceLeaders,
    ElectLeaders,
    InSyncOutcome,
    PartitionOutcome,
)
from brokers.metadata.commands.topic_commands import (
    CreatePartitions,
    CreateTopics,
    DeleteTopics,
    TopicOutcome,
)

VERSION = 1
INT64_MAX = 2**63 - 1

# What each command is answered with, beside a `Refusal`.
RESULTS: Mapping[type, Any] = {
    CreateTopics: tuple[TopicOutcome, ...],
    DeleteTopics: tuple[TopicOutcome, ...],
    CreatePartitions: tuple[TopicOutcome, ...],
    CreateMirrorTopic: TopicOutcome,
    SetTopicWriter: Mapping[int, LeaderEpoch],
    RaiseLeaderEpochs: Mapping[int, LeaderEpoch],
    AlterConfigs: tuple[ConfigOutcome, ...],
    RegisterBroker: int,
    AllocateProducerIds: ProducerIdBlock,
    PutDocuments: Mapping[tuple[str, str], Offset],
    BrokerHeartbeat: BrokerHeartbeatReply,
    FenceBroker: types.NoneType,
    UnregisterBroker: types.NoneType,
    RegisterController: types.NoneType,
    UpdateFeatures: types.NoneType,
    AlterPartition: tuple[InSyncOutcome, ...],
    ElectLeaders: tuple[PartitionOutcome, ...],
    BalanceLeaders: int,
    AlterPartitionReassignments: tuple[PartitionOutcome, ...],
    AssignReplicasToDirs: tuple[AssignedReplica, ...],
}
_COMMANDS = {command.__name__: command for command in RESULTS}


class EncodingError(ValueError):
    """What came is not a command, or not the result of the one that was sent."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a command; it is in force where the metadata log has been read up to `next_offset`."""

    result: object | Refusal
    next_offset: Offset


def encode_command(command: Command) -> bytes:
    kind: type = type(command)
    body = _coder(kind).encode(command)
    return _dump({"version": VERSION, "command": kind.__name__, "body": body})


def decode_command(data: bytes) -> Command:
    """Raises EncodingError."""
    read = _load(data, {"version", "command", "body"})
    kind = _COMMANDS.get(read["command"]) if isinstance(read["command"], str) else None
    if kind is None:
        raise EncodingError(f"there is no command {read['command']!r}")
    command: Command = _coder(kind).decode(read["body"])
    return command


def encode_outcome(command: type, outcome: Outcome) -> bytes:
    read: dict[str, Any] = {"version": VERSION, "next_offset": outcome.next_offset}
    if isinstance(outcome.result, Refusal):
        read |= {"error": outcome.result.error.value, "because": outcome.result.because}
    else:
        read["result"] = _coder(RESULTS[command]).encode(outcome.result)
    return _dump(read)


def decode_outcome(command: type, data: bytes) -> Outcome:
    """Raises EncodingError."""
    try:
        read = _load(data, {"version", "next_offset", "result"})
        result = _coder(RESULTS[command]).decode(read["result"])
    except EncodingError:
        read = _load(data, {"version", "next_offset", "error", "because"})
        error, because = _coder(KafkaError).decode(read["error"]), _string(read["because"])
        result = Refusal(error, because)
    return Outcome(result, _integer(read["next_offset"]))


def _dump(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _load(data: bytes, names: set[str]) -> dict[str, Any]:
    try:
        read = json.loads(bytes(data))
    except (ValueError, RecursionError) as error:
        raise EncodingError(f"not JSON: {error}") from None
    if not isinstance(read, dict) or set(read) != names:
        raise EncodingError(f"not an object of {sorted(names)}")
    if read["version"] != VERSION:
        raise EncodingError(f"version {read['version']!r}; this node speaks {VERSION}")
    return read


# --- values, by their types ---


@dataclass(frozen=True, slots=True)
class _Coder:
    """`encode` takes a value of the type, `decode` whatever came as JSON."""

    encode: Callable[[Any], Any]
    decode: Callable[[Any], Any]


@cache
def _coder(kind: Any) -> _Coder:
    origin = get_origin(kind)
    if origin is tuple:
        return _tuple(get_args(kind))
    if origin is not None and _is_class_of(origin, Mapping):
        return _mapping(*get_args(kind))
    if origin in (Union, types.UnionType):
        return _union(get_args(kind))
    if isinstance(kind, type) and (is_dataclass(kind) or hasattr(kind, "_fields")):
        return _by_name(kind)
    if _is_class_of(kind, Enum):
        return _enum(kind)
    return _PLAIN[kind]


def _is_class_of(kind: Any, of: type) -> bool:
    return isinstance(kind, type) and issubclass(kind, of)


def _tuple(items: tuple[Any, ...]) -> _Coder:
    if items[-1] is Ellipsis:
        item = _coder(items[0])
        return _Coder(
            lambda value: [item.encode(each) for each in value],
            lambda read: tuple(item.decode(each) for each in _list(read)),
        )
    coders = [_coder(each) for each in items]
    return _Coder(
        lambda value: [coder.encode(each) for coder, each in zip(coders, value, strict=True)],
        lambda read: tuple(
            coder.decode(each) for coder, each in zip(coders, _list(read, len(coders)), strict=True)
        ),
    )


def _mapping(key_type: Any, value_type: Any) -> _Coder:
    """As pairs, since JSON knows keys of one type only."""
    pair = _tuple((key_type, value_type))

    def decode(read: Any) -> dict[Any, Any]:
        pairs = [pair.decode(each) for each in _list(read)]
        if len(found := dict(pairs)) < len(pairs):
            raise EncodingError("a key is given twice")
        return found

    return _Coder(lambda value: [pair.encode(each) for each in value.items()], decode)


def _union(kinds: tuple[Any, ...]) -> _Coder:
    named = {kind.__name__: kind for kind in kinds if kind is not types.NoneType}
    some = _coder(next(iter(named.values()))) if len(named) == 1 else _one_of(named)
    if types.NoneType not in kinds:
        return some
    return _Coder(
        lambda value: None if value is None else some.encode(value),
        lambda read: None if read is None else some.decode(read),
    )


def _one_of(kinds: dict[str, type]) -> _Coder:
    """The value says which of the types it is of."""

    def encode(value: Any) -> Any:
        name = next(name for name, kind in kinds.items() if isinstance(value, kind))
        return [name, _coder(kinds[name]).encode(value)]

    def decode(read: Any) -> Any:
        name, value = _list(read, 2)
        if not isinstance(name, str) or name not in kinds:
            raise EncodingError(f"{name!r} is none of {sorted(kinds)}")
        return _coder(kinds[name]).decode(value)

    return _Coder(encode, decode)


def _by_name(kind: type) -> _Coder:
    """Dataclasses and named tuples."""
    hints = get_type_hints(kind)
    coders = {name: _coder(hint) for name, hint in hints.items()}

    def decode(read: Any) -> Any:
        if not isinstance(read, dict) or set(read) != set(coders):
            raise EncodingError(f"not a {kind.__name__}")
        return kind(**{name: coder.decode(read[name]) for name, coder in coders.items()})

    return _Coder(
        lambda value: {name: coder.encode(getattr(value, name)) for name, coder in coders.items()},
        decode,
    )


def _enum(kind: type[Enum]) -> _Coder:
    def decode(read: Any) -> Enum:
        if isinstance(read, bool) or not isinstance(read, int | str):
            raise EncodingError(f"{read!r} is no {kind.__name__}")
        try:
            return kind(read)
        except ValueError as error:
            raise EncodingError(str(error)) from None

    return _Coder(lambda value: value.value, decode)


def _nothing(read: Any) -> None:
    if read is not None:
        raise EncodingError("not null")


def _list(read: Any, length: int | None = None) -> list[Any]:
    if not isinstance(read, list) or length not in (None, len(read)):
        raise EncodingError("not a list of the right length")
    return read


def _integer(read: Any) -> int:
    if type(read) is not int or not -INT64_MAX - 1 <= read <= INT64_MAX:
        raise EncodingError("not an int64")
    return read


def _boolean(read: Any) -> bool:
    if not isinstance(read, bool):
        raise EncodingError("neither true nor false")
    return read


def _string(read: Any) -> str:
    """JSON can say half of a surrogate pair, which no record could hold."""
    if not isinstance(read, str):
        raise EncodingError("not a string")
    try:
        read.encode()
    except UnicodeEncodeError as error:
        raise EncodingError(str(error)) from None
    return read


def _uuid(read: Any) -> UUID:
    try:
        return UUID(_string(read))
    except ValueError as error:
        raise EncodingError(str(error)) from None


def _bytes(read: Any) -> bytes:
    try:
        return base64.b64decode(_string(read), validate=True)
    except binascii.Error as error:
        raise EncodingError(str(error)) from None


_PLAIN: Mapping[Any, _Coder] = {
    types.NoneType: _Coder(lambda value: None, _nothing),
    int: _Coder(int, _integer),
    bool: _Coder(bool, _boolean),
    str: _Coder(str, _string),
    UUID: _Coder(str, _uuid),
    bytes: _Coder(lambda value: base64.b64encode(value).decode(), _bytes),
}
