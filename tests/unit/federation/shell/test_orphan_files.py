"""The orphan stores of a broker's disks, as its administration lists, reads and removes them."""

import asyncio
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import grpc
import grpc.aio
import pytest
from google.protobuf.message import DecodeError

from brokers.effects import SealTail
from brokers.events import TailSealed
from brokers.ids import id_text
from brokers.shell.files import DiskFiles
from brokers.storage.logs.orphans import DISCARDED_SUFFIX
from federation.shell.orphan_files import OrphanFiles
from linker.answers import Topics
from linker.commands import RecordDiscardedOrphans
from linker.errors import LinkRefusal
from linker.events import AdminAnswered, AdminAsked
from linker.shell.admin_server import AdminServer
from linker.wire.v1 import admin_pb2 as pb
from linker.wire.v1 import admin_pb2_grpc
from tests.unit.brokers.storage.driver import TOPIC_ID, TP, Driver

NAME = f"{TP}/4-20.e0"


@pytest.fixture
def disks(tmp_path: Path) -> OrphanFiles:
    """Two log directories, of which the second one has a tail of sixteen records."""
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    driver = Driver(DiskFiles(tmp_path / "b"))
    for _ in range(10):
        driver.append_next(2)
    (answer,) = driver.perform([SealTail(1, TP, 4, "test", readers=(("billing", 9),))])
    assert isinstance(answer, TailSealed) and answer.done, answer
    return OrphanFiles((str(tmp_path / "a"), str(tmp_path / "b")))


def ask(disks: OrphanFiles, method: str, request: Any) -> Any:
    reply_type = disks.methods[method][1]
    return reply_type.FromString(disks.answer(method, request.SerializeToString()))


def listed(disks: OrphanFiles, topic: str = "") -> list[Any]:
    return list(ask(disks, "ListOrphans", pb.ListOrphansRequest(topic=topic)).orphans)


def test_a_tail_is_listed_with_its_manifest(disks: OrphanFiles, tmp_path: Path) -> None:
    (orphan,) = listed(disks)
    assert (orphan.name, orphan.topic, orphan.partition) == (NAME, TP.topic, TP.partition)
    assert orphan.topic_id == id_text(UUID(bytes=TOPIC_ID)), "as Kafka writes it"
    assert (orphan.base_offset, orphan.next_offset, orphan.records) == (4, 20, 16)
    assert (orphan.reason, orphan.log_dir, orphan.damage) == ("test", str(tmp_path / "b"), "")
    assert list(orphan.readers) == [pb.OrphanReader(group="billing", committed_offset=9)]
    assert listed(disks, "others") == [] and len(listed(disks, TP.topic)) == 1


def test_its_files_are_read_and_no_others(disks: OrphanFiles) -> None:
    (orphan,) = listed(disks)
    (file,) = orphan.files
    request = pb.ReadOrphanRequest(name=NAME, file=file.name)
    assert len(ask(disks, "ReadOrphan", request).data) == file.bytes
    request.position = file.bytes - 1
    assert len(ask(disks, "ReadOrphan", request).data) == 1


@pytest.mark.parametrize(
    ("name", "file"),
    [
        (NAME, "../../../../etc/passwd"),
        (NAME, ""),
        (f"{TP}/../../{TP}", "00000000000000000000.log"),
        ("..", "manifest.json"),
        ("", ""),
    ],
)
def test_a_path_leads_nowhere_else(disks: OrphanFiles, name: str, file: str) -> None:
    reply = ask(disks, "ReadOrphan", pb.ReadOrphanRequest(name=name, file=file))
    assert reply.error.code == "INVALID_REQUEST" and not reply.data


def test_a_manifest_of_a_release_that_did_not_look_for_readers_has_none(
    disks: OrphanFiles, tmp_path: Path
) -> None:
    path = tmp_path / "b/orphans" / NAME / "manifest.json"
    manifest = json.loads(path.read_text())
    del manifest["readers"]
    path.write_text(json.dumps(manifest))
    (orphan,) = listed(disks)
    assert (list(orphan.readers), orphan.damage) == ([], "")


def test_a_damaged_manifest_is_said(disks: OrphanFiles, tmp_path: Path) -> None:
    (tmp_path / "b/orphans" / NAME / "manifest.json").write_text("{")
    (orphan,) = listed(disks)
    assert orphan.name == NAME and "manifest.json" in orphan.damage


