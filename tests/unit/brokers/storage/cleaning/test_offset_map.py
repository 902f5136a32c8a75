"""The map of keys against a dict."""

import random

from brokers.storage.cleaning.offset_map import BUCKET, OffsetMap, SmallOffsetMap


def test_it_is_a_dict_up_to_its_last_entry(rng: random.Random) -> None:
    made = OffsetMap(BUCKET * 50, 1.0, 1_000)
    model: dict[bytes, int] = {}
    for offset in range(1_000, 8_000):
        key = b"key-%d" % rng.randrange(10_000)
        if key in model or len(model) < made.keys_max:
            made.put(key, offset)
            model[key] = offset
    assert made.size == len(model) == made.keys_max == BUCKET * 50
    assert {key: made.get(key) for key in model} == model


def test_a_key_that_is_not_there_is_known_as_such(rng: random.Random) -> None:
    made = OffsetMap(1_000, 0.9, 5)
    for number in range(made.keys_max):
        made.put(b"%d" % number, 5 + number)
    assert all(made.get(b"x%d" % number) == -1 for number in range(5_000))


def test_ten_million_keys_take_128_megabytes() -> None:
    assert OffsetMap((128 << 20) // 12, 0.9, 0).keys_max > 10_000_000


def test_an_offset_may_lie_four_billion_above_the_first() -> None:
    made = OffsetMap(BUCKET, 1.0, 1 << 40)
    made.put(b"", (1 << 40) + 2**32 - 1)
    assert made.get(b"") == (1 << 40) + 2**32 - 1


def test_a_small_one_is_the_same_and_knows_its_memory(rng: random.Random) -> None:
    small, large = SmallOffsetMap(100_000, 0), OffsetMap(BUCKET * 50, 1.0, 0)
    base = 0
    while small.has_room(10):
        keys = [
            rng.choice([None, b"%d" % rng.randrange(400), rng.randbytes(100)]) for _ in range(9)
        ]
        for made in (small, large):
            made.put_all(keys, base)
        assert [made.get(key) for made in (small, large) for key in keys if key] == 2 * [
            base + len(keys) - 1 - keys[::-1].index(key) for key in keys if key
        ]
        base += len(keys)
    assert small.size == large.size
    assert 300 < small.size < 100_000 // 200
