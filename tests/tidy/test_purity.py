"""What decides is a core: it touches no clock, file, socket, thread or generator of random numbers.

Whatever isn't a shell, a program's entry or an operator's tool is a core, so a new module is one until named here.
"""

import ast

from tests.tidy.sources import Source, shipped_sources

BANNED_IN_CORES = frozenset(
    {
        "asyncio",
        "concurrent",
        "grpc",
        "multiprocessing",
        "os",
        "pathlib",
        "random",
        "secrets",
        "select",
        "selectors",
        "signal",
        "socket",
        "ssl",
        "subprocess",
        "threading",
        "time",
        "uvloop",
    }
)

# Operators' tools and generators of code, which are programs and not parts of a node.
TOOLS = (
    "brokers.wire.generate",
    "federation.audit",
    "federation.cli",
    "federation.commands",
    "federation.demo",
    "federation.local",
)


def _is_core(source: Source) -> bool:
    parts = source.module.split(".")
    if "shell" in parts or parts[-1] == "__main__" or source.is_generated:
        return False
    return not any(source.module == tool or source.module.startswith(f"{tool}.") for tool in TOOLS)


def _imports(source: Source) -> list[tuple[int, str]]:
    """(line, top-level package) of each import, wherever in the file it stands."""
    found: list[tuple[int, str]] = []
    for node in source.nodes():
        if isinstance(node, ast.Import):
            found += [(node.lineno, name.name.partition(".")[0]) for name in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.append((node.lineno, node.module.partition(".")[0]))
    return found


def test_only_a_shell_touches_the_world() -> None:
    touching = [
        f"{source.path}:{line} imports {package}: let the shell do it, and tell the core by an event"
        for source in shipped_sources()
        if _is_core(source)
        for line, package in _imports(source)
        if package in BANNED_IN_CORES
    ]
    assert not touching, "\n".join(touching)


def test_only_a_shell_or_a_program_imports_a_shell() -> None:
    importing = [
        f"{source.path}:{node.lineno} imports {node.module}"
        for source in shipped_sources()
        if _is_core(source)
        for node in source.nodes()
        if isinstance(node, ast.ImportFrom) and node.module and "shell" in node.module.split(".")
    ]
    assert not importing, "\n".join(importing)


def test_the_tools_that_are_excused_exist() -> None:
    modules = {source.module for source in shipped_sources()}
    assert [tool for tool in TOOLS if tool not in modules] == []


def test_nothing_that_ships_knows_the_tests() -> None:
    knowing = [
        f"{source.path}:{line}"
        for source in shipped_sources()
        for line, package in _imports(source)
        if package in {"tests", "pytest", "hypothesis"}
    ]
    assert not knowing, "\n".join(knowing)


def test_nobody_imports_the_folder_of_proto_files() -> None:
    """A published package has that name: importing ours would shadow it, importing theirs would surprise us."""
    importing = [
        f"{source.path}:{line}"
        for source in shipped_sources()
        for line, package in _imports(source)
        if package == "proto"
    ]
    assert not importing, "\n".join(importing)
