"""What every `Files` must do, the real disk and the simulated one alike."""

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from brokers.ports import DiskError, Files, SyncError
from brokers.shell.files import DiskFiles
from tests.sim.files import SimFiles


def test_appends_end_up_behind_one_another(files: Files) -> None:
    assert files.append("log", [b"one", memoryview(b"two")]) == 6
    assert files.append("log", [bytearray(b"three")]) == 11
    assert files.append("log", []) == 11
    assert bytes(files.read("log", 0, 100)) == b"onetwothree"
    assert files.size("log") == 11


def test_an_append_is_run_once_and_only_until_it_is_given_up(files: Files) -> None:
    files.append("log", [b"one"])
    appending = files.begin_append("log", [b"two", b"three"])
    assert bytes(files.read("log", 0, 99)) == b"one"
    assert appending.run() == appending.run() == 11
    appending.give_up()
    assert appending.run() == files.append("log", []) == 11
    given_up = files.begin_append("log", [b"never"])
    given_up.give_up()
    with pytest.raises(DiskError, match="given up"):
        given_up.run()
    assert bytes(files.read("log", 0, 99)) == b"onetwothree"
    with pytest.raises(DiskError):
        files.begin_append("missing/log", [b"x"]).run()


def test_a_file_is_replaced_by_who_runs_that_and_only_until_it_is_given_up(files: Files) -> None:
    files.replace("state", b"old")
    replacing = files.begin_replace("state", b"new")
    assert bytes(files.read("state", 0, 9)) == b"old"
    assert not replacing.is_over and not replacing.is_durable
    replacing.run()
    replacing.give_up()
    assert replacing.is_over and replacing.is_durable
    files.replace("state", b"newer")
    replacing.run()
    given_up = files.begin_replace("state", b"never")
    given_up.give_up()
    given_up.run()
    assert given_up.is_over and not given_up.is_durable
    assert bytes(files.read("state", 0, 9)) == b"newer"
    refused = files.begin_replace("missing/state", b"x")
    with pytest.raises(DiskError):
        refused.run()
    assert refused.is_over and not refused.is_durable


def test_a_reference_has_the_bytes_that_a_read_would_return(files: Files) -> None:
    files.append("log", [b"0123456789"])
    for position, size in ((0, 10), (3, 4), (8, 100), (10, 1), (12, 5)):
        referred = files.refer("log", position, size)
        assert bytes(referred) == bytes(files.read("log", position, size))
        assert len(referred) == len(bytes(referred))


def test_a_reference_to_no_file_is_refused(files: Files) -> None:
    with pytest.raises(DiskError):
        files.refer("log", 0, 1)


def test_a_reference_keeps_its_bytes_when_the_file_goes(files: Files) -> None:
    files.make_directory("topic-0")
    for path in ("log", "topic-0/log"):
        files.append(path, [b"before"])
    removed, moved = files.refer("log", 1, 4), files.refer("topic-0/log", 0, 6)
    files.remove("log")
    files.append("log", [b"another"])
    files.rename("topic-0", "aside")
    files.remove("aside")
    assert (bytes(removed), bytes(moved)) == (b"efor", b"before")


def test_a_reference_does_not_see_what_is_appended_later(files: Files) -> None:
    files.append("log", [b"one"])
    referred = files.refer("log", 0, 100)
    files.append("log", [b"two"])
    assert bytes(referred) == b"one"


def test_a_reference_to_what_was_cut_off_has_fewer_bytes(files: Files) -> None:
    files.append("log", [b"0123456789"])
    referred = files.refer("log", 2, 6)
    files.truncate("log", 5)
    assert bytes(referred) == b"234"


def test_an_empty_append_makes_the_file(files: Files) -> None:
    assert not files.exists("log")
    assert files.append("log", []) == 0
    assert files.exists("log")
    assert list(files.list("")) == ["log"]


