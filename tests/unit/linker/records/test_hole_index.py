"""The ledger by topic, as the metadata log changes: what a walk over all documents would find."""

from dataclasses import replace
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from brokers.ids import TopicPartition
from brokers.metadata.image.image import Document, Image, TopicImage
from linker.records.documents import decode
from linker.records.hole_ledger import (
    Hole,
    HoleCause,
    HoleIndex,
    decode_hole,
    in_order,
    put,
)

TOPICS = ("orders", "bills")
HOLES = st.builds(
    Hole,
    st.builds(TopicPartition, st.sampled_from(TOPICS), st.integers(0, 1)),
    st.integers(0, 3),
    st.integers(4, 6),
    st.sampled_from(HoleCause),
    st.integers(0, 9),
    st.sampled_from([None, UUID(int=1), UUID(int=2)]),
    st.sampled_from([None, 5]),
)


def region(topics: dict[str, UUID]) -> Image:
    image = Image("east")
    for name, topic_id in topics.items():
        image.topics_by_name[name] = TopicImage(name, topic_id, ())
    return image


def change(image: Image, hole: Hole, *, is_removed: bool, version: int) -> tuple[str, str]:
    written = put(hole)
    key = (written.kind, written.name)
    if is_removed:
        image.documents.pop(key, None)
    else:
        assert written.body is not None
        image.documents[key] = Document(written.kind, written.name, version, written.body)
    return key


@given(st.lists(st.tuples(HOLES, st.booleans()), max_size=20))
def test_an_index_that_follows_has_what_a_walk_over_all_documents_finds(
    changes: list[tuple[Hole, bool]],
) -> None:
    image = region({"orders": UUID(int=1)})
    index = HoleIndex()
    for version, (hole, is_removed) in enumerate(changes):
        changed = change(image, hole, is_removed=is_removed, version=version)
        index.follow(image, [changed, ("link", "orders")])
        everything = [decode_hole(found.body) for found in image.documents.values()]
        assert sorted(map(str, index.all())) == sorted(map(str, everything))
        of_orders = [
            one for one in everything if one.partition.topic == "orders" and one.is_of(UUID(int=1))
        ]
        assert sorted(map(str, index.of(image, "orders"))) == sorted(map(str, of_orders))
        assert index.of(image, "bills") == [], "there is no such topic"


def test_an_earlier_release_reads_a_cause_that_it_knows() -> None:
    hole = Hole(TopicPartition("orders", 0), 0, 4, HoleCause.SOURCE_DELETED_RECORDS, 1)
    body = put(hole).body
    assert body is not None
    assert decode_hole(body) == hole
    assert decode(body)["cause"] == "SOURCE_LOG_START"


def test_an_entry_that_is_marked_when_its_topic_goes_is_not_of_the_next_topic() -> None:
    image = region({"orders": UUID(int=1)})
    index = HoleIndex()
    hole = Hole(TopicPartition("orders", 0), 0, 4, HoleCause.SOURCE_LOG_START, 1, UUID(int=1))
    index.follow(image, [change(image, hole, is_removed=False, version=1)])
    marked = replace(hole, deleted_at=9)
    index.follow(
        image,
        [
            change(image, hole, is_removed=True, version=2),
            change(image, marked, is_removed=False, version=3),
        ],
    )
    image.topics_by_name["orders"] = TopicImage("orders", UUID(int=2), ())
    assert index.of(image, "orders") == []
    assert list(index.all()) == [marked]


def test_starts_at_latest_that_skip_nothing_are_not_shown() -> None:
    start = Hole(TopicPartition("orders", 0), 4, 4, HoleCause.START_OFFSET_LATEST, 1)
    first = Hole(TopicPartition("bills", 1), 0, 4, HoleCause.SOURCE_LOG_START, 1)
    second = replace(first, partition=TopicPartition("bills", 0), base_offset=2)
    assert in_order([start, first, second]) == [second, first]
