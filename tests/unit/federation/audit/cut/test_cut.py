"""Which offsets an audit speaks for, from files alone; and what it does when nobody answers."""

import random
import socket
from pathlib import Path

import pytest

from federation.audit.cut.bounds import AuditedRegion
from federation.audit.cut.cut import take
from federation.audit.cut.listed_offsets import Unanswered, Which, offsets
from federation.audit.segments.checkpoints import HIGH_WATERMARKS, LOG_STARTS
from tests.spark import generate


def region(folder: Path, count: int = 10, bootstrap: str = "") -> AuditedRegion:
    made = generate.batches(random.Random(1), count)
    generate.write_partition(str(folder), "t", 0, {0: generate.stored(made)})
    return AuditedRegion(folder.name, (str(folder),), bootstrap)


def refusing_address() -> str:
    """An address at which nobody listens any more."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return f"127.0.0.1:{server.getsockname()[1]}"


def test_without_an_address_the_checkpoint_is_a_lower_bound_and_the_log_s_end_the_bound(
    tmp_path: Path,
) -> None:
    west, east = region(tmp_path / "west"), region(tmp_path / "east", count=5)
    generate.write_checkpoint(west.data_dirs[0], HIGH_WATERMARKS, {("t", 0): 3})
    generate.write_checkpoint(east.data_dirs[0], HIGH_WATERMARKS, {("t", 0): 900})
    cut = take(west, east, 7)
    assert cut.at_ms == 7
    assert (cut.source_ends.source, cut.source_ends.reason) == ("checkpoint", "no address given")
    source, mirror = cut.source["t", 0], cut.mirror["t", 0]
    assert source.log is not None
    assert (source.high_watermark, source.end) == (3, source.log.end_offset)
    assert (mirror.high_watermark, mirror.end) == (900, 900)
    assert not source.listed


def test_log_starts_come_from_their_checkpoint_or_the_first_file(tmp_path: Path) -> None:
    west, east = region(tmp_path / "west"), region(tmp_path / "east")
    generate.write_checkpoint(west.data_dirs[0], LOG_STARTS, {("t", 0): 6})
    cut = take(west, east, 0)
    assert cut.source["t", 0].log_start == 6
    assert cut.mirror["t", 0].log_start == 0


def test_a_partition_that_only_a_checkpoint_knows_has_no_log(tmp_path: Path) -> None:
    west, east = region(tmp_path / "west"), region(tmp_path / "east")
    generate.write_checkpoint(west.data_dirs[0], HIGH_WATERMARKS, {("t", 0): 3, ("t", 1): 8})
    bounds = take(west, east, 0).source["t", 1]
    assert (bounds.log, bounds.log_start, bounds.end) == (None, 0, 8)


def test_a_region_that_does_not_answer_is_read_from_its_files_and_the_reason_is_kept(
    tmp_path: Path,
) -> None:
    address = refusing_address()
    west, east = region(tmp_path / "west", bootstrap=address), region(tmp_path / "east")
    ends = take(west, east, 0).source_ends
    assert ends.source == "checkpoint"
    assert ends.reason.startswith(address)


@pytest.mark.parametrize("address", ["nonsense", "127.0.0.1:port", "127.0.0.1:99999999"])
def test_an_address_that_is_none_is_unanswered(address: str) -> None:
    with pytest.raises(Unanswered):
        offsets(address, [("t", 0)], Which.LATEST)


def test_nobody_is_asked_for_nothing() -> None:
    assert offsets("nonsense", [], Which.LATEST) == {}


def test_data_directories_of_several_nodes_are_one_region(tmp_path: Path) -> None:
    one, two = region(tmp_path / "one", 4), region(tmp_path / "two", 9)
    for node, offset in ((one, 3), (two, 5)):
        generate.write_checkpoint(node.data_dirs[0], HIGH_WATERMARKS, {("t", 0): offset})
        generate.write_checkpoint(node.data_dirs[0], LOG_STARTS, {("t", 0): offset - 3})
    both = AuditedRegion("both", (*one.data_dirs, *two.data_dirs))
    bounds = take(both, two, 0).source["t", 0]
    assert bounds.log is not None
    assert bounds.log.folder.startswith(two.data_dirs[0])
    assert (bounds.high_watermark, bounds.log_start) == (5, 2)
