"""Files that another thread reads or writes for itself, on the real disk and the simulated one alike."""

import pytest

from brokers.ports import DiskError, Files


def test_a_file_of_a_writer_appears_whole_and_in_place_of_the_one_before(files: Files) -> None:
    files.make_directory("topic-0")
    for content in (b"first", b"other"):
        writer = files.writer("topic-0/digest")
        writer.write(content)
        writer.write(memoryview(b" and more"))
        before = bytes(files.read("topic-0/digest", 0, 99)) if content == b"other" else None
        assert before in (None, b"first and more")
        assert list(files.list("topic-0")) == ["digest", "digest.tmp"][before is None :]
        files.close("topic-0/digest")
        writer.finish()
        assert list(files.list("topic-0")) == ["digest"]
        assert bytes(files.read("topic-0/digest", 0, 99)) == content + b" and more"


def test_a_writer_that_is_given_up_leaves_the_file_that_was_there(files: Files) -> None:
    files.append("digest", [b"before"])
    writer = files.writer("digest")
    writer.write(b"never")
    writer.give_up()
    assert list(files.list("")) == ["digest"]
    assert bytes(files.read("digest", 0, 99)) == b"before"


def test_a_writer_begins_anew_what_another_process_left(files: Files) -> None:
    files.append("digest.tmp", [b"torn"])
    writer = files.writer("digest")
    writer.write(b"whole")
    writer.finish()
    assert bytes(files.read("digest", 0, 99)) == b"whole"


def test_a_writer_whose_folder_is_gone_is_refused(files: Files) -> None:
    with pytest.raises(DiskError, match="topic-0/digest"):
        files.writer("topic-0/digest")
    files.make_directory("topic-0")
    writer = files.writer("topic-0/digest")
    writer.write(b"late")
    files.rename("topic-0", "aside")
    with pytest.raises(DiskError, match="topic-0/digest"):
        writer.finish()
    writer.give_up()
    assert not files.exists("topic-0")


def test_a_reader_reads_the_file_that_it_has_opened(files: Files) -> None:
    files.append("log", [b"0123456789"])
    reader = files.reader("log")
    assert reader.read(3, 4) == b"3456" and reader.read(8, 100) == b"89"
    assert reader.read(10, 1) == b""
    files.append("log", [b"more"])
    assert reader.read(10, 9) == b"more"
    files.truncate("log", 5)
    assert reader.read(3, 4) == b"34"
    files.remove("log")
    assert reader.read(0, 2) == b"01"
    reader.close()
    with pytest.raises(DiskError, match="log"):
        files.reader("log")
