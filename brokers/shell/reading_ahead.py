"""Makes what an iterator yields in a thread, while what it has yielded before is used."""

from collections.abc import Generator, Iterator
from queue import SimpleQueue
from threading import Semaphore, Thread
from typing import Generic, TypeVar

Item = TypeVar("Item")


def ahead(items: Iterator[Item]) -> Generator[Item, None, None]:
    """The same items, one ahead. When it is closed, nothing uses `items` any more."""
    making = _Making(items)
    try:
        while (made := making.next()) is not None:
            yield made[0]
    finally:
        making.stop()


class _Making(Generic[Item]):
    def __init__(self, items: Iterator[Item]) -> None:
        self._items = items
        self._made: SimpleQueue[tuple[Item] | BaseException | None] = SimpleQueue()
        self._wanted = Semaphore(1)
        self._is_stopped = False
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()

    def next(self) -> tuple[Item] | None:
        """Raises what the iterator has raised. None at its end."""
        made = self._made.get()
        if isinstance(made, BaseException):
            raise made
        self._wanted.release()
        return made

    def stop(self) -> None:
        self._is_stopped = True
        self._wanted.release()
        self._thread.join()

    def _run(self) -> None:
        try:
            while True:
                self._wanted.acquire()
                if self._is_stopped:
                    return
                self._made.put((next(self._items),))
        except StopIteration:
            self._made.put(None)
        except BaseException as error:
            self._made.put(error)
