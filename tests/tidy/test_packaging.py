"""What is installed is what is here, and under names that are ours."""

import importlib
import importlib.metadata
import tomllib
from pathlib import Path

import pytest

from tests.tidy.sources import ROOT, SHIPPED, text_files

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


@pytest.mark.parametrize("package", SHIPPED)
def test_the_packages_imported_are_ours(package: str) -> None:
    """A published distribution also ships a package `federation`; in one environment the two would collide."""
    module = importlib.import_module(package)
    assert Path(str(module.__file__)).is_relative_to(ROOT)


def test_every_dependency_is_pinned_and_says_why_it_is_there() -> None:
    lines = (ROOT / "pyproject.toml").read_text().splitlines()
    pinned = [line for line in lines if "==" in line and line.startswith('    "')]
    assert len(pinned) > 20
    assert [line for line in pinned if "#" not in line] == []
    project = PYPROJECT["project"]
    extras = project["optional-dependencies"].values()
    listed = [*project["dependencies"], *(entry for extra in extras for entry in extra)]
    assert [
        entry for entry in listed if "==" not in entry and not entry.startswith("causeway[")
    ] == []


def test_the_version_has_its_entry_in_the_changelog() -> None:
    assert f"## {PYPROJECT['project']['version']}" in (ROOT / "CHANGELOG.md").read_text()


def test_the_command_is_installed_under_the_name_of_the_product() -> None:
    scripts = importlib.metadata.entry_points(group="console_scripts", name="causeway")
    assert {script.value for script in scripts} == {"federation.cli:main"}


def test_every_make_target_is_listed_with_what_it_is_for() -> None:
    makefile = dict(text_files())["Makefile"]
    phony = next(line for line in makefile.splitlines() if line.startswith(".PHONY:"))
    undocumented = [
        target
        for target in phony.removeprefix(".PHONY:").split()
        if not any(line.startswith(f"{target}:") and "##" in line for line in makefile.splitlines())
    ]
    assert not undocumented, undocumented
