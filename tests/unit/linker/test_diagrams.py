"""The drawings in `linker/README.md` show the tables as they are."""

import re
from collections.abc import Mapping
from enum import Enum
from typing import Any

from linker.control import failover_phases
from linker.records import link_state, mirror_state
from tests.tidy.sources import ROOT

EDGE = re.compile(r"(.+) -->\|(.+)\| (\w+)")

Edges = set[tuple[str, str, str]]


def drawn(heading: str) -> Edges:
    """(from, trigger, to), by the names of the members; an edge from a subgraph is one from each of its nodes."""
    section = (ROOT / "linker/README.md").read_text().partition(f"## {heading}\n")[2]
    lines = section.partition("```mermaid\n")[2].partition("```")[0].splitlines()[1:]
    within: dict[str, set[str]] = {}
    open_subgraphs: list[str] = []
    edges: Edges = set()
    for line in map(str.strip, lines):
        if line.startswith("subgraph "):
            open_subgraphs.append(line.removeprefix("subgraph "))
        elif line == "end":
            open_subgraphs.pop()
        elif edge := EDGE.fullmatch(line):
            froms = {node for name in edge[1].split(" & ") for node in within.get(name, {name})}
            edges |= {(node, trigger, edge[3]) for node in froms for trigger in edge[2].split(", ")}
        else:
            for subgraph in open_subgraphs:
                within.setdefault(subgraph, set()).update(line.split(" & "))
    return edges


def tabled(transitions: Mapping[tuple[Any, Any], Enum]) -> Edges:
    return {(phase.name, trigger.name, to.name) for (phase, trigger), to in transitions.items()}


def test_the_states_of_a_link() -> None:
    changes = {edge for edge in tabled(link_state.TRANSITIONS) if edge[0] != edge[2]}
    assert drawn("The states of a link") == changes


def test_the_states_of_a_mirror_topic() -> None:
    assert drawn("The states of a mirror topic") == tabled(mirror_state.TRANSITIONS)


def test_the_phases_of_promote_and_failover() -> None:
    edges = drawn("The phases of promote and failover")
    assert edges == tabled(failover_phases.TRANSITIONS)
