"""What is made in a thread ahead is what was to be made."""

from collections.abc import Iterator
from threading import Event, current_thread

import pytest

from brokers.shell.reading_ahead import ahead


class Made:
    """Numbers, and how many of them there were so far."""

    def __init__(self, count: int) -> None:
        self.count = 0
        self.third = Event()
        self._wanted = count

    def numbers(self) -> Iterator[int]:
        for number in range(self._wanted):
            self.count += 1
            if self.count == 3:
                self.third.set()
            yield number


def test_it_yields_the_same() -> None:
    assert list(ahead(iter(range(100)))) == list(range(100))
    assert list(ahead(iter(()))) == []


def test_it_is_made_in_another_thread() -> None:
    threads = list(ahead(current_thread() for _ in range(3)))
    assert len({*threads}) == 1 and current_thread() not in threads


def test_it_is_one_ahead_and_ends_when_it_is_closed() -> None:
    made = Made(100)
    items = ahead(made.numbers())
    assert [next(items), next(items)] == [0, 1]
    assert made.third.wait(60)
    items.close()
    assert made.count == 3


def test_its_error_comes_after_what_was_made_before() -> None:
    def failing() -> Iterator[int]:
        yield 1
        raise ValueError("damaged")

    items = ahead(failing())
    assert next(items) == 1
    with pytest.raises(ValueError, match="damaged"):
        next(items)
