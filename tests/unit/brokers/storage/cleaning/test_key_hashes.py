"""Keys are told apart by their hashes, wherever they lie and however long they are."""

import random

import numpy as np
import pytest

from brokers.storage.cleaning.key_hashes import KeyHashes, joined, key_hashes
from tests.unit.brokers.storage.cleaning.test_offset_map import hashed


def pairs(hashes: KeyHashes) -> list[tuple[int, int]]:
    return list(zip(hashes.stored.tolist(), hashes.chosen.tolist(), strict=True))


def test_keys_that_differ_have_hashes_that_differ(rng: random.Random) -> None:
    keys = {bytes(size) for size in range(150)}  # the length alone tells them apart
    keys |= {b"x" * size + b"\0" for size in range(150)}
    keys |= {b"%d" % number for number in range(2_000)}
    keys |= {number.to_bytes(8, "little") + bytes(60) for number in range(200)}
    some = rng.randbytes(64)
    for bit in range(8 * len(some)):
        keys.add((int.from_bytes(some, "big") ^ 1 << bit).to_bytes(len(some), "big"))
    found = hashed(sorted(keys))
    assert len({*found.stored.tolist()}) == len(keys) and 0 not in found.stored
    assert int(found.chosen.max()) < 2**32


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 12, 63, 64, 65, 300])
def test_a_key_has_its_hashes_wherever_it_lies(size: int, rng: random.Random) -> None:
    key = rng.randbytes(size)
    wanted = pairs(hashed([key]))
    for before, after in ((0, 1), (3, 0), (0, 70), (200, 0), (5, 5)):
        data = rng.randbytes(before) + key + rng.randbytes(after)
        starts = np.array([before])
        assert pairs(key_hashes(np.frombuffer(data, np.uint8), starts, starts + size)) == wanted


def test_long_and_short_keys_are_hashed_in_one_go(rng: random.Random) -> None:
    keys = [rng.randbytes(rng.choice([0, 3, 8, 40, 64, 65, 500])) for _ in range(300)]
    assert pairs(hashed(keys)) == [pair for key in keys for pair in pairs(hashed([key]))]


def test_parts_are_joined_in_their_order() -> None:
    keys = [b"one", b"two", b"three"]
    assert pairs(joined([hashed(keys[:2]), hashed(keys[2:])])) == pairs(hashed(keys))
