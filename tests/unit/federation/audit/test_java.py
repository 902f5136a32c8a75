"""Which Java Spark gets, tried with programs that only say their version."""

import subprocess
import sys
from pathlib import Path

import pytest

from federation.audit.java import UNKNOWN_FLAG, java_home


def java(folder: Path, version: str, exit_code: int = 0) -> Path:
    """A `bin/java` that prints its version as Java does, or its arguments."""
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(
        "#!/bin/sh\n"
        f'[ "$1" = -version ] && {{ echo \'openjdk version "{version}"\' >&2; exit {exit_code}; }}\n'
        f'echo "{version}:$*"\n'
    )
    program.chmod(0o755)
    return folder


def said(home: str, *arguments: str) -> str:
    ran = subprocess.run(
        [f"{home}/bin/java", *arguments], capture_output=True, text=True, check=True
    )
    return ran.stdout.strip()


def test_the_java_that_java_home_names_comes_first(tmp_path: Path) -> None:
    named, on_path = java(tmp_path / "a", "17.0.1"), java(tmp_path / "b", "21")
    home = java_home({"JAVA_HOME": str(named), "PATH": f"{on_path}/bin:/bin"})
    assert said(home, "Main") == "17.0.1:Main"


@pytest.mark.parametrize("old", ["11.0.2", "1.8.0_302", "16"])
def test_one_that_is_too_old_is_passed_over(tmp_path: Path, old: str) -> None:
    named, on_path = java(tmp_path / "a", old), java(tmp_path / "b", "25.0.2")
    home = java_home({"JAVA_HOME": str(named), "PATH": f"{on_path}/bin:/bin"})
    assert said(home, "Main") == "25.0.2:Main"


def test_one_that_does_not_run_is_passed_over(tmp_path: Path) -> None:
    named, on_path = java(tmp_path / "a", "17", exit_code=1), java(tmp_path / "b", "17")
    home = java_home({"JAVA_HOME": str(named), "PATH": f"{on_path}/bin:/bin"})
    assert said(home, "Main") == "17:Main"


def test_without_any_the_package_s_runtime_is_used(tmp_path: Path) -> None:
    home = java_home({"JAVA_HOME": str(tmp_path / "nowhere"), "PATH": ""})
    ran = subprocess.run(
        [f"{home}/bin/java", UNKNOWN_FLAG, "-version"], capture_output=True, text=True
    )
    assert ran.returncode == 0
    assert "version" in ran.stderr


def test_only_the_one_flag_is_dropped_and_arguments_stay_whole(tmp_path: Path) -> None:
    home = java_home({"JAVA_HOME": str(java(tmp_path / "a b", "17")), "PATH": ""})
    arguments = ["-Dx=1 2", UNKNOWN_FLAG, "--add-opens=a", "", "*", "$HOME"]
    assert said(home, *arguments) == "17:-Dx=1 2 --add-opens=a  * $HOME"


def test_the_launcher_is_gone_when_python_ends(tmp_path: Path) -> None:
    program = (
        "from federation.audit.java import java_home; import sys;"
        "print(java_home({'JAVA_HOME': sys.argv[1]}))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program, str(java(tmp_path / "a", "17"))],
        capture_output=True,
        text=True,
        check=True,
    )
    assert not Path(ran.stdout.strip()).exists()
