"""Chunks of bytes and of files through a socket, whole and in order, however little it takes at a time."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from brokers.shell.files import DiskFiles
from brokers.shell.handles import DiskRange
from brokers.shell.sending import CutShort, Pushed, Sending

CONTENT = bytes(range(256)) * 4096  # 1 MiB


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 32 * 1024)
    theirs.setblocking(False)
    yield ours, theirs
    ours.close()
    theirs.close()


@pytest.fixture
def file(tmp_path: Path) -> DiskFiles:
    files = DiskFiles(tmp_path)
    files.append("log", [CONTENT])
    return files


def part(files: DiskFiles, start: int, end: int) -> DiskRange:
    return files.refer("log", start, end - start)


def test_bytes_and_files_leave_in_order(pair, file) -> None:
    ours, theirs = pair
    chunks = [b"head", part(file, 10, 500_000), b"middle", part(file, 7, 8), memoryview(b"tail")]
    sending = Sending(ours, chunks)
    expected = b"".join(map(bytes, chunks))
    received, pushes, done = b"", 0, False
    while not done:
        done = sending.push(1 << 20) is Pushed.ALL
        pushes += 1
        while len(received) < len(expected) and (more := _at_hand(theirs)):
            received += more
    assert received + _at_hand(theirs) == expected
    assert pushes > 3


def _at_hand(end: socket.socket) -> bytes:
    try:
        return end.recv(1 << 20)
    except BlockingIOError:
        return b""


def test_no_more_than_asked_for_is_sent_at_once(pair, file) -> None:
    ours, theirs = pair
    sending = Sending(ours, [b"12345", part(file, 0, 3_000), part(file, 0, 3_000)])
    assert sending.push(4_000) is Pushed.SOME
    assert len(_at_hand(theirs)) == 4_000
    assert sending.push(10_000) is Pushed.ALL
    assert len(_at_hand(theirs)) == 2_005


def test_a_full_socket_is_told_from_a_turn_that_is_over(pair, file) -> None:
    ours, _ = pair
    sending = Sending(ours, [part(file, 0, 1 << 20)])
    assert sending.push(1 << 20) is Pushed.FULL
    assert sending.push(1 << 20) is Pushed.FULL


def test_what_is_added_goes_last(pair, file) -> None:
    ours, theirs = pair
    sending = Sending(ours, [part(file, 0, 100)])
    sending.extend([b"later"])
    assert sending.push(1_000) is Pushed.ALL
    assert _at_hand(theirs) == CONTENT[:100] + b"later"


def test_a_file_that_was_cut_ends_the_sending(pair, file) -> None:
    ours, theirs = pair
    sending = Sending(ours, [b"head", part(file, 0, 2_000)])
    sending.push(1_000)
    file.truncate("log", 1_500)
    file.append("log", [b"something else" * 100])
    with pytest.raises(CutShort, match="log was cut before byte 2000"):
        sending.push(10_000)
    assert len(_at_hand(theirs)) <= 1_004


def test_a_file_that_someone_else_cut_ends_the_sending(pair, file, tmp_path) -> None:
    ours, _ = pair
    sending = Sending(ours, [part(file, 0, 2_000)])
    os.truncate(tmp_path / "log", 1_500)
    with pytest.raises(CutShort):
        sending.push(10_000)


def test_a_client_that_has_gone_is_an_error_of_the_connection(pair, file) -> None:
    ours, theirs = pair
    theirs.close()
    with pytest.raises(ConnectionError):
        Sending(ours, [part(file, 0, 2_000)]).push(10_000)
