"""Maps that are true: a package's docstring, the README's table, the layers that import-linter checks, and the tree."""

import ast
import re
import tomllib
from pathlib import Path
from typing import Any

from tests.tidy.sources import ROOT, SHIPPED, shipped_sources

NAME = re.compile(r"`([a-z]\w*)(?:/\w*|\.py)?`")
DOTTED = re.compile(rf"`((?:{'|'.join(SHIPPED)})(?:\.\w+)+)`")
ROW = re.compile(r"^\| `(\w+)/` \| (.+) \|$", re.MULTILINE)

# Words in backticks that are no module: the command, a folder beside the packages, kinds of message.
NO_MODULES = frozenset({"causeway", "proto", "request", "response"})


def _packages() -> dict[str, set[str]]:
    """What lies in each package that is written by hand: modules, and folders of anything."""
    return {
        source.module: _children((ROOT / source.path).parent)
        for source in shipped_sources()
        if source.path.endswith("__init__.py") and not source.is_generated
    }


def _children(folder: Path) -> set[str]:
    modules = {path.stem for path in folder.glob("*.py")}
    folders = {path.name for path in folder.iterdir() if path.is_dir()}
    return (modules | folders) - {"__pycache__", "__init__", "__main__"}


def _docstring(package: str) -> str:
    init = (ROOT / package.replace(".", "/") / "__init__.py").read_text()
    return ast.get_docstring(ast.parse(init)) or ""


def _mistakes(package: str, children: set[str]) -> list[str]:
    named = set(NAME.findall(_docstring(package))) - NO_MODULES
    missing = children - named - (_named_for_an_api() if package == "brokers.api" else set())
    return [f"{package} does not name {name}" for name in sorted(missing)] + [
        f"{package} names {name}, which is not there" for name in sorted(named - children)
    ]


def _named_for_an_api() -> set[str]:
    """What a module is called that is found by the name of its Kafka API."""
    families = (ROOT / "brokers/wire/messages").glob("*.py")
    classes = re.compile(r"^class (\w+)Request\b", re.MULTILINE)
    return {
        re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
        for family in families
        for name in classes.findall(family.read_text())
    }


def test_a_package_names_every_module_of_it_and_no_ghost() -> None:
    mistakes = [
        mistake
        for package, children in _packages().items()
        for mistake in _mistakes(package, children)
    ]
    assert not mistakes, "\n".join(mistakes)


def test_a_package_points_to_no_module_elsewhere_that_is_not_there() -> None:
    modules = {source.module for source in shipped_sources()}
    ghosts = [
        f"{package} names {name}"
        for package in _packages()
        for name in DOTTED.findall(_docstring(package))
        if name not in modules
    ]
    assert not ghosts, "\n".join(ghosts)


def _contracts() -> list[dict[str, Any]]:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    found: list[dict[str, Any]] = settings["tool"]["importlinter"]["contracts"]
    return found


def _layers(package: str) -> list[set[str]]:
    """What import-linter allows inside a package, highest first; what shares a line is equal."""
    (layers,) = [
        contract["layers"] for contract in _contracts() if contract.get("containers") == [package]
    ]
    return [set(re.split(r" [:|] ", layer)) for layer in layers]


def _rows() -> dict[str, str]:
    """The README's map: a folder and what it holds."""
    return dict(ROW.findall((ROOT / "README.md").read_text()))


def test_the_layers_are_those_of_the_tree() -> None:
    order = next(contract["layers"] for contract in _contracts() if "containers" not in contract)
    assert order == list(reversed(SHIPPED))
    packages = _packages()
    for contract in _contracts():
        for package in contract.get("containers", []):
            layers = set[str]().union(*_layers(package)) - {"__main__"}
            assert layers == packages[package], package


def test_the_map_in_the_readme_is_that_of_the_tree() -> None:
    rows = _rows()
    assert set(rows) == {*SHIPPED, "proto", "tests"}
    for name, row in rows.items():
        inside = {path.parent.name for path in (ROOT / name).glob("*/__init__.py")}
        assert set(NAME.findall(row)) == inside, name


def test_the_map_in_the_readme_is_in_the_order_of_the_layers() -> None:
    """Lowest first, so that one reads on from what one has read."""
    named = NAME.findall(_rows()["brokers"])
    height = {
        name: height for height, layer in enumerate(reversed(_layers("brokers"))) for name in layer
    }
    assert named == sorted(named, key=lambda name: height[name])
