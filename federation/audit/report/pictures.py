"""The picture that one looks at first: every partition from its oldest to its newest offset, coloured by what holds.

Beside it how much was read and how far the mirror is behind. Fixed size, font and order, no date: the same result is
the same picture.
"""

import io
from collections.abc import Sequence
from typing import Any

from federation.audit.comparison.findings import NOTES, Class, Finding, Severity
from federation.audit.verdict.verdicts import PartitionVerdict, Verdict

ROWS_MAX = 40
EQUAL = "equal"
COLOURS = {
    EQUAL: "#3a9d8f",
    Class.LAG: "#f0c75e",
    Class.EXPIRED_ON_ONE_SIDE: "#cfd6dc",
    Class.KNOWN_HOLE: "#8ecae6",
    Class.KNOWN_STALE: "#a3c9a8",
    Class.MARKER_MISSED: "#c5dfa0",
    Class.ORPHAN_TAIL: "#b08968",
    Class.UNREADABLE: "#4a4e58",
    Class.MISSING_ON_MIRROR: "#d62839",
    Class.EXTRA_ON_MIRROR: "#ff7b54",
    Class.DUPLICATE: "#b5179e",
    Class.OUT_OF_ORDER: "#7209b7",
    Class.DIVERGENT: "#a4133c",
    Class.CONTROL_BATCH_MISMATCH: "#9d4edd",
    Class.DAMAGED: "#e85d04",
    Class.EPOCH_MISMATCH: "#4361ee",
    Class.REBATCHED: "#c77dff",
    Class.MIRROR_AHEAD: "#ff4d8d",
    Class.REPLICA_DIVERGENT: "#bc6c25",
    Class.MALFORMED: "#c44536",
    Class.INDEX_DAMAGED: "#6d597a",
    Class.SEGMENT_MISSING: "#283d3b",
    Class.SEGMENTS_OVERLAP: "#8f2d56",
    Class.NOT_ASKED: "#8d99ae",
}
LIGHT = NOTES
INK, PALE = "#22303c", "#66788a"
VERDICT_COLOURS = {Verdict.KEPT: "#1b7f5c", Verdict.BROKEN: "#c1121f", Verdict.UNKNOWN: "#8a6d00"}
LEAST_SHARE = 0.006
"""However short a finding is, it is drawn this wide: one bad batch in a terabyte must be seen."""


def shown(partitions: Sequence[PartitionVerdict]) -> list[PartitionVerdict]:
    """The rows that are drawn: the worst first when there are too many, in the order of the table."""
    rank = {Verdict.BROKEN: 0, Verdict.UNKNOWN: 1, Verdict.KEPT: 2}
    worst = sorted(partitions, key=lambda row: (rank[row.verdict], -row.lag_offsets, row[:2]))
    return sorted(worst[:ROWS_MAX], key=lambda row: row[:2])


