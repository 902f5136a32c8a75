"""Many topics, some of which are done at once and some later."""

import pytest

from linker.administration.each_topic import AT_ONCE, EachTopic, Ended
from linker.region_client import Effects


@pytest.mark.parametrize("count", [0, 1, AT_ONCE, 5_000])
def test_topics_that_end_at_once_are_not_calls_in_one_another(count: int) -> None:
    """A link that is paused answers at once for each: several hundred topics were too many for the interpreter."""
    begun: list[str] = []
    over: list[int] = []

    def begin(topic: str, ended: Ended, now: int) -> Effects:
        begun.append(topic)
        return ended(now)

    def done(now: int) -> Effects:
        over.append(now)
        return []

    topics = [f"t{index}" for index in range(count)]
    assert EachTopic(topics, begin, done).go_on(7) == []
    assert begun == topics and over == [7]


def test_no_more_are_under_way_than_may_be() -> None:
    waiting: list[Ended] = []
    begun: list[str] = []
    over: list[int] = []

    def begin(topic: str, ended: Ended, now: int) -> Effects:
        begun.append(topic)
        waiting.append(ended)
        return []

    def done(now: int) -> Effects:
        over.append(now)
        return []

    topics = [f"t{index}" for index in range(2 * AT_ONCE + 1)]
    EachTopic(topics, begin, done).go_on(0)
    for now in range(len(topics)):
        assert len(waiting) <= AT_ONCE and not over
        waiting.pop()(now)
    assert begun == topics and over == [len(topics) - 1]