def test_a_file_that_takes_its_disk_beforehand_holds_and_takes_the_same(files: Files) -> None:
    files.append("log", [b"one"])
    files.preallocate("log", 1 << 20)
    assert files.size("log") == 3 and bytes(files.read("log", 0, 100)) == b"one"
    assert files.append("log", [b"two"]) == 6
    files.release("log")
    assert files.append("log", [b"three"]) == 11
    assert bytes(files.read("log", 0, 100)) == b"onetwothree"


def test_thousands_of_buffers_are_one_append(files: Files) -> None:
    parts = [b"%05d" % number for number in range(3_000)]
    assert files.append("log", parts) == 15_000
    assert bytes(files.read("log", 0, 15_000)) == b"".join(parts)


@pytest.mark.parametrize(
    ("position", "size"), [(0, 3), (2, 100), (5, 10), (6, 1), (100, 1), (0, 0)]
)
def test_a_read_past_the_end_returns_what_there_is(files: Files, position: int, size: int) -> None:
    files.append("log", [b"012345"])
    assert bytes(files.read("log", position, size)) == b"012345"[position : position + size]


def test_what_was_read_stays_as_it_was_when_the_file_changes(files: Files) -> None:
    files.append("log", [b"before"])
    data = files.read("log", 0, 6)
    files.append("log", [b"after"])
    files.truncate("log", 0)
    assert bytes(data) == b"before"


@pytest.mark.parametrize("operation", ["read", "size", "truncate", "sync", "rewrite", "rename"])
def test_a_missing_file_is_an_error_and_is_not_made(files: Files, operation: str) -> None:
    calls = {
        "read": lambda: files.read("missing", 0, 1),
        "size": lambda: files.size("missing"),
        "truncate": lambda: files.truncate("missing", 0),
        "sync": lambda: files.sync("missing"),
        "rewrite": lambda: files.rewrite("missing", 0),
        "rename": lambda: files.rename("missing", "other"),
    }
    with pytest.raises(DiskError, match="missing"):
        calls[operation]()
    assert list(files.list("")) == []


def test_a_file_in_a_missing_directory_is_an_error(files: Files) -> None:
    with pytest.raises(DiskError, match="topic-0/log"):
        files.append("topic-0/log", [b"data"])
    with pytest.raises(DiskError, match="topic-0/log"):
        files.replace("topic-0/log", b"data")
    assert not files.exists("topic-0")


def test_a_truncated_file_is_appended_to_at_its_new_end(files: Files) -> None:
    files.append("log", [b"0123456789"])
    files.truncate("log", 4)
    assert files.size("log") == 4
    assert files.append("log", [b"x"]) == 5
    assert bytes(files.read("log", 0, 100)) == b"0123x"


def test_a_touched_file_is_there_and_keeps_what_it_holds(files: Files) -> None:
    files.touch("marker")
    assert files.size("marker") == 0
    files.append("marker", [b"x"])
    files.touch("marker")
    assert files.size("marker") == 1
    with pytest.raises(DiskError):
        files.touch("no such folder/marker")


@pytest.mark.parametrize("position", [0, 1, 3 << 20, 4 << 20])
def test_what_is_written_once_more_is_what_it_was(files: Files, position: int) -> None:
    content = b"".join(number.to_bytes(4, "big") for number in range(1 << 20))
    files.append("log", [content])
    files.rewrite("log", position)
    assert files.append("log", [b"!"]) == len(content) + 1
    assert bytes(files.read("log", 0, 8 << 20)) == content + b"!"


def test_a_replaced_file_is_wholly_new(files: Files) -> None:
    files.append("state", [b"a long old content"])
    files.replace("state", b"new")
    assert bytes(files.read("state", 0, 100)) == b"new"
    assert files.append("state", [b"er"]) == 5
    files.replace("state", b"")
    assert files.size("state") == 0
    assert list(files.list("")) == ["state"]


