"""What a power cut leaves on the disk in memory."""

import random

import pytest

from tests.sim.files import SimFiles


def test_a_crash_keeps_what_was_synced_and_a_prefix_at_most_of_the_rest() -> None:
    lost = kept = torn = 0
    for seed in range(200):
        files = SimFiles()
        files.append("log", [b"a" * 600])
        files.sync("log")
        files.append("log", [b"b" * 3_000])
        files.crash(random.Random(seed))
        data = bytes(files.read("log", 0, 10_000))
        assert data[:600] == b"a" * 600
        assert len(data) <= 3_600
        lost += len(data) < 3_600
        kept += len(data) > 600
        torn += data[600:] != b"b" * (len(data) - 600)
    assert lost > 150
    assert kept > 150
    assert torn > 10


def test_a_crash_may_take_a_file_whose_name_was_never_synced() -> None:
    gone = 0
    for seed in range(50):
        files = SimFiles()
        files.append("log", [b"data"])
        files.crash(random.Random(seed))
        gone += not files.exists("log")
    assert 5 < gone < 45


@pytest.mark.parametrize("is_synced", [False, True])
def test_what_was_written_anew_may_be_old_new_or_torn_after_a_crash_until_it_is_synced(
    is_synced: bool,
) -> None:
    found = set()
    for seed in range(200):
        files = SimFiles()
        files.replace("state", b"old")
        files.write("state", b"in the middle")
        files.write("state", b"new")
        if is_synced:
            files.sync("state")
        files.crash(random.Random(seed))
        found.add(bytes(files.read("state", 0, 20)))
    assert {b"old", b"new"} < found if not is_synced else found == {b"new"}
    assert b"in the middle" not in found


def test_what_was_replaced_or_renamed_survives_a_crash() -> None:
    for seed in range(50):
        files = SimFiles()
        files.replace("state", b"one")
        files.replace("state", b"two")
        files.rename("state", "kept")
        files.crash(random.Random(seed))
        assert bytes(files.read("kept", 0, 10)) == b"two"
        assert not files.exists("state")


def test_changes_of_names_that_nobody_synced_are_taken_back_by_a_crash_from_the_last_on() -> None:
    seen = set()
    for seed in range(60):
        files = SimFiles()
        for name in ("a", "b"):
            files.replace(name, name.encode())
        sync = files.begin_changes(["b"], [("a", "c")])
        if seed % 3 == 0:
            sync()
        files.crash(random.Random(seed))
        found = tuple(files.list(""))
        assert found == ("c",) or seed % 3
        seen.add(found)
    assert seen == {("a", "b"), ("a",), ("c",)}


@pytest.mark.parametrize("power_fails", [False, True])
def test_what_a_process_was_writing_when_it_ended_takes_nothing_from_the_next(
    power_fails: bool,
) -> None:
    files = SimFiles()
    begun = files.writer("log")
    begun.write(b"of the first life")
    if power_fails:
        files.crash(random.Random(1))
    else:
        files.end_process()
    again = files.writer("log")
    again.write(b"one ")
    begun.give_up()
    again.write(b"two")
    again.finish()
    assert bytes(files.read("log", 0, 20)) == b"one two"
    with pytest.raises(AssertionError, match="has ended"):
        begun.write(b"more")
