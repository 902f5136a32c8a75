"""What a cleaning knows a key by: 96 bits, of many keys at a time.

Nobody may be able to choose keys which are taken for one another. So the hash is one of a family, chosen at random for
each process: products of a key's words of 32 bits and random numbers of 64, of whose sum the upper half is taken; three
times. Two keys have the same 32 bits with a chance of 2^-32, whatever they are (Carter and Wegman 1979; Lemire and
Kaser 2014, "Strongly universal string hashing is fast", as Multilinear). The random numbers come from Python's own hash
of bytes, SipHash with a random secret a process (PEP 456), as do the hashes of keys that are long.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from brokers.records.record_columns import Numbers, Octets

Hashes = NDArray[np.uint64]

_WORD: Final = 8
_LENGTH_MAX: Final = 64  # of a key that is hashed with others
_HASHES: Final = 3
_HALF: Final = np.uint64(32)
_LOW: Final = np.uint64(2**32 - 1)
_MASKS: Final = np.array([(1 << 8 * size) - 1 for size in range(_WORD + 1)], np.uint64)
_SALT: Final = b"\x00place"


def _random(name: str, count: int) -> Hashes:
    return np.array([hash(b"%b %d" % (name.encode(), each)) for each in range(count)]).view(
        np.uint64
    )


_FACTORS: Final = _random("factor", _HASHES * 2 * _LENGTH_MAX // _WORD).reshape(-1, 2, _HASHES)
_LENGTH_FACTORS: Final = _random("length", _HASHES)
_BEGIN: Final = _random("begin", _HASHES)


class KeyHashes(NamedTuple):
    """`stored`: 64 bits, never 0, that tell keys apart; `chosen`: 32 more."""

    stored: Hashes
    chosen: Hashes


def joined(parts: Sequence[KeyHashes]) -> KeyHashes:
    return KeyHashes(*(np.concatenate(each) for each in zip(*parts, strict=True)))


def key_hashes(octets: Octets, starts: Numbers, ends: Numbers) -> KeyHashes:
    """Of the keys at these positions."""
    lengths = ends - starts
    is_long = lengths > _LENGTH_MAX
    sums = _sums(octets, starts, np.where(is_long, 0, lengths))
    high, low, chosen = (each >> _HALF for each in sums)
    stored = high << _HALF | low
    for row in is_long.nonzero()[0].tolist():
        key = octets[starts[row] : ends[row]].tobytes()
        stored[row], chosen[row] = hash(key) & 2**64 - 1, hash(key + _SALT) & 2**32 - 1
    stored[stored == 0] = 1
    return KeyHashes(stored, chosen)


def _sums(octets: Octets, starts: Numbers, lengths: Numbers) -> list[Hashes]:
    """Three sums of products a key, its length among the factors."""
    if len(octets) < _WORD:
        octets = np.concatenate([octets, np.zeros(_WORD, np.uint8)])
    eights = np.lib.stride_tricks.as_strided(octets, (len(octets) - _WORD + 1, _WORD), (1, 1))
    sums = [
        lengths.astype(np.uint64) * factor + begin
        for factor, begin in zip(_LENGTH_FACTORS, _BEGIN, strict=True)
    ]
    for number in range(-(-int(lengths.max(initial=0)) // _WORD)):
        left = lengths - number * _WORD
        words = _words(eights, starts + number * _WORD, left)
        low, high = words & _LOW, words >> _HALF
        for each, first, second in zip(sums, *_FACTORS[number], strict=True):
            each += low * first
            each += high * second
    return sums


def _words(eights: Octets, at: Numbers, left: Numbers) -> Hashes:
    """Up to eight bytes from each position on, of the `left` ones; 0 where none is."""
    last = len(eights) - 1
    inside = np.minimum(at, last)
    words: Hashes = eights[inside].view("<u8")[:, 0].astype(np.uint64, copy=False)
    beyond = at - inside
    if beyond.any():
        words >>= (np.minimum(beyond, _WORD - 1) * 8).astype(np.uint64)
    return words & _MASKS[np.clip(left, 0, _WORD)]