def overview(partitions: Sequence[PartitionVerdict], findings: Sequence[Finding]) -> bytes:
    """The picture as PNG."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    rows = shown(partitions)
    height = 1.5 + 0.34 * max(len(rows), 3)
    with pyplot.rc_context({"font.family": "DejaVu Sans", "font.size": 9, "text.color": INK}):
        figure, (ranges, read, behind) = pyplot.subplots(
            1, 3, figsize=(12.4, height), sharey=True, width_ratios=(6.4, 2.1, 1.6)
        )
        _ranges(ranges, rows, findings)
        _read(read, rows)
        _behind(behind, rows)
        ranges.set_ylim(len(rows) - 0.4, -0.6)
        _legend(figure, findings, height)
        figure.subplots_adjust(0.115, 0.62 / height, 0.985, 1 - 0.42 / height, wspace=0.05)
        target = io.BytesIO()
        figure.savefig(target, format="png", dpi=150, metadata={"Software": ""})
        pyplot.close(figure)
    return target.getvalue()


def _ranges(axes: Any, rows: Sequence[PartitionVerdict], findings: Sequence[Finding]) -> None:
    axes.set_title("offsets, oldest to newest", loc="left", fontsize=9.5, color=PALE)
    for number, row in enumerate(rows):
        low = min(row.source_log_start, row.mirror_log_start)
        span = max(row.source_end, row.mirror_end) - low
        axes.barh(number, 1, 0.62, color="#f2f4f6")
        if span > 0:
            equal = (row.compared_from - low) / span, (row.compared_to - row.compared_from) / span
            axes.barh(number, equal[1], 0.62, equal[0], color=COLOURS[EQUAL])
        mine = [one for one in findings if one[:2] == row[:2]]
        for one in sorted(mine, key=lambda one: _weight(one)):
            _mark(axes, number, one, low, max(1, span))
        _label_ends(axes, number, low, span, mine)
    axes.set_xlim(0, 1)
    _bare(axes)
    axes.set_yticks(range(len(rows)), [f"{row.topic}-{row.partition}" for row in rows])
    for label, row in zip(axes.get_yticklabels(), rows, strict=True):
        label.set_color(VERDICT_COLOURS[row.verdict])
        label.set_fontweight("bold" if row.verdict is not Verdict.KEPT else "normal")


def _label_ends(axes: Any, number: int, low: int, span: int, mine: Sequence[Finding]) -> None:
    """The first offset and the one after the last, on the bar."""
    if not span:
        axes.text(0.5, number, "empty", ha="center", va="center", fontsize=7, color=PALE)
        return
    for at, side, offset, near in (
        (0.005, "left", low, low),
        (0.995, "right", low + span, low + span - 1),
    ):
        light = any(one.kind in LIGHT and one.from_offset <= near < one.to_offset for one in mine)
        axes.text(
            at, number + 0.03, f"{offset:,}", ha=side, va="center", fontsize=7,
            color=INK if light else "white", zorder=5,
        )  # fmt: skip


def _weight(finding: Finding) -> int:
    """Faults are drawn over what cannot be read, and that over notes."""
    return {Severity.NOTE: 0, Severity.UNKNOWN: 1, Severity.FAULT: 2}[finding.severity]


def _mark(axes: Any, number: int, finding: Finding, low: int, span: int) -> None:
    start = (finding.from_offset - low) / span
    width = max((finding.to_offset - finding.from_offset) / span, LEAST_SHARE)
    start = min(max(start, 0), 1 - width) if width < 1 else 0
    grave = finding.severity is not Severity.NOTE
    axes.barh(
        number,
        min(width, 1),
        0.86 if grave else 0.62,
        start,
        color=COLOURS[finding.kind],
        edgecolor="white" if grave else "none",
        linewidth=0.6,
        hatch="////" if finding.severity is Severity.UNKNOWN else None,
    )


def _read(axes: Any, rows: Sequence[PartitionVerdict]) -> None:
    axes.set_title("read on source, mirror · compared", loc="left", fontsize=9.5, color=PALE)
    most = max((max(row.source_bytes, row.mirror_bytes) for row in rows), default=0) or 1
    for number, row in enumerate(rows):
        axes.barh(number - 0.16, 0.56 * row.source_bytes / most, 0.28, color="#2f5d8a")
        axes.barh(number + 0.16, 0.56 * row.mirror_bytes / most, 0.28, color="#7fb3d5")
        text = f"{amount(row.source_bytes + row.mirror_bytes)} · {percent(coverage(row))}"
        axes.text(0.99, number, text, va="center", ha="right", fontsize=7.5)
    axes.set_xlim(0, 1)
    _bare(axes)


def _behind(axes: Any, rows: Sequence[PartitionVerdict]) -> None:
    axes.set_title("mirror lag", loc="left", fontsize=9.5, color=PALE)
    most = max((row.lag_offsets for row in rows), default=0) or 1
    for number, row in enumerate(rows):
        axes.barh(number, 0.4 * row.lag_offsets / most, 0.5, color=COLOURS[Class.LAG])
        text = f"{row.lag_offsets:,} · {row.lag_ms:,} ms" if row.lag_offsets else "none"
        axes.text(
            0.99,
            number,
            text,
            va="center",
            ha="right",
            fontsize=7.5,
            color=INK if row.lag_offsets else PALE,
        )
    axes.set_xlim(0, 1)
    _bare(axes)


def _bare(axes: Any) -> None:
    axes.set_xticks([])
    axes.tick_params(length=0)
    for side in axes.spines.values():
        side.set_visible(False)


def _legend(figure: Any, findings: Sequence[Finding], height: float) -> None:
    from matplotlib.patches import Patch

    present = {one.kind for one in findings}
    kinds: list[Any] = [EQUAL, *(kind for kind in COLOURS if kind in present)]
    handles = [Patch(color=COLOURS[kind], label=str(kind).replace("_", " ")) for kind in kinds]
    figure.legend(
        handles=handles,
        loc="lower left",
        bbox_to_anchor=(0.108, 0.06 / height),
        ncols=min(8, len(handles)),
        frameon=False,
        fontsize=8.5,
        handlelength=1.1,
        handleheight=1.1,
        columnspacing=1.4,
    )


def coverage(row: PartitionVerdict) -> float:
    """The share of the compared range of which bytes were both read and understood."""
    span = row.compared_to - row.compared_from
    return min(row.source_coverage, row.mirror_coverage, row.offsets / span if span else 1.0)


def percent(share: float) -> str:
    """Never 100 % for less than all."""
    return "100 %" if share == 1 else f"{min(share, 0.9999):.2%}".replace("%", " %")


def amount(count: float) -> str:
    """Bytes for people: 1.2 GB."""
    for unit in ("B", "KB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.2f} TB"
