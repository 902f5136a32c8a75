"""Python source that is written line by line and compiled to a function."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any


class SourceWriter:
    """Indented source, the values to which it refers, and unused variable names."""

    def __init__(self, names: Mapping[str, object]) -> None:
        self.names = dict(names)
        self._lines: list[str] = []
        self._depth = 0
        self._count = 0

    def line(self, text: str) -> None:
        self._lines.append("    " * self._depth + text)

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """A context manager: lines written within it are indented below `head`."""
        self.line(head)
        self._depth += 1
        yield
        self._depth -= 1

    def fresh(self, stem: str) -> str:
        """A name that is not used in this source."""
        self._count += 1
        return f"{stem}{self._count}"

    def constant(self, stem: str, value: object) -> str:
        """The name under which the source can use `value`."""
        for name, known in self.names.items():
            if known is value:
                return name
        name = self.fresh(stem)
        self.names[name] = value
        return name

    def text(self) -> str:
        return "\n".join(self._lines) + "\n"

    def function(self, name: str, title: str) -> Callable[..., Any]:
        """The compiled function `name`; `title` is shown as the file name in tracebacks."""
        exec(compile(self.text(), f"<{title}>", "exec"), self.names)
        function: Callable[..., Any] = self.names[name]  # type: ignore[assignment]
        return function