def test_the_operator_log_gets_what_was_discarded_and_nothing_else(disks: OrphanFiles) -> None:
    def told(method: str, request: Any) -> Any:
        data = request.SerializeToString()
        recorded = disks.recorded(method, data)
        disks.answer(method, data)
        return recorded

    assert told("ListOrphans", pb.ListOrphansRequest()) is None
    names = [NAME, "no-0/1-2.e0"]
    assert told("DiscardOrphans", pb.DiscardOrphansRequest(names=names, validate_only=True)) is None
    assert told("DiscardOrphans", pb.DiscardOrphansRequest(names=names)) == RecordDiscardedOrphans(
        (NAME,)
    )
    assert told("DiscardOrphans", pb.DiscardOrphansRequest(names=names)) is None


def test_what_is_discarded_is_gone(disks: OrphanFiles, tmp_path: Path) -> None:
    would = ask(disks, "DiscardOrphans", pb.DiscardOrphansRequest(names=[NAME], validate_only=True))
    assert [one.name for one in would.orphans] == [NAME] and len(listed(disks)) == 1
    gone = ask(disks, "DiscardOrphans", pb.DiscardOrphansRequest(names=[NAME, "none"]))
    assert [one.name for one in gone.orphans] == [NAME]
    assert listed(disks) == [] and not list((tmp_path / "b/orphans").glob("*/*"))


def test_a_removal_that_a_crash_interrupted_is_finished_by_the_next(
    disks: OrphanFiles, tmp_path: Path
) -> None:
    folder = tmp_path / "b/orphans" / NAME
    folder.rename(folder.with_name(folder.name + DISCARDED_SUFFIX))
    assert listed(disks) == []
    ask(disks, "DiscardOrphans", pb.DiscardOrphansRequest())
    assert not list((tmp_path / "b/orphans").glob("*/*"))


def test_a_tail_that_was_sealed_again_is_discarded_although_a_crash_left_the_former_one(
    disks: OrphanFiles, tmp_path: Path
) -> None:
    folder = tmp_path / "b/orphans" / NAME
    shutil.copytree(folder, folder.with_name(folder.name + DISCARDED_SUFFIX))
    gone = ask(disks, "DiscardOrphans", pb.DiscardOrphansRequest(names=[NAME]))
    assert [one.name for one in gone.orphans] == [NAME]
    assert not list((tmp_path / "b/orphans").glob("*/*"))


def test_bytes_that_are_no_request_are_refused(disks: OrphanFiles) -> None:
    with pytest.raises(DecodeError):
        disks.answer("ListOrphans", b"\xff")


async def discarded(disks: OrphanFiles, told: Callable[[Any], Any]) -> Any:
    """Over gRPC; `told` is what the broker's core answers to the command for the operator log."""

    def feed(event: AdminAsked) -> None:
        server.perform[AdminAnswered](AdminAnswered(event.ticket, told(event.command)))

    server = AdminServer(feed, disks=disks)
    port = server.bind("127.0.0.1:0")
    await server.start()
    try:
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            stub: Any = admin_pb2_grpc.AdminStub(channel)  # type: ignore[no-untyped-call]
            return await stub.DiscardOrphans(pb.DiscardOrphansRequest(names=[NAME]))
    finally:
        await server.stop()


def test_a_tail_is_there_until_the_operator_log_has_been_told(disks: OrphanFiles) -> None:
    """Before, a crash in between left no trace: a repeat finds nothing that it could tell of."""
    there: list[tuple[Any, bool]] = []

    def told(command: Any) -> Topics:
        there.append((command, bool(listed(disks))))
        return Topics(())

    assert [one.name for one in asyncio.run(discarded(disks, told)).orphans] == [NAME]
    assert there == [(RecordDiscardedOrphans((NAME,)), True)]
    assert listed(disks) == []


def test_a_node_that_is_starting_discards_nothing(disks: OrphanFiles) -> None:
    """It can't tell the operator log yet."""
    starting = LinkRefusal("NOT_CONTROLLER", "the node is still starting")
    with pytest.raises(grpc.aio.AioRpcError, match="still starting"):
        asyncio.run(discarded(disks, lambda _: starting))
    assert [one.name for one in listed(disks)] == [NAME]
