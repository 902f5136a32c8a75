"""The page and its picture."""

import base64
import io
import random
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from PIL import Image

from federation.audit.comparison.findings import NOTES, Class, Finding, Side
from federation.audit.report.page import FINDINGS_MAX, instant, page
from federation.audit.report.pictures import (
    COLOURS,
    EQUAL,
    ROWS_MAX,
    amount,
    coverage,
    overview,
    percent,
    shown,
)
from federation.audit.report.tables import summary
from federation.audit.result import AuditResult
from federation.audit.verdict.verdicts import PartitionVerdict, Verdict
from tests.quick import some
from tests.spark.cases import Case, audit, planted


def row(partition: int, verdict: Verdict = Verdict.KEPT, lag: int = 0) -> PartitionVerdict:
    return PartitionVerdict(
        "orders", partition, verdict, 0, 1000, 1000, 0, 0, 10, 1000, 5000, 5000, 1.0, 1.0, -1, "",
        lag, lag * 10, lag, 0, 0, 1000 + lag, "listed", 0, 1000, "listed", "a", "a",
    )  # fmt: skip


def finding(kind: Class, partition: int = 0, start: int = 400, stop: int = 401) -> Finding:
    return Finding("orders", partition, start, stop, kind, Side.MIRROR, start)


def colours(picture: bytes) -> set[tuple[int, ...]]:
    image = Image.open(io.BytesIO(picture)).convert("RGB")
    counted = image.getcolors(1 << 24)
    assert counted is not None
    return {colour for count, colour in counted if count > 20 and isinstance(colour, tuple)}


def rgb(name: str) -> tuple[int, ...]:
    return tuple(int(COLOURS[name][at : at + 2], 16) for at in (1, 3, 5))


@pytest.mark.parametrize("kind", some(sorted(set(Class) - {Class.DISPLACED})))
def test_one_bad_offset_in_very_many_is_seen_in_the_colour_of_its_class(kind: Class) -> None:
    far = row(0)._replace(source_end=10**12, mirror_end=10**12, compared_to=10**12)
    picture = overview([far], [finding(kind)])
    assert rgb(kind) in colours(picture) or kind in NOTES
    assert rgb(EQUAL) in colours(picture)
    assert rgb(Class.MISSING_ON_MIRROR) not in colours(overview([far], []))


def test_every_class_has_a_colour_of_its_own() -> None:
    assert COLOURS.keys() == (set(Class) - {Class.DISPLACED}) | {EQUAL}
    assert len(set(COLOURS.values())) == len(COLOURS)


def test_the_same_result_is_the_same_picture() -> None:
    rows = [row(0), row(1, Verdict.BROKEN, lag=30)]
    found = [finding(Class.MISSING_ON_MIRROR, 1)]
    assert overview(rows, found) == overview(rows, found)


def test_empty_and_odd_partitions_can_be_drawn() -> None:
    empty = row(0)._replace(
        source_end=0, mirror_end=0, compared_to=0, offsets=0, source_bytes=0, mirror_bytes=0
    )
    assert overview([empty], []).startswith(b"\x89PNG")
    assert overview([], []).startswith(b"\x89PNG")
    outside = finding(Class.DIVERGENT, start=1 << 60, stop=(1 << 60) + 5)
    assert rgb(Class.DIVERGENT) in colours(overview([row(0)], [outside]))


def test_of_too_many_partitions_the_worst_are_shown_in_order() -> None:
    rows = [row(number) for number in range(200)]
    rows[150], rows[170], rows[190] = (
        row(150, Verdict.BROKEN),
        row(170, Verdict.UNKNOWN),
        row(190, lag=5),
    )
    chosen = [one.partition for one in shown(rows)]
    assert len(chosen) == ROWS_MAX
    assert chosen == sorted(chosen)
    assert {150, 170, 190, 0} <= set(chosen)


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 KB"),
        (41_212, "41.2 KB"),
        (2.5e9, "2.5 GB"),
        (5e12, "5.00 TB"),
    ],
)
def test_bytes_for_people(count: float, text: str) -> None:
    assert amount(count) == text


def test_coverage_is_the_least_of_bytes_and_offsets_and_never_rounded_up_to_all() -> None:
    assert coverage(row(0)) == 1
    assert coverage(row(0)._replace(offsets=500)) == 0.5
    assert coverage(row(0)._replace(mirror_coverage=0.25)) == 0.25
    assert coverage(row(0)._replace(compared_to=0, offsets=0)) == 1
    assert (percent(1.0), percent(0.999_999), percent(0.5)) == ("100 %", "99.99 %", "50.00 %")


def test_instants_for_people() -> None:
    assert instant(1_700_000_000_007) == "2023-11-14 22:13:20.007 UTC"


class Tags(HTMLParser):
    """Every tag opened, with its attributes, and the text between."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def parsed(case: Case, result: AuditResult) -> Tags:
    tags = Tags()
    tags.feed(page(result, summary(result, case.options(), 1.0)))
    return tags


def test_the_page_needs_nothing_beside_it_and_shows_the_picture(tmp_path: Path) -> None:
    case = planted(str(tmp_path), 4, ("missing", "zeros", "swapped"))
    found = parsed(case, audit(case.options()))
    links = [
        value
        for _, attributes in found.tags
        for name, value in attributes.items()
        if name in ("src", "href")
    ]
    assert len(links) == 1
    prefix, _, picture = str(links[0]).partition("base64,")
    assert prefix == "data:image/png;"
    assert base64.b64decode(picture).startswith(b"\x89PNG")
    assert not [tag for tag, _ in found.tags if tag in ("script", "link", "iframe")]
    for word in (
        "Broken",
        "missing on mirror",
        "unreadable",
        "out of order",
        "flights-0",
        "P11",
        "deep",
    ):
        assert word in found.text


@pytest.mark.parametrize(
    ("names", "headline"), [((), "Kept"), (("zeros",), "Unknown"), (("extra",), "Broken")]
)
def test_the_headline_is_the_verdict(tmp_path: Path, names: tuple[str, ...], headline: str) -> None:
    case = planted(str(tmp_path), 4, names)
    text = parsed(case, audit(case.options())).text
    assert re.search(rf"^{headline}$", text, re.MULTILINE)


def test_what_stands_in_records_is_text_on_the_page(tmp_path: Path) -> None:
    case = planted(str(tmp_path), 4, ("missing",))
    result = audit(case.options())
    hostile = result.findings[0]._replace(evidence='{"key": "<script>alert(1)</script>"}')
    found = parsed(case, result._replace(findings=(hostile,)))
    assert "script" not in {tag for tag, _ in found.tags}
    assert "<script>alert(1)</script>" in found.text


def test_a_page_has_room_for_so_many_findings_and_says_what_it_leaves_out(tmp_path: Path) -> None:
    case = planted(str(tmp_path), 4, ())
    result = audit(case.options())
    seed = random.Random(1)
    many = tuple(
        finding(seed.choice(list(Class)), start=n, stop=n + 1) for n in range(FINDINGS_MAX + 7)
    )
    found = parsed(case, result._replace(findings=many))
    assert "7 more in findings.parquet" in found.text
    assert found.text.count("orders-0") == FINDINGS_MAX
