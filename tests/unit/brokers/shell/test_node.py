"""The loop around a core: events in order, one timer, and no going on after the core has raised."""

import asyncio
import threading
from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

import pytest

from brokers.effects import (
    Append,
    Changed,
    End,
    OpenLog,
    Roll,
    SaveHighWatermarks,
    Serve,
    TrimLog,
)
from brokers.events import DirectoryRefused, LogOpened, SegmentSealed, TimeReached
from brokers.ids import Buffer, Buffers, TopicPartition
from brokers.ports import DiskError
from brokers.records.batch import parse_header
from brokers.region import Ready
from brokers.shell.clock import Clock
from brokers.shell.node import Node, NodeRefused
from brokers.storage.directories.checkpoint_files import (
    CLEAN_SHUTDOWN,
    HIGH_WATERMARKS,
    parse_offsets,
)
from brokers.storage.segments.file_names import INDEX, file_name
from brokers.storage.segments.segment_digest import decode
from brokers.storage.storage import Storage
from tests.sim.files import SimFiles
from tests.sim.stored_file import SimReader
from tests.unit.brokers.storage.driver import TOPIC_ID, TP, batch_at


class Recorder:
    """A core that does what a test says and remembers what it was told."""

    def __init__(self, answer: Callable[[Any], list[Any]]) -> None:
        self.deadline: int | None = None
        self.seen: list[Any] = []
        self._answer = answer

    def step(self, event: Any, now: int) -> list[Any]:
        self.seen.append(event)
        return self._answer(event)

    def stop(self) -> list[Any]:
        return [Changed("core", "stopped")]


def with_node(core: Recorder, act: Callable[[Node], Any]) -> None:
    async def run() -> None:
        node = Node(core, Storage(SimFiles()), Clock())
        await act(node)

    asyncio.run(run())


def test_what_an_effect_brings_about_is_stepped_after_what_was_there_before() -> None:
    core = Recorder(lambda event: [Ready()] if event == "first" else [])

    async def act(node: Node) -> None:
        node.perform[Ready] = lambda effect: (node.feed("third"), node.feed("fourth"))
        node.feed("first")
        node.feed("last")
        await node.stop()

    with_node(core, act)
    assert core.seen == ["first", "third", "fourth", "last"]


def test_a_core_that_raises_stops_the_node_and_hears_nothing_more() -> None:
    def answer(event: Any) -> list[Any]:
        raise AssertionError("wrong about the world")

    core = Recorder(answer)

    async def act(node: Node) -> None:
        node.feed("one")
        node.feed("two")
        with pytest.raises(AssertionError, match="wrong about the world"):
            await node.stopped
        with pytest.raises(AssertionError):
            await node.reaches(node.ready)

    with_node(core, act)
    assert core.seen == ["one"]


def test_the_deadline_is_kept_by_one_timer() -> None:
    core = Recorder(lambda event: [])

    async def act(node: Node) -> None:
        reached = asyncio.get_running_loop().create_future()

        def answer(event: Any) -> list[Any]:
            if isinstance(event, TimeReached):
                core.deadline = None
                reached.set_result(None)
            return []

        core._answer = answer
        core.deadline = Clock().now() + 5
        node.feed("go")
        await asyncio.wait_for(reached, 20)
        await node.stop()

    with_node(core, act)
    assert core.seen == ["go", TimeReached()]


def test_a_deadline_that_is_put_off_or_given_up_does_not_step_the_core() -> None:
    core = Recorder(lambda event: [])

    async def act(node: Node) -> None:
        loop = asyncio.get_running_loop()
        core.deadline = Clock().now() + 5
        node.feed("soon")
        core.deadline = None
        node.feed("never")
        core.deadline = Clock().now() + 40
        node.feed("later")
        reached: asyncio.Future[float] = loop.create_future()

        def answer(event: Any) -> list[Any]:
            core.deadline = None
            reached.set_result(loop.time())
            return []

        core._answer, since = answer, loop.time()
        assert await asyncio.wait_for(reached, 20) - since > 0.02
        await node.stop()

    with_node(core, act)
    assert core.seen == ["soon", "never", "later", TimeReached()]


