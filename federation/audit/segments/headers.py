"""The header of a RecordBatch v2 (KIP-98): where its fields are, and what its checksum covers."""

import struct

HEADER = struct.Struct(">qiibIhiqqqhii")
HEADER_BYTES = 61
LENGTH_BYTES = 12
"""Base offset and length, which the length field does not count."""
EPOCH_STOP = 16
"""Where the leader epoch ends: from here on, a mirror's bytes are the source's."""
CHECKED_FROM = 21
"""The checksum covers the batch from here on: base offset, length, leader epoch and magic lie outside it."""
MAGIC = 2
OFFSET_MAX = (1 << 63) - 1
