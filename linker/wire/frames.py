"""Frames <-> protobuf bytes. Record bytes are not copied by `decode`, and once by `encode` (into the message).

Chunks are most of the bytes, so their envelope is encoded and decoded here: `Frame{Chunk{head, data}}` with `data` last
is a few bytes of tags and lengths, then the batches. Any protobuf library reads the same.
"""

from typing import Final

from brokers.ids import Buffer
from linker.frames import CHUNK_BYTES_MAX, Chunk, Frame
from linker.wire.compression import compressed, expanded
from linker.wire.frame_decoders import DECODERS, bounds_of, leader_epoch, offset
from linker.wire.frame_encoders import ENCODERS, standing
from linker.wire.limits import FRAME_BYTES_MAX, FrameError
from linker.wire.v1 import link_pb2 as pb

_CHUNK_TAG: Final = pb.Frame.CHUNK_FIELD_NUMBER << 3 | 2
_HEAD_TAG: Final = pb.Chunk.HEAD_FIELD_NUMBER << 3 | 2
_DATA_TAG: Final = pb.Chunk.DATA_FIELD_NUMBER << 3 | 2


def encode(frame: Frame) -> bytes:
    if isinstance(frame, Chunk):
        return _encode_chunk(frame)
    return ENCODERS[type(frame)](frame).SerializeToString()


def decode(data: Buffer, chunk_bytes_max: int = CHUNK_BYTES_MAX) -> Frame | None:
    """None for a kind of frame that this version does not know. Raises FrameError.

    `chunk_bytes_max`: no compressed chunk may be longer.
    """
    if data and data[0] == _CHUNK_TAG:
        return _decode_chunk(data, chunk_bytes_max)
    if len(data) > FRAME_BYTES_MAX:
        raise FrameError(f"a frame of {len(data)} bytes, above {FRAME_BYTES_MAX}")
    message = pb.Frame()
    try:
        message.ParseFromString(bytes(data))
        kind = message.WhichOneof("frame")
        if kind == "frame_part":
            raise FrameError("a part of a frame, within a frame")
        return DECODERS[kind](getattr(message, kind)) if kind is not None else None
    except Exception as error:
        raise FrameError(str(error)) from error


def _encode_chunk(chunk: Chunk) -> bytes:
    smaller = compressed(chunk.data) if chunk.is_compressed else None
    data = chunk.data if smaller is None else smaller
    head = pb.ChunkHead(
        subscription=chunk.subscription,
        offset=chunk.offset,
        next_offset=chunk.next_offset,
        leader_epoch=chunk.leader_epoch,
        roll=chunk.roll,
        standing=standing(chunk.bounds),
        clock=chunk.clock,
        uncompressed_bytes=0 if smaller is None else len(chunk.data),
    ).SerializeToString()
    size = len(data)
    inner = b"".join(
        (bytes((_HEAD_TAG,)), _varint(len(head)), head, bytes((_DATA_TAG,)), _varint(size))
    )
    outer = bytes((_CHUNK_TAG,)) + _varint(len(inner) + size)
    return b"".join((outer, inner, data))


def _decode_chunk(data: Buffer, chunk_bytes_max: int) -> Chunk:
    try:
        size, position = _read_varint(data, 1)
        if position + size != len(data) or data[position] != _HEAD_TAG:
            raise FrameError("a chunk that does not fill its frame")
        head_size, position = _read_varint(data, position + 1)
        head = pb.ChunkHead.FromString(bytes(data[position : position + head_size]))
        position += head_size
        if position >= len(data) or data[position] != _DATA_TAG:
            raise FrameError("a chunk without data")
        data_size, position = _read_varint(data, position + 1)
    except FrameError:
        raise
    except Exception as error:
        raise FrameError(str(error)) from error
    if position + data_size != len(data):
        raise FrameError("a chunk whose data does not end with its frame")
    batches: Buffer = memoryview(data)[position:]
    if head.uncompressed_bytes:
        batches = expanded(batches, head.uncompressed_bytes, chunk_bytes_max)
    return Chunk(
        head.subscription,
        offset(head.offset),
        offset(head.next_offset),
        leader_epoch(head.leader_epoch),
        head.roll,
        bounds_of(head.standing),
        head.clock,
        batches,
        is_compressed=head.uncompressed_bytes > 0,
    )


def _varint(number: int) -> bytes:
    encoded = bytearray()
    while number > 0x7F:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)


def _read_varint(data: Buffer, position: int) -> tuple[int, int]:
    number = shift = 0
    while shift < 64:
        byte = data[position]
        position += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, position
        shift += 7
    raise FrameError("a number without an end")