def test_a_renamed_file_takes_the_place_of_another(files: Files) -> None:
    files.append("old", [b"content"])
    files.append("new", [b"gone"])
    files.rename("old", "new")
    assert list(files.list("")) == ["new"]
    assert files.append("new", [b"!"]) == 8
    assert bytes(files.read("new", 0, 100)) == b"content!"


def test_several_files_are_removed_and_renamed_at_once_and_readers_keep_theirs(
    files: Files,
) -> None:
    for name in ("a", "b", "c"):
        files.append(name, [name.encode() * 3])
    reference = files.refer("b", 0, 3)
    sync = files.begin_changes(["c", "absent"], [("b", "d"), ("a", "b")])
    assert list(files.list("")) == ["b", "d"]
    sync()
    assert bytes(files.read("b", 0, 9)) == b"aaa" and bytes(files.read("d", 0, 9)) == b"bbb"
    assert bytes(reference) == b"bbb"
    with pytest.raises(DiskError):
        files.begin_changes([], [("absent", "e")])


def test_a_renamed_directory_keeps_what_is_in_it(files: Files) -> None:
    files.make_directory("topic-0")
    files.append("topic-0/log", [b"data"])
    files.append("topic-01", [b"another name with the same beginning"])
    files.rename("topic-0", "topic-0.id-delete")
    assert list(files.list("")) == ["topic-0.id-delete", "topic-01"]
    assert bytes(files.read("topic-0.id-delete/log", 0, 10)) == b"data"
    with pytest.raises(DiskError):
        files.read("topic-0/log", 0, 10)
    files.make_directory("topic-0")
    assert list(files.list("topic-0")) == []


def test_removing_takes_a_directory_with_all_in_it_and_nothing_else(files: Files) -> None:
    files.make_directory("topic-0/inner")
    files.append("topic-0/inner/log", [b"data"])
    files.append("topic-0/log", [b"data"])
    files.append("topic-01", [b"data"])
    files.remove("topic-0")
    assert list(files.list("")) == ["topic-01"]
    assert not files.exists("topic-0/inner")
    files.remove("topic-0")
    files.remove("topic-01")
    assert list(files.list("")) == []


def test_what_a_removal_begins_with_is_gone_at_once_and_its_name_is_free(files: Files) -> None:
    for path in ("topic-0/log", "topic-0/inner/log", "topic-1/log", "topic-1/index"):
        files.make_directory(path.rpartition("/")[0])
        files.append(path, [b"data"])
    held = files.refer("topic-0/log", 0, 4)
    of_a_folder = files.begin_removal(["topic-0"])
    of_files = files.begin_removal(["topic-1/log", "topic-1/gone"])
    assert (list(files.list("")), list(files.list("topic-1"))) == (["topic-1"], ["index"])
    files.make_directory("topic-0")
    files.append("topic-0/log", [b"new"])
    of_a_folder()
    of_files()
    assert bytes(files.read("topic-0/log", 0, 9)) == b"new"
    assert bytes(held) == b"data"


def test_a_removed_file_begins_anew(files: Files) -> None:
    files.append("log", [b"old"])
    files.remove("log")
    assert files.append("log", [b"n"]) == 1


def test_a_directory_that_exists_may_be_made_again(files: Files) -> None:
    files.make_directory("topic-0")
    files.append("topic-0/log", [b"data"])
    files.make_directory("topic-0")
    assert files.exists("topic-0")
    assert list(files.list("topic-0")) == ["log"]


def test_a_listing_is_sorted_and_one_level_deep(files: Files) -> None:
    for path in ("b", "a", "c/deep"):
        files.make_directory(path)
    files.append("aa", [])
    assert list(files.list("")) == ["a", "aa", "b", "c"]
    assert list(files.list("c")) == ["deep"]
    assert list(files.list("no such directory")) == []


def test_the_space_that_is_left_is_part_of_all_there_is(files: Files) -> None:
    volume = files.space()
    assert 0 <= volume.usable_bytes <= volume.total_bytes


