"""Opens the streams of this node's links: finds the other region's endpoint, connects, sends and receives frames."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import grpc
import grpc.aio

from linker.errors import LinkError
from linker.events import Dial, StreamDialed
from linker.frames import CHUNK_BYTES_MAX
from linker.shell.discovery import LINK_LISTENER, DiscoveryError, discover
from linker.shell.options import HTTP2_WINDOW_MAX, OPEN_METHOD, Options, dial_options
from linker.shell.streams import BROKEN, Streams, Wire


class Dialer:
    """Performs `Dial`."""

    def __init__(self, streams: Streams, chunk_bytes_max: int) -> None:
        self._streams = streams
        self._options = dial_options(chunk_bytes_max)
        self._tasks: dict[asyncio.Task[None], None] = {}
        self.perform: dict[type, Callable[[Any], None]] = {Dial: self._dial}

    def _dial(self, effect: Dial) -> None:
        task = asyncio.get_running_loop().create_task(
            self._run(effect), name=f"link stream {effect.stream}"
        )
        self._tasks[task] = None
        task.add_done_callback(lambda done: self._tasks.pop(done, None))

    async def stop(self) -> None:
        """Close every stream."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _run(self, dial: Dial) -> None:
        wire = self._streams.add(dial.stream)
        error, because = LinkError.UNKNOWN, "an error that was not foreseen: see the node's log"
        try:
            error, because = await self._speak(dial, wire)
        except asyncio.CancelledError:
            because = "this node stops"
            raise
        finally:
            self._streams.remove(dial.stream, error, because)

    async def _speak(self, dial: Dial, wire: Wire) -> tuple[LinkError, str]:
        """Returns why the stream has ended."""
        try:
            async with asyncio.timeout(dial.timeout_ms / 1000):
                channel = await _connect(
                    dial, self._options + receive_buffer(dial) + flow_control(dial)
                )
        except DiscoveryError as failure:
            return failure.error, str(failure)
        except TimeoutError:
            asked = dial.endpoint or ", ".join(dial.bootstrap_servers)
            because = f"no answer from {asked} in {dial.timeout_ms} ms"
            return LinkError.TIMEOUT_ERROR, because
        async with channel:
            open_stream: Any = channel.stream_stream
            call = open_stream(OPEN_METHOD)()
            self._streams.feed(StreamDialed(dial.stream))
            because = await wire.run(call.read, call.write)
            if wire.closing:
                with suppress(*BROKEN):  # the other end may have closed it, too
                    await call.done_writing()
            return LinkError.BOOTSTRAP_TCP_CONNECTION_FAILED_ERROR, because


def receive_buffer(dial: Dial) -> Options:
    """gRPC's setting for the size of a socket's buffer, unless the system shall choose it."""
    size = dial.receive_buffer_bytes
    return (("grpc.tcp_receive_buffer_size", size),) if size >= 0 else ()


def flow_control(dial: Dial) -> Options:
    """Chunks are limited by credit, so that HTTP/2's own windows must not be the limit.

    gRPC's estimate of bandwidth times round trip (`bdp_probe`) takes a stream that credit limits for one that needs
    no more, and makes its window smaller: at 80 ms a link lost a third of its rate, and at 0 ms half.
    """
    if not dial.window_bytes:
        return ()
    window_bytes = min(dial.window_bytes + CHUNK_BYTES_MAX, HTTP2_WINDOW_MAX)
    return (("grpc.http2.lookahead_bytes", window_bytes), ("grpc.http2.bdp_probe", 0))


async def _connect(dial: Dial, options: tuple[tuple[str, int], ...]) -> grpc.aio.Channel:
    servers = dial.bootstrap_servers
    seconds_each = dial.timeout_ms / 1000 / max(1, len(servers))
    endpoint = dial.endpoint or await discover(servers, LINK_LISTENER, seconds_each)
    channel = grpc.aio.insecure_channel(endpoint, options=options)
    try:
        state = channel.get_state(try_to_connect=True)
        while state is not grpc.ChannelConnectivity.READY:
            if state is grpc.ChannelConnectivity.TRANSIENT_FAILURE:
                because = f"the link endpoint {endpoint} does not accept connections"
                raise DiscoveryError(LinkError.BOOTSTRAP_TCP_CONNECTION_FAILED_ERROR, because)
            await channel.wait_for_state_change(state)
            state = channel.get_state(try_to_connect=True)
    except BaseException:
        await channel.close(None)
        raise
    return channel
