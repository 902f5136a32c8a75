"""Which shipped module imports which when the product runs."""

import ast
from collections.abc import Iterator, Mapping
from functools import cache

from tests.tidy.sources import shipped_sources

Imports = Mapping[str, set[str]]


@cache
def imports_at_run_time() -> Imports:
    """The shipped modules that each one imports: inside functions too, for the type checker alone not."""
    trees = {source.module: source.tree() for source in shipped_sources()}
    return {
        module: {name for name in _imported(tree, set(trees)) if name in trees and name != module}
        for module, tree in trees.items()
    }


def circles(imports: Imports) -> list[list[str]]:
    """Each set of modules that reach one another."""
    reached = {module: _reached(module, imports) for module in imports}
    found = {
        tuple(sorted(other for other in seen if module in reached[other]))
        for module, seen in reached.items()
        if module in seen
    }
    return sorted(list(circle) for circle in found)


def _reached(module: str, imports: Imports) -> set[str]:
    seen: set[str] = set()
    waiting = [module]
    while waiting:
        new = imports[waiting.pop()] - seen
        seen |= new
        waiting += new
    return seen


def _imported(node: ast.AST, modules: set[str]) -> Iterator[str]:
    match node:
        case ast.If(test=ast.Name("TYPE_CHECKING")):
            return
        case ast.ImportFrom(module=str(package), names=names):
            full = [f"{package}.{name.name}" for name in names]
            yield from (name if name in modules else package for name in full)
        case ast.Import(names=names):
            yield from (name.name for name in names)
    for child in ast.iter_child_nodes(node):
        yield from _imported(child, modules)
