"""What is particular to the real disk; what it shares with the simulated one is in `tests/contract`."""

import os
import resource
import threading
from pathlib import Path

import pytest

from brokers.ports import DiskError, SyncError
from brokers.shell.files import DiskFiles
from brokers.shell.unlinking import HELD_MAX, HELD_SMALL_MAX, WORTH_BYTES


def open_descriptors(directory: Path) -> int:
    links = Path("/proc/self/fd")
    return sum(
        str(directory) in os.readlink(link) for link in list(links.iterdir()) if link.is_symlink()
    )


def test_no_more_files_are_open_than_allowed(tmp_path: Path) -> None:
    files = DiskFiles(tmp_path, open_files_max=3)
    for number in range(20):
        files.append(f"log{number}", [b"x"])
        files.read(f"log{number // 2}", 0, 1)
    assert open_descriptors(tmp_path) == 3
    for number in range(20):
        files.close(f"log{number}")
    assert open_descriptors(tmp_path) == 0


def test_a_refusal_says_what_to_do(tmp_path: Path) -> None:
    files = DiskFiles(tmp_path)
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    (tmp_path / "folder").mkdir()
    with pytest.raises(DiskError, match="folder: Is a directory"):
        files.append("folder", [b"x"])
    assert resource.getrlimit(resource.RLIMIT_FSIZE) == limit


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full on this system")
def test_a_full_device_is_named_as_such(tmp_path: Path) -> None:
    (tmp_path / "log").symlink_to("/dev/full")
    files = DiskFiles(tmp_path)
    with pytest.raises(DiskError, match="log: the disk is full; free some space"):
        files.append("log", [b"x"])


def test_an_append_for_any_thread_is_done_once_and_whoever_comes_second_waits(
    tmp_path: Path,
) -> None:
    size = 1 << 20  # more than a pipe takes: the first to come is stuck until somebody reads
    os.mkfifo(tmp_path / "log")
    appending = DiskFiles(tmp_path).begin_append("log", [bytes(size)])
    heard: list[int] = []
    threads = [threading.Thread(target=lambda: heard.append(appending.run())) for _ in range(3)]
    for thread in threads:
        thread.start()
    with open(tmp_path / "log", "rb") as pipe:
        assert len(pipe.read(size)) == size
        for thread in threads:
            thread.join()
        appending.give_up()
        os.set_blocking(pipe.fileno(), False)
        assert pipe.read(1) is None
    assert heard == [size] * 3


def test_a_file_that_is_being_written_elsewhere_stays_open(tmp_path: Path) -> None:
    files = DiskFiles(tmp_path, open_files_max=2)
    files.append("log", [b"one"])
    appending = files.begin_append("log", [b"two"])
    for number in range(5):
        files.append(f"log{number}", [b"x"])
    assert appending.run() == files.size("log") == 6
    assert files.append("log", [b"three"]) == 11
    del appending
    for number in range(5):
        files.append(f"log{number}", [b"x"])
    assert open_descriptors(tmp_path) == 2


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full on this system")
def test_an_append_for_any_thread_tells_everyone_what_the_disk_refused(tmp_path: Path) -> None:
    (tmp_path / "log").symlink_to("/dev/full")
    appending = DiskFiles(tmp_path).begin_append("log", [b"x"])
    for _ in range(2):
        with pytest.raises(DiskError, match="log: the disk is full; free some space"):
            appending.run()


def test_appends_go_on_while_another_thread_syncs(tmp_path: Path) -> None:
    files = DiskFiles(tmp_path, open_files_max=2)
    stop = threading.Event()
    syncs = 0

    def keep_syncing() -> None:
        nonlocal syncs
        while not stop.is_set():
            files.sync("folder/log0")
            syncs += 1

    files.make_directory("folder")
    files.append("folder/log0", [b""])
    thread = threading.Thread(target=keep_syncing)
    thread.start()
    for number in range(2_000):
        files.append(f"folder/log{number % 4}", [b"%04d" % number])
    stop.set()
    thread.join()
    assert syncs > 0
    assert [files.size(f"folder/log{number}") for number in range(4)] == [2_000] * 4


def test_disk_is_taken_beforehand_and_given_back(tmp_path: Path) -> None:
    files = DiskFiles(tmp_path)
    files.append("log", [b"x" * 5_000])
    files.preallocate("log", 10 << 20)
    taken = (tmp_path / "log").stat()
    if taken.st_blocks * 512 < 10 << 20:
        pytest.skip("this file system cannot take disk beforehand")
    assert taken.st_size == 5_000
    files.release("log")
    left = (tmp_path / "log").stat()
    assert (left.st_size, left.st_blocks * 512 < 1 << 20) == (5_000, True)
    files.preallocate("log", 1 << 62)  # there is no room for it
    assert files.append("log", [b"y"]) == 5_001


def test_leftovers_of_a_replacement_do_not_disturb_the_next(tmp_path: Path) -> None:
    (tmp_path / "state.tmp").write_bytes(b"a long leftover of a crash")
    files = DiskFiles(tmp_path)
    files.replace("state", b"new")
    assert (tmp_path / "state").read_bytes() == b"new"
    assert list(files.list("")) == ["state"]


