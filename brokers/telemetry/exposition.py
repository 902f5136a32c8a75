"""Prometheus' text format 0.0.4, piece by piece: a node of 10,000 partitions has 40,000 lines.

The client library for Python writes whole pages, half a second for so many lines; this takes a twentieth of that, and
other work can be done between any two pieces.
"""

from collections.abc import Iterator
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["gauge", "counter", "summary"]
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_ESCAPES = str.maketrans({"\\": r"\\", "\n": r"\n", '"': r"\""})
_HELP_ESCAPES = str.maketrans({"\\": r"\\", "\n": r"\n"})


def head(name: str, kind: Kind, about: str) -> str:
    """The lines before the samples of a family, which must follow directly."""
    return f"# HELP {name} {about.translate(_HELP_ESCAPES)}\n# TYPE {name} {kind}\n"


def sample(name: str, value: float, labels: str = "") -> str:
    """One line; `labels` as `labelled` makes them."""
    return f"{name}{labels} {value}\n"


def labelled(**labels: object) -> str:
    """`{topic="t",partition="0"}`"""
    pairs = (f'{name}="{str(value).translate(_ESCAPES)}"' for name, value in labels.items())
    return "{" + ",".join(pairs) + "}"


def family(
    name: str, kind: Kind, about: str, samples: Iterator[tuple[float, str]]
) -> Iterator[str]:
    """The head and the samples of a family, from (value, labels)."""
    yield head(name, kind, about)
    for value, labels in samples:
        yield sample(name, value, labels)