def test_a_node_serves_before_it_is_counted_on_and_ends_when_its_core_says_so() -> None:
    steps = {"open": [Serve()], "unfenced": [Ready()], "leave": [End()]}
    core = Recorder(lambda event: steps.get(event, []))

    async def act(node: Node) -> None:
        node.feed("open")
        assert await node.reaches(node.serving)
        assert not node.ready.done()
        node.feed("unfenced")
        assert await node.reaches(node.ready)
        node.feed("leave")
        assert not await node.reaches(node.ready)
        await node.stopped

    with_node(core, act)


def test_a_node_that_the_region_refuses_says_why() -> None:
    core = Recorder(lambda event: [End("its id is taken"), End(), End("again")])

    async def act(node: Node) -> None:
        node.feed("start")
        with pytest.raises(NodeRefused, match="its id is taken"):
            await node.reaches(node.serving)

    with_node(core, act)


def test_what_was_not_all_looked_at_is_not_called_clean() -> None:
    files = SimFiles()

    def stop(core: Recorder) -> bool:
        async def run() -> None:
            node = Node(core, Storage(files), Clock())
            node.feed("start")
            await node.stop()

        asyncio.run(run())
        return files.exists(CLEAN_SHUTDOWN)

    assert not stop(Recorder(lambda event: [Serve()]))
    assert stop(Recorder(lambda event: [Ready()]))


class Gated(SimFiles):
    """Files are read for digests once the test says so."""

    def __init__(self) -> None:
        super().__init__()
        self.asked, self.gate = threading.Event(), threading.Event()

    def reader(self, path: str) -> SimReader:
        self.asked.set()
        assert self.gate.wait(20)
        return super().reader(path)


def rolling(event: Any) -> list[Any]:
    """A core that opens a log, writes a batch and rolls."""
    match event:
        case "start":
            return [Ready(), OpenLog(TP, TOPIC_ID)]
        case LogOpened():
            batch = batch_at(0)
            return [Append(TP, (parse_header(batch),), (batch,)), Roll(TP, 1, b"")]
    return []


def test_a_rolled_segment_is_synced_and_digested_beside_the_loop() -> None:
    files, core = Gated(), Recorder(rolling)
    files.gate.set()

    async def run() -> None:
        sealed = asyncio.get_running_loop().create_future()

        def answer(event: Any) -> list[Any]:
            if isinstance(event, SegmentSealed):
                sealed.set_result(event)
            return rolling(event)

        core._answer = answer
        node = Node(core, Storage(files), Clock())
        node.feed("start")
        event = await asyncio.wait_for(sealed, 20)
        whole, *_ = decode(files.read(f"{TP}/{0:020}.digest", 0, 1 << 20))
        assert event == SegmentSealed(TP, 0, 1, whole.size, whole.digest)
        await node.stop()

    asyncio.run(run())


def test_a_node_that_stops_waits_for_no_digest() -> None:
    files, core = Gated(), Recorder(rolling)

    async def run() -> None:
        node = Node(core, Storage(files), Clock())
        node.feed("start")
        await asyncio.get_running_loop().run_in_executor(None, files.asked.wait, 20)
        stopping = asyncio.create_task(node.stop())
        # By then the digest has been given up.
        asyncio.get_running_loop().call_soon(files.gate.set)
        await stopping

    asyncio.run(run())
    assert not any(isinstance(event, SegmentSealed) for event in core.seen)
    assert f"{0:020}.digest" not in files.list(str(TP))
    assert files.exists(CLEAN_SHUTDOWN)


class Removing(SimFiles):
    """`gone` when files of a deleted segment are removed."""

    def __init__(self) -> None:
        super().__init__()
        self.gone = asyncio.Event()

    def remove_several(self, paths: Sequence[str]) -> None:
        super().remove_several(paths)
        if f"{TP}/{0:020}.log.deleted" in paths:
            self.gone.set()


def trimming(delay_ms: int) -> Recorder:
    """A core whose log loses its first segment."""

    def answer(event: Any) -> list[Any]:
        if event == "start":
            return [Ready(), OpenLog(TP, TOPIC_ID, file_delete_delay_ms=delay_ms)]
        effects = rolling(event)
        return [*effects, TrimLog(TP, 1)] if effects else []

    return Recorder(answer)


