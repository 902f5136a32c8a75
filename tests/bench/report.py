"""What a run found: a table for the eye, `bench.json` for machines, `bench.png` for the note."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot
from matplotlib.ticker import LogLocator, NullLocator
from rich.console import Console
from rich.table import Table

from tests.bench.client import Figures
from tests.bench.targets import (
    LINKED_MEASURES,
    MEASURES,
    REGION_MEASURES,
    WIDE_MEASURES,
    WIDE_REGION_MEASURES,
    AnyMeasure,
    Kind,
    Target,
)

OURS, PEER = "causeway", "kafka"
ALL: Mapping[str, AnyMeasure] = {
    **MEASURES,
    **REGION_MEASURES,
    **LINKED_MEASURES,
    **WIDE_REGION_MEASURES,
    **WIDE_MEASURES,
}
ALONE = (Kind.ALONE, Kind.ALONE_AT_LEAST)  # no bound on the ratio
Runs = Mapping[str, Mapping[str, list[Figures]]]  # measure -> system -> one per repetition


class Row(NamedTuple):
    """One figure: medians of ours and the peer's; `ratio` and `met` are None where there is no pair or no target."""

    measure: str
    title: str
    figure: str
    ours: float | None
    theirs: float | None
    ratio: float | None
    target: str
    met: bool | None


def rows(runs: Runs) -> Iterator[Row]:
    for name, systems in runs.items():
        middle = {system: medians(repetitions) for system, repetitions in systems.items()}
        ours, theirs = middle.get(OURS, {}), middle.get(PEER, {})
        targets = {target.figure: target for target in ALL[name].targets}
        for figure in ours or theirs:
            yield _row(name, figure, ours, theirs, targets.get(figure))


def _row(name: str, figure: str, ours: Figures, theirs: Figures, target: Target | None) -> Row:
    ours_value = ours.get(figure)
    theirs_value = theirs.get(target.against or figure if target else figure)
    shown = f"{figure} / {target.against}" if target and target.against else figure
    ratio = ours_value / theirs_value if ours_value is not None and theirs_value else None
    met = target.met(ours_value, theirs_value) if target and ours_value is not None else None
    title = ALL[name].title
    return Row(name, title, shown, ours_value, theirs_value, ratio, str(target or ""), met)


def medians(repetitions: list[Figures]) -> Figures:
    """The median of each figure over the repetitions that have it."""
    figures = dict.fromkeys(figure for one in repetitions for figure in one)
    return {
        figure: median(one[figure] for one in repetitions if figure in one) for figure in figures
    }


def show(found: list[Row], console: Console) -> None:
    table = Table(title="Causeway and Apache Kafka with MirrorMaker 2, medians")
    table.add_column("work")
    table.add_column("figure")
    for column in ("ours", "Kafka", "ratio", "target"):
        table.add_column(column, justify="right")
    table.add_column("")
    before = ""
    for row in found:
        if row.title != before:
            table.add_section()
        title = row.title if row.title != before else ""
        verdict = {True: "[green]met[/]", False: "[red]missed[/]", None: ""}[row.met]
        table.add_row(
            title,
            row.figure,
            _number(row.ours),
            _number(row.theirs),
            _number(row.ratio),
            row.target,
            verdict,
        )
        before = row.title
    console.print(table)


def _number(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def write(directory: Path, runs: Runs, found: list[Row], about: Mapping[str, Any]) -> None:
    """Writes `bench.json` and `bench.png` into `directory`."""
    directory.mkdir(parents=True, exist_ok=True)
    whole = {"about": about, "rows": [row._asdict() for row in found], "runs": runs}
    (directory / "bench.json").write_text(json.dumps(whole, indent=1) + "\n")
    aimed = [row for row in found if row.ratio is not None and row.target]
    if aimed:
        _plot(aimed, directory / "bench.png")


def _plot(found: list[Row], path: Path) -> None:
    """Each ratio as a bar on a log scale, its target as a mark; green met, red missed."""
    figure, axes = pyplot.subplots(figsize=(10, 0.42 * len(found) + 1.4), layout="constrained")
    places = range(len(found))
    colours = ["tab:green" if row.met else "tab:red" for row in found]
    axes.barh(places, [(row.ratio or 1) - 1 for row in found], left=1, color=colours, height=0.6)
    for place, row in zip(places, found, strict=True):
        target = next(t for t in ALL[row.measure].targets if t.figure == row.figure.split(" ")[0])
        if target.kind not in ALONE:
            axes.plot([target.bound] * 2, [place - 0.4, place + 0.4], color="black", linewidth=2)
        axes.annotate(
            f" {row.ratio:.2f} ", (row.ratio or 1, place), va="center",
            ha="left" if (row.ratio or 1) >= 1 else "right", fontsize=8,
        )  # fmt: skip
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_locator(NullLocator())
    axes.axvline(1, color="grey", linewidth=1)
    axes.set_yticks(places, [f"{row.title}: {row.figure}" for row in found], fontsize=8)
    axes.invert_yaxis()
    axes.margins(x=0.15)
    axes.set_xlabel("ours / Apache Kafka's (log scale; a black mark is the target)")
    figure.savefig(path, dpi=120)
    pyplot.close(figure)
