"""What a mirror deletes, by what its source tells."""

import pytest

from linker.offset_bounds import OffsetBounds


@pytest.mark.parametrize(
    ("log_start", "in_sync", "deleted_below"),
    [
        (7, 7, 7),
        (7, 3, 3),  # a replica in sync has more
        (7, 0, 0),  # or has not told yet
        (7, -1, 7),  # a release that does not tell
        (7, 9, 7),  # a lie
    ],
)
def test_a_mirror_deletes_what_no_replica_in_sync_has(
    log_start: int, in_sync: int, deleted_below: int
) -> None:
    bounds = OffsetBounds(log_start, 10, 10, in_sync_log_start=in_sync)
    assert bounds.deleted_below == deleted_below
