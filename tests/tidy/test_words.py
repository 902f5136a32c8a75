"""Names that say nothing, text that belongs elsewhere, and tests that would not test."""

import ast
import re

from tests.tidy.sources import (
    ROOT,
    SHIPPED,
    hand_written,
    python_sources,
    shipped_sources,
    text_files,
)

BANNED_MODULE_NAMES = frozenset({"utils", "util", "common", "helpers", "helper", "base", "misc"})

UNFINISHED = re.compile(r"\b(?:TODO|FIXME|XXX|HACK)\b")

# Where packages come from is each machine's own business, and so is where it keeps things.
ELSEWHERE = re.compile(
    r"(?:repo1?\.maven\.|pypi\.org|pythonhosted\.org|index-url|find-links|proxy\.golang)"
    r"|(?<![\w.])/(?:home|root|work|Users|opt/wheels)/"
)

# Words of design.md that have one meaning, and the forms that would give them a second one.
BANNED_NAMES = re.compile(
    r"\b(?:datacenter|fleet|upstream_|downstream_|src_|dst_)\w*", re.IGNORECASE
)


def _is_here(path: str) -> bool:
    return path == "tests/tidy/test_words.py"  # it must name what it bans


def test_no_module_is_named_for_nobody() -> None:
    nameless = [
        source.path
        for source in python_sources()
        if BANNED_MODULE_NAMES & set(source.module.split("."))
    ]
    assert not nameless, f"say what they are about: {nameless}"


def test_nothing_is_left_unfinished() -> None:
    unfinished = [
        f"{path}:{number} {line.strip()}"
        for path, text in text_files()
        if not _is_here(path)
        for number, line in enumerate(text.splitlines(), 1)
        if UNFINISHED.search(line)
    ]
    assert not unfinished, "\n".join(unfinished)


def test_no_registry_and_no_machine_is_named() -> None:
    naming = [
        f"{path}:{number} {line.strip()}"
        for path, text in text_files()
        if not _is_here(path) and path != "LICENSE"
        for number, line in enumerate(text.splitlines(), 1)
        if ELSEWHERE.search(line)
    ]
    assert not naming, "\n".join(naming)


def test_one_word_has_one_meaning() -> None:
    banned = [
        f"{source.path}: {word}"
        for source in hand_written()
        if not _is_here(source.path)
        for word in sorted(set(BANNED_NAMES.findall(source.text)))
    ]
    assert not banned, "\n".join(banned)


def test_a_package_is_a_folder_with_a_map() -> None:
    """Setuptools silently omits a folder without `__init__.py`; one without a docstring maps nothing."""
    mapless = []
    for folder in SHIPPED:
        for package in sorted({path.parent for path in (ROOT / folder).rglob("*.py")}):
            init = package / "__init__.py"
            if not init.exists() or ast.get_docstring(ast.parse(init.read_text())) is None:
                mapless.append(str(package.relative_to(ROOT)))
    assert not mapless, mapless


def test_an_init_file_re_exports_nothing() -> None:
    exporting = [
        source.path
        for source in hand_written()
        if source.path.endswith("__init__.py") and source.path.startswith(SHIPPED)
        if any(isinstance(node, ast.Import | ast.ImportFrom) for node in source.tree().body)
    ]
    assert not exporting, exporting


def test_the_folder_of_proto_files_is_no_package() -> None:
    assert not list((ROOT / "proto").rglob("*.py"))


# Public class names that have several homes yet: rename one, take it off.
HOMES_YET: frozenset[str] = frozenset()


def _several_homes() -> dict[str, list[str]]:
    homes: dict[str, list[str]] = {}
    for source in shipped_sources():
        if not source.is_generated:
            for node in source.tree().body:
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    homes.setdefault(node.name, []).append(source.module)
    return {name: modules for name, modules in homes.items() if len(modules) > 1}


def test_a_public_class_name_has_one_home() -> None:
    several = {name: homes for name, homes in _several_homes().items() if name not in HOMES_YET}
    assert not several, several


def test_the_list_of_names_with_several_homes_is_no_longer_than_it_must_be() -> None:
    assert HOMES_YET - _several_homes().keys() == set()