class Watched(DiskFiles):
    """Remembers the folders whose names it synced."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.folders: list[str] = []

    def _sync_names(self, directory: str) -> None:
        self.folders.append(directory)
        super()._sync_names(directory)


def test_the_names_that_a_killed_process_left_are_synced_with_the_first_file(
    tmp_path: Path,
) -> None:
    killed = DiskFiles(tmp_path)
    killed.make_directory("topic-0")
    killed.append("topic-0/log", [b"x"])
    files = Watched(tmp_path)
    files.sync("topic-0/log")
    assert files.folders == ["topic-0", ""]
    files.sync("topic-0/log")
    assert files.folders == ["topic-0", ""]
    files.append("topic-0/next", [b"x"])
    files.sync("topic-0/next")
    assert files.folders == ["topic-0", "", "topic-0"]


class Ailing(DiskFiles):
    """The device refuses every sync."""

    def sync(self, path: str) -> None:
        raise SyncError(f"{path}: the device reports errors")


def test_a_cut_that_may_not_last_is_a_failed_sync_as_any(tmp_path: Path) -> None:
    files = Ailing(tmp_path)
    files.append("log", [b"never synced"])
    with pytest.raises(SyncError):
        files.truncate("log", 5)
    assert files.size("log") == 5


def test_a_range_holds_its_file_open_and_nothing_else_does(tmp_path: Path) -> None:
    files = DiskFiles(tmp_path, open_files_max=2)
    for number in range(5):
        files.append(f"log{number}", [b"x"])
    held = files.refer("log0", 0, 1)
    assert open_descriptors(tmp_path) == 2
    files.remove("log0")
    files.close("log4")
    assert open_descriptors(tmp_path) == 1
    assert bytes(held) == b"x"
    del held
    assert open_descriptors(tmp_path) == 0


@pytest.mark.parametrize("forgotten", [False, True])
def test_a_range_knows_that_it_was_cut_though_the_file_grew_again(
    tmp_path: Path, *, forgotten: bool
) -> None:
    files = DiskFiles(tmp_path)
    files.append("log", [b"0123456789"])
    kept, cut = files.refer("log", 0, 5), files.refer("log", 0, 6)
    if forgotten:
        files.close("log")
    files.truncate("log", 5)
    files.append("log", [b"abcdefgh"])
    assert (kept.is_cut, cut.is_cut) == (False, True)
    assert not files.refer("log", 0, 13).is_cut
    files.truncate("log", 3)
    assert kept.is_cut


def test_a_range_of_a_renamed_file_knows_that_it_was_cut(tmp_path: Path) -> None:
    files = DiskFiles(tmp_path)
    files.append("log.swap", [b"0123456789"])
    cut = files.refer("log.swap", 0, 6)
    files.begin_changes([], [("log.swap", "log")])()
    files.truncate("log", 5)
    assert cut.is_cut


def test_a_removal_gives_back_the_space_of_files_in_another_thread(tmp_path: Path) -> None:
    """Of small ones, too: the disk may have to be told of each (`discard`), and others wait meanwhile."""
    files = DiskFiles(tmp_path)
    files.make_directory("topic-0")
    for name in ("0.log", "0.index", "1.log"):
        files.append(f"topic-0/{name}", [bytes(5_000 if name == "0.index" else WORTH_BYTES)])
    (tmp_path / "topic-0" / "empty").touch()
    give_back = files.begin_removal(["topic-0"])
    assert list(files.list("")) == []
    assert open_descriptors(tmp_path) == 3
    thread = threading.Thread(target=give_back)
    thread.start()
    thread.join()
    assert open_descriptors(tmp_path) == 0


def test_small_files_leave_descriptors_for_large_ones(tmp_path: Path) -> None:
    files = DiskFiles(tmp_path)
    names = [f"{number}.index" for number in range(HELD_SMALL_MAX + 2)]
    for name in names:
        files.append(name, [bytes(5_000)])
    files.append("9.log", [bytes(WORTH_BYTES)])
    give_back = files.begin_removal([*names, "9.log"])
    assert open_descriptors(tmp_path) == HELD_SMALL_MAX + 1
    give_back()
    assert (list(files.list("")), open_descriptors(tmp_path)) == ([], 0)


def test_a_removal_holds_few_descriptors_and_none_once_it_was_refused(tmp_path: Path) -> None:
    files = DiskFiles(tmp_path)
    for number in range(HELD_MAX + 2):
        (tmp_path / f"{number}.log").touch()
        os.truncate(tmp_path / f"{number}.log", WORTH_BYTES)
    names = list(files.list(""))
    with pytest.raises(DiskError):
        files.begin_removal([*names[:2], "n" * 300])
    assert open_descriptors(tmp_path) == 0
    give_back = files.begin_removal(names)
    assert open_descriptors(tmp_path) == HELD_MAX
    give_back()
    assert (list(files.list("")), open_descriptors(tmp_path)) == ([], 0)