class Slow(SimFiles):
    """Space is given back by `by`, and the disk refuses that."""

    by: int = 0

    def begin_removal(self, paths: Sequence[str]) -> Callable[[], None]:
        def give_back() -> None:
            self.by = threading.get_ident()
            raise DiskError("Input/output error")

        return give_back


def test_what_was_deleted_gives_back_its_space_beside_the_loop_and_a_refusal_is_reported() -> None:
    async def run() -> None:
        node = Node(core, Storage(files, directory=UUID(int=7)), Clock())
        node.feed("start")
        await asyncio.wait_for(refused.wait(), 60)
        await node.stop()

    def answer(event: Any) -> list[Any]:
        if isinstance(event, DirectoryRefused):
            assert event.directory == UUID(int=7)
            refused.set()
        return deleting.step(event, 0)

    files, refused, deleting = Slow(), asyncio.Event(), trimming(1)
    core = Recorder(answer)
    asyncio.run(run())
    assert files.by not in (0, threading.get_ident())


class SlowToReplace(SimFiles):
    """The checkpoint waits for the gate."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = threading.Event()
        self.saved: dict[TopicPartition, int] = {}

    def replace(self, path: str, data: Buffer) -> None:
        if path == HIGH_WATERMARKS:
            assert self.gate.wait(60)
            self.saved = parse_offsets(data)
        super().replace(path, data)


def test_a_node_goes_on_while_a_checkpoint_is_written_and_waits_for_it_when_it_stops() -> None:
    """The gate is opened by a later event."""

    def answer(event: Any) -> list[Any]:
        if event == "start":
            return [Ready(), OpenLog(TP, TOPIC_ID)]
        if event == "checkpoint":
            return [SaveHighWatermarks({TP: 3})]
        if event == "later":
            assert files.saved == {}
            files.gate.set()
        return []

    async def run() -> None:
        node = Node(Recorder(answer), Storage(files, writes_behind=True), Clock())
        node.feed("start")
        node.feed("checkpoint")
        node.feed("later")
        await node.stop()

    files = SlowToReplace()
    asyncio.run(run())
    assert files.saved == {TP: 3} and files.exists(CLEAN_SHUTDOWN)


class Indexing(SimFiles):
    """`begun` and `ended`: the first and the last of these indexes are there."""

    def __init__(self, *indexes: str) -> None:
        super().__init__()
        self._awaited = {indexes[0]: asyncio.Event(), indexes[-1]: asyncio.Event()}
        self.begun, self.ended = self._awaited.values()

    def append(self, path: str, buffers: Buffers) -> int:
        size = super().append(path, buffers)
        if path in self._awaited:
            self._awaited[path].set()
        return size


def test_the_files_of_indexes_are_made_between_other_events() -> None:
    """A checkpoint may want those of thousands of logs."""
    partitions = [TopicPartition("t", number) for number in range(3)]
    opened = asyncio.Event()

    def answer(event: Any) -> list[Any]:
        if event == "start":
            return [OpenLog(each, TOPIC_ID) for each in partitions]
        if isinstance(event, LogOpened) and event.partition == partitions[-1]:
            opened.set()
        return [SaveHighWatermarks(dict.fromkeys(partitions, 0))] if event == "checkpoint" else []

    async def run() -> None:
        files = Indexing(*(f"{each}/{file_name(0, INDEX)}" for each in partitions))
        node = Node(Recorder(answer), Storage(files, writes_behind=True), Clock())
        node.feed("start")
        await opened.wait()
        node.feed("checkpoint")
        assert not files.begun.is_set()
        await asyncio.wait_for(files.ended.wait(), 60)
        await node.stop()

    asyncio.run(run())


def test_a_deleted_segment_is_removed_after_its_delay() -> None:
    async def run() -> None:
        files = Removing()
        node = Node(trimming(1), Storage(files), Clock())
        node.feed("start")
        await asyncio.wait_for(files.gone.wait(), 60)
        assert not [name for name in files.list(str(TP)) if name.endswith(".deleted")]
        await node.stop()

    asyncio.run(run())
