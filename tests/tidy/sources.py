"""The repository's own files, as the house rules see them."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
SHIPPED = ("brokers", "linker", "federation")
_OTHER_FOLDERS = ("tests", "proto", "deploy", ".ci")
_TEXT_SUFFIXES = frozenset(
    [".py", ".md", ".toml", ".txt", ".proto", ".xml", ".yaml", ".yml", ".sh", ".html", ".j2", ".in"]
)


@dataclass(frozen=True, slots=True)
class Source:
    """One Python file: its path from the root, dotted module name and text."""

    path: str
    module: str
    text: str

    @property
    def is_generated(self) -> bool:
        first = self.text.partition("\n")[0]
        return "Generated" in first or "_pb2" in self.path

    def tree(self) -> ast.Module:
        return _parsed(self)

    def nodes(self) -> tuple[ast.AST, ...]:
        """Everything in the file, parents before children."""
        return _walked(self)


@cache
def _parsed(source: Source) -> ast.Module:
    return ast.parse(source.text, source.path)


@cache
def _walked(source: Source) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(source.tree()))


@cache
def python_sources() -> tuple[Source, ...]:
    """Every Python file that ships or tests, in order of path."""
    return tuple(
        _source(path)
        for folder in (*SHIPPED, "tests")
        for path in sorted((ROOT / folder).rglob("*.py"))
    )


def shipped_sources() -> list[Source]:
    return [source for source in python_sources() if source.path.startswith(SHIPPED)]


def hand_written() -> list[Source]:
    return [source for source in python_sources() if not source.is_generated]


def text_files() -> Iterator[tuple[str, str]]:
    """(path, text) of everything that is committed as text."""
    for path in sorted(ROOT.iterdir()):
        if path.is_file() and path.name != ".git":
            yield path.name, path.read_text(errors="replace")
    for folder in (*SHIPPED, *_OTHER_FOLDERS):
        for path in sorted((ROOT / folder).rglob("*")):
            is_text = path.suffix in _TEXT_SUFFIXES or path.parent.name == ".ci"
            if path.is_file() and is_text and "__pycache__" not in path.parts:
                yield str(path.relative_to(ROOT)), path.read_text(errors="replace")


def _source(path: Path) -> Source:
    relative = path.relative_to(ROOT)
    module = ".".join(relative.with_suffix("").parts).removesuffix(".__init__")
    return Source(str(relative), module, path.read_text())
