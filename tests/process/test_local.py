"""`causeway local`: real processes, started, killed, started again."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from federation.local.answering import answers_kafka
from federation.local.processes import runs
from tests.process.scrapes import health

pytestmark = pytest.mark.process


def _causeway(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "federation", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


def _local(verb: str, directory: Path, *arguments: str) -> tuple[int, dict[str, Any]]:
    done = _causeway("local", verb, "--dir", str(directory), "--json", *arguments)
    return done.returncode, json.loads(done.stdout)


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "federation"
    _causeway("local", "down", "--dir", str(tmp_path / "federation"))


def _node(told: dict[str, Any], region: str) -> dict[str, Any]:
    (found,) = (one for one in told["regions"] if one["name"] == region)
    node: dict[str, Any] = found["nodes"][0]
    return node


def _is_running(node: dict[str, Any]) -> bool:
    return runs(node["pid"], Path(node["log"]).with_suffix(".toml"))


def test_up_returns_when_every_node_answers_and_says_where(directory: Path) -> None:
    code, told = _local("up", directory, "--region", "west", "--region", "east")
    assert code == 0, told
    assert [region["name"] for region in told["regions"]] == ["west", "east"]
    for region in told["regions"]:
        (node,) = region["nodes"]
        assert answers_kafka(node["kafka"])
        assert health(node["metrics"])[0] == 200
        assert region["bootstrap"] == node["kafka"]
        assert Path(node["data"]).is_dir()
        assert Path(node["log"]).is_file()
        socket.create_connection(("127.0.0.1", int(region["admin"].rpartition(":")[2]))).close()
    assert json.loads((directory / "federation.json").read_text()) == told


def test_up_again_starts_just_what_does_not_run_at_its_old_addresses(directory: Path) -> None:
    _, first = _local("up", directory)
    os.kill(_node(first, "west")["pid"], signal.SIGKILL)
    code, second = _local("up", directory)
    assert code == 0, second
    assert _node(second, "east") == _node(first, "east")
    assert _node(second, "west")["pid"] != _node(first, "west")["pid"]
    assert _node(second, "west")["kafka"] == _node(first, "west")["kafka"]
    assert answers_kafka(_node(second, "west")["kafka"])


def test_status_tells_the_running_from_the_stopped(directory: Path) -> None:
    _, up = _local("up", directory)
    assert _local("status", directory)[0] == 0
    os.kill(_node(up, "east")["pid"], signal.SIGKILL)
    code, told = _local("status", directory)
    assert code == 3
    assert _node(told, "west")["state"] == "running"
    assert _node(told, "east")["state"] == "stopped"
    code, told = _local("status", directory, "--region", "west")
    assert (code, [region["name"] for region in told["regions"]]) == (0, ["west"])
    code, told = _local("status", directory, "--region", "north")
    assert (code, told["hint"]) == (1, "there are: west, east")


def test_a_node_that_runs_and_does_not_answer_is_silent(directory: Path) -> None:
    _, up = _local("up", directory, "--region", "west")
    os.kill(_node(up, "west")["pid"], signal.SIGSTOP)
    code, told = _local("status", directory)
    os.kill(_node(up, "west")["pid"], signal.SIGCONT)
    assert (code, _node(told, "west")["state"]) == (3, "silent")


def test_down_leaves_nothing_running_and_everything_stored(directory: Path) -> None:
    _, up = _local("up", directory)
    code, told = _local("down", directory)
    assert code == 0
    assert sorted(told["stopped"]) == sorted(_node(up, name)["pid"] for name in ("west", "east"))
    assert told["killed"] == []
    assert not any(_is_running(_node(up, name)) for name in ("west", "east"))
    assert Path(_node(up, "west")["data"]).is_dir()
    assert _local("down", directory) == (0, {"stopped": [], "killed": []})


def test_one_region_goes_down_and_the_other_stays(directory: Path) -> None:
    _, up = _local("up", directory)
    _, told = _local("down", directory, "--region", "west")
    assert told["stopped"] == [_node(up, "west")["pid"]]
    assert answers_kafka(_node(up, "east")["kafka"])


def test_a_node_that_dies_at_start_is_told_at_once_with_its_last_words(directory: Path) -> None:
    (directory / "west").mkdir(parents=True)
    settings = directory / "west" / "node-1.toml"
    settings.write_text(
        f'node.id = 1\nlog.dirs = "{directory}/west/node-1"\nlisteners = "PLAINTEXT://127.0.0.1:1"\n'
        'admin.listener = "127.0.0.1:2"\nno.such.key = 1\nnum.partitions = 0\n'
    )
    code, told = _local("up", directory)
    assert code == 1
    assert "west" in told["error"]
    assert "no.such.key" in told["error"]
    assert "num.partitions" in told["error"]
    assert str(settings) in told["hint"]
    _, after = _local("status", directory)
    assert all(_node(after, name)["state"] == "stopped" for name in ("west", "east"))


def test_somebody_else_at_the_address_is_not_taken_for_the_node(directory: Path) -> None:
    _local("up", directory, "--region", "west")
    _, before = _local("down", directory)
    told = json.loads((directory / "federation.json").read_text())
    host, _, port = _node(told, "west")["kafka"].rpartition(":")
    with socket.create_server((host, int(port))):
        code, failed = _local("up", directory)
    assert code == 1
    assert port in failed["error"]
    assert '"ready": true' not in failed["error"], "that was said in its earlier life"
    assert before["killed"] == []


def test_two_at_once_do_not_meet(directory: Path) -> None:
    _local("up", directory, "--region", "west")
    commands = [
        subprocess.Popen(
            [sys.executable, "-m", "federation", "local", "up", "--json", "--dir", str(directory)],
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    told = [json.loads(command.communicate()[0]) for command in commands]
    assert all("regions" in one or "is at work" in one["error"] for one in told)
    _, status = _local("status", directory)
    assert _node(status, "west")["state"] == "running"


@pytest.mark.parametrize("verb", ["status", "down"])
def test_where_there_is_no_federation_the_way_to_one_is_told(tmp_path: Path, verb: str) -> None:
    code, told = _local(verb, tmp_path)
    assert code == 1
    assert f"causeway local up --dir {tmp_path}" in told["hint"]


def test_a_directory_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    code, told = _local("up", tmp_path / "file" / "below")
    assert code == 1
    assert "--dir" in told["hint"]
