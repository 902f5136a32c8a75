"""The map of keys against a dict."""

import random

import numpy as np

from brokers.storage.cleaning.key_hashes import KeyHashes, key_hashes
from brokers.storage.cleaning.offset_map import ENTRIES_MIN, ENTRY_BYTES, OffsetMap


def hashed(keys: list[bytes]) -> KeyHashes:
    """As they lie one after the other."""
    data = np.frombuffer(b"".join(keys), np.uint8)
    ends = np.cumsum([len(each) for each in keys], dtype=np.int64)
    return key_hashes(data, np.concatenate([np.zeros(1, np.int64), ends])[:-1], ends)


def put(made: OffsetMap, keys: list[bytes], base: int) -> None:
    made.put_all(hashed(keys), np.arange(base, base + len(keys)))


def test_it_is_a_dict_up_to_its_last_entry(rng: random.Random) -> None:
    made = OffsetMap(1_600, 1.0, 1_000)
    model: dict[bytes, int] = {}
    offset = 1_000
    while made.size < made.keys_max:
        keys = [b"key-%d" % rng.randrange(10_000) for _ in range(rng.choice([1, 2, 30, 200]))]
        keys += rng.choices(keys, k=len(keys) // 3)  # some come again at once
        while not made.has_room(len({*keys} - {*model})):
            keys.pop()
        put(made, keys, offset)
        model.update(zip(keys, range(offset, offset + len(keys)), strict=True))
        offset += len(keys)
        assert made.size == len(model)
    assert made.keys_max == made.entries - 1
    assert made.get_all(hashed([*model])).tolist() == [*model.values()]
    strangers = [b"key-%d" % number for number in range(10_000) if b"key-%d" % number not in model]
    assert set(made.get_all(hashed(strangers)).tolist()) == {-1}


def test_the_last_of_equal_keys_is_kept_and_counted_once() -> None:
    made = OffsetMap(ENTRIES_MIN, 1.0, 5)
    put(made, [b"a", b"", b"a", b"b", b"", b"a"], 5)
    assert made.get_all(hashed([b"a", b"", b"b", b"c"])).tolist() == [10, 9, 8, -1]
    assert made.size == 3


def test_no_keys_are_no_work() -> None:
    made = OffsetMap(ENTRIES_MIN, 1.0, 0)
    put(made, [], 0)
    assert made.size == 0 and made.get_all(hashed([])).tolist() == []


def test_ten_million_keys_take_128_megabytes() -> None:
    made = OffsetMap((128 << 20) // ENTRY_BYTES, 0.9, 0)
    assert made.keys_max > 10_000_000
    assert made.entries * ENTRY_BYTES <= 128 << 20


def test_an_offset_may_lie_four_billion_above_the_first() -> None:
    made = OffsetMap(ENTRIES_MIN, 1.0, 1 << 40)
    put(made, [b""], (1 << 40) + 2**32 - 1)
    assert made.get_all(hashed([b""])).tolist() == [(1 << 40) + 2**32 - 1]
