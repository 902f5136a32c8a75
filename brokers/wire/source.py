"""Python source put together line by line, compiled to a function when it is complete."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any


class PythonSource:
    """An indented text under construction, the values it refers to, and fresh variable names."""

    def __init__(self, names: Mapping[str, object]) -> None:
        self.names = dict(names)
        self._lines: list[str] = []
        self._depth = 0
        self._count = 0

    def line(self, text: str) -> None:
        self._lines.append("    " * self._depth + text)

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """Lines written within are indented below `head`."""
        self.line(head)
        self._depth += 1
        yield
        self._depth -= 1

    def fresh(self, stem: str) -> str:
        """A name that nothing else in this source has."""
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
        """The function `name` of this source; `title` stands for a file name in tracebacks."""
        exec(compile(self.text(), f"<{title}>", "exec"), self.names)
        function: Callable[..., Any] = self.names[name]  # type: ignore[assignment]
        return function
