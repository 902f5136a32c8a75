"""What single units found, put together."""

import json
from itertools import permutations

from federation.audit.comparison.findings import Class, Finding, Side
from federation.audit.verdict.holes import KnownHole
from federation.audit.verdict.settle import settle


def finding(
    kind: Class,
    start: int,
    stop: int,
    side: Side = Side.NEITHER,
    source: str = "",
    mirror: str = "",
) -> Finding:
    return Finding(
        "t", 0, start, stop, kind, side, start, 1, stop - start, source, mirror, evidence='{"a": 1}'
    )


def missing(start: int, stop: int, print_: str = "x") -> Finding:
    return finding(Class.MISSING_ON_MIRROR, start, stop, source=print_)


def extra(start: int, stop: int, print_: str = "x") -> Finding:
    return finding(Class.EXTRA_ON_MIRROR, start, stop, mirror=print_)


def stray(start: int, stop: int, side: Side = Side.MIRROR, print_: str = "x") -> Finding:
    prints = {"mirror": print_} if side is Side.MIRROR else {"source": print_}
    return finding(Class.DISPLACED, start, stop, side, **prints)


def kinds(*findings: Finding, holes: tuple[KnownHole, ...] = ()) -> list[tuple[str, str, int, int]]:
    """Settled, and the same in whatever order the units came in."""
    orders = {
        tuple((one.kind.value, one.side.value, one[2], one[3]) for one in settle(order, holes))
        for order in permutations(findings)
    }
    assert len(orders) == 1
    return list(orders.pop())


def test_a_batch_missing_here_and_displaced_there_was_moved() -> None:
    assert kinds(missing(5, 8), stray(5, 8)) == [("out_of_order", "mirror", 5, 8)]
    assert kinds(extra(5, 8), stray(5, 8, Side.SOURCE)) == [("out_of_order", "source", 5, 8)]


def test_a_displaced_batch_that_is_missing_nowhere_is_extra() -> None:
    assert kinds(stray(5, 8)) == [("extra_on_mirror", "", 5, 8)]
    assert kinds(stray(5, 8, Side.SOURCE)) == [("missing_on_mirror", "", 5, 8)]


def test_the_same_disorder_on_both_sides_is_one_finding() -> None:
    both = stray(5, 8), stray(5, 8, Side.SOURCE)
    assert kinds(*both) == [("out_of_order", "both", 5, 8)]
    twice = (one._replace(kind=Class.DUPLICATE) for one in both)
    assert kinds(*twice) == [("duplicate", "both", 5, 8)]


def test_one_batch_under_two_base_offsets_diverges_where_the_source_has_it() -> None:
    (found,) = settle([missing(5, 8), extra(64, 67)], ())
    assert (found.kind, found[2:4]) == (Class.DIVERGENT, (5, 8))
    assert json.loads(found.evidence)["header"] == {"base_offset": [5, 64]}
    assert kinds(missing(5, 8), stray(1, 4)) == [("divergent", "", 5, 8)]


def test_as_many_batches_are_rebased_as_there_are_on_both_sides() -> None:
    found = kinds(missing(5, 8), missing(15, 18), extra(64, 67))
    assert sorted(kind for kind, *_ in found) == ["divergent", "missing_on_mirror"]


def test_other_batches_at_missing_offsets_explain_nothing() -> None:
    assert kinds(missing(5, 8, "x"), extra(20, 23, "y")) == [
        ("missing_on_mirror", "", 5, 8),
        ("extra_on_mirror", "", 20, 23),
    ]


def test_what_lies_in_the_dark_is_not_known_to_be_missing() -> None:
    dark = finding(Class.UNREADABLE, 4, 9, Side.MIRROR)
    assert kinds(missing(5, 8), dark) == [("unreadable", "mirror", 4, 9)]
    assert len(kinds(extra(5, 8), dark)) == 2
    assert kinds(extra(5, 8), dark._replace(side=Side.SOURCE)) == [("unreadable", "source", 4, 9)]
    assert kinds(missing(5, 8), extra(5, 8, "y"), dark._replace(side=Side.BOTH)) == [
        ("unreadable", "both", 4, 9)
    ]
    assert len(kinds(missing(9, 12), dark)) == 2


def test_a_hole_in_the_ledger_is_no_fault_and_one_that_is_not_is() -> None:
    holes = (KnownHole("t", 0, 5, 8, "the source had expired it"),)
    (found,) = settle([missing(5, 8)], holes)
    assert found.kind is Class.KNOWN_HOLE
    assert json.loads(found.evidence)["cause"] == "the source had expired it"
    assert kinds(missing(5, 9), holes=holes) == [("missing_on_mirror", "", 5, 9)]
    assert kinds(extra(5, 8), holes=holes) == [("extra_on_mirror", "", 5, 8)]


def test_what_a_restore_cut_from_the_mirror_excuses_nothing() -> None:
    """The source's records of these offsets have to follow."""
    holes = (KnownHole("t", 0, 5, 8, "DIVERGENCE_CUT"),)
    assert kinds(missing(5, 8), holes=holes) == [("missing_on_mirror", "", 5, 8)]
    assert kinds(extra(5, 8), holes=holes) == [("extra_on_mirror", "", 5, 8)]


def test_neighbours_of_one_class_are_one_range() -> None:
    (found,) = settle([missing(5, 8, "a"), missing(8, 9, "b"), missing(9, 20, "c")], ())
    assert (found[2:4], found.batches, found.records) == ((5, 20), 3, 15)
    assert len(kinds(missing(5, 8, "a"), missing(9, 20, "b"))) == 2
    damaged = finding(Class.DAMAGED, 8, 9, Side.MIRROR)
    assert len(kinds(damaged, finding(Class.DAMAGED, 9, 10, Side.SOURCE))) == 2