def test_closing_forgets_handles_and_not_content(files: Files) -> None:
    files.make_directory("topic-0")
    files.append("topic-0/log", [b"data"])
    files.close("topic-0")
    files.close("topic-0/log")
    files.sync("topic-0/log")
    assert files.append("topic-0/log", [b"!"]) == 5


def test_more_files_than_are_kept_open_all_work(files: Files) -> None:
    for round_number in range(3):
        for number in range(10):
            assert files.append(f"log{number}", [b"x"]) == round_number + 1
            assert bytes(files.read(f"log{9 - number}", 0, 9) if round_number else b"") in (
                b"x" * round_number,
                b"x" * (round_number + 1),
            )


operations = st.one_of(
    st.tuples(st.just("append"), st.integers(0, 2), st.binary(max_size=30)),
    st.tuples(st.just("truncate"), st.integers(0, 2), st.integers(0, 40)),
    st.tuples(st.just("replace"), st.integers(0, 2), st.binary(max_size=30)),
    st.tuples(st.just("write"), st.integers(0, 2), st.binary(max_size=30)),
    st.tuples(st.just("remove"), st.integers(0, 2), st.none()),
    st.tuples(st.just("rename"), st.integers(0, 2), st.integers(0, 2)),
    st.tuples(st.just("sync"), st.integers(0, 2), st.none()),
    st.tuples(st.just("rewrite"), st.integers(0, 2), st.integers(0, 40)),
)


def outcome(files: Files, operation: str, path: str, argument: object) -> object:
    if operation == "append":
        argument = [argument]
    elif operation == "rename":
        argument = f"file{argument}"
    try:
        return getattr(files, operation)(path, *([] if argument is None else [argument]))
    except DiskError:
        return "refused"


@given(st.lists(operations, max_size=25))
@settings(max_examples=60, suppress_health_check=list(HealthCheck))
def test_both_end_up_the_same_whatever_is_done(tmp_path_factory, steps) -> None:
    both: list[Files] = [DiskFiles(tmp_path_factory.mktemp("disk"), open_files_max=2), SimFiles()]
    for operation, number, argument in steps:
        outcomes = [outcome(files, operation, f"file{number}", argument) for files in both]
        assert outcomes[0] == outcomes[1], (operation, number, argument)
    contents = [
        {name: bytes(files.read(name, 0, 1_000)) for name in files.list("")} for files in both
    ]
    assert contents[0] == contents[1]
    for number in range(3):
        both[0].close(f"file{number}")


# --- faults, which only the simulated disk can be told to have ---


@pytest.mark.parametrize("rewritten", [False, True])
def test_what_a_failed_sync_dropped_can_be_read_until_the_power_goes_and_only_rewriting_saves_it(
    rewritten: bool,
) -> None:
    files = SimFiles()
    files.append("log", [b"a" * 10])
    files.sync("log")
    files.append("log", [b"b" * 10])
    files.ailing = True
    with pytest.raises(SyncError):
        files.sync("log")
    files.ailing = False
    if rewritten:
        files.rewrite("log", 10)
    files.append("log", [b"c" * 10])
    files.sync("log")
    assert bytes(files.read("log", 0, 30)) == b"a" * 10 + b"b" * 10 + b"c" * 10
    files.crash(random.Random(1))
    middle = b"b" * 10 if rewritten else bytes(10)
    assert bytes(files.read("log", 0, 30)) == b"a" * 10 + middle + b"c" * 10


def test_a_full_disk_takes_what_fits_and_then_refuses_until_there_is_room() -> None:
    files = SimFiles()
    files.full_after(5)
    with pytest.raises(DiskError, match="full"):
        files.append("log", [b"abc", b"defg"])
    assert bytes(files.read("log", 0, 10)) == b"abcde"
    with pytest.raises(DiskError, match="full"):
        files.replace("state", b"x")
    files.full_after(None)
    assert files.append("log", [b"f"]) == 6
