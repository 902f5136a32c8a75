"""Reports when full send buffers of sockets have room again: one edge-triggered epoll, which the loop polls.

The loop's own `add_writer` needs a dozen system calls for each response.
"""

import asyncio
import select
from collections.abc import Callable


class Room:
    """Calls the callback of a descriptor when there is room again, from `watch` to `forget`."""

    def __init__(self) -> None:
        self._poll: select.epoll | None = None
        self._callbacks: dict[int, Callable[[], None]] = {}

    def watch(self, descriptor: int, callback: Callable[[], None]) -> None:
        if self._poll is None:
            self._poll = select.epoll()
            asyncio.get_running_loop().add_reader(self._poll.fileno(), self._on_events)
        self._poll.register(descriptor, select.EPOLLOUT | select.EPOLLET)
        self._callbacks[descriptor] = callback

    def forget(self, descriptor: int) -> None:
        """Must be called before the descriptor is closed: the registration of a duplicate would outlive it."""
        if self._poll is not None and self._callbacks.pop(descriptor, None) is not None:
            self._poll.unregister(descriptor)

    def _on_events(self) -> None:
        assert self._poll is not None
        for descriptor, _ in self._poll.poll(0):
            callback = self._callbacks.get(descriptor)
            if callback is not None:  # None: an earlier callback closed this connection
                callback()

    def close(self) -> None:
        if self._poll is not None:
            asyncio.get_running_loop().remove_reader(self._poll.fileno())
            self._poll.close()
            self._poll = None
            self._callbacks.clear()
