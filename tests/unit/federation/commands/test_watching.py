"""`--watch`: again and again until Ctrl-C; a region that is away for a while ends nothing."""

import json
from pathlib import Path

import pytest

from federation.commands.answers import Failure
from federation.commands.watching import EVERY_SECONDS, watched
from linker.wire.v1 import admin_pb2 as pb
from tests.unit.federation.commands.region_double import region_double


class Person:
    """Presses Ctrl-C in a pause."""

    def __init__(self, patience: int) -> None:
        self.pauses: list[float] = []
        self._patience = patience

    def sleep(self, seconds: float) -> None:
        if len(self.pauses) == self._patience:
            raise KeyboardInterrupt
        self.pauses.append(seconds)


def test_without_an_interval_it_is_shown_once() -> None:
    shown: list[int] = []
    person = Person(0)
    watched(None, lambda: shown.append(1), person.sleep)
    assert (shown, person.pauses) == ([1], [])


def test_with_one_it_is_shown_until_ctrl_c() -> None:
    shown: list[int] = []
    person = Person(3)
    watched(0.5, lambda: shown.append(1), person.sleep)
    assert (len(shown), person.pauses) == (4, [0.5] * 3)


def test_a_failure_in_between_is_shown_and_it_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    calls: list[int] = []

    def once() -> None:
        calls.append(1)
        if len(calls) == 2:
            raise Failure("nobody answers")

    watched(1, once, Person(2).sleep)
    assert len(calls) == 3
    assert "nobody answers" in capsys.readouterr().err


def test_a_failure_at_once_ends_it() -> None:
    def once() -> None:
        raise Failure("no such link")

    with pytest.raises(Failure):
        watched(1, once, Person(5).sleep)


def test_the_commands_take_an_interval_or_none(tmp_path: Path) -> None:
    with region_double(tmp_path) as region:
        region.replies["ListMirrors"] = [pb.MirrorsReply()]
        assert region.run("mirror", "list", "--json").exit_code == 0
        refused = region.run("mirror", "list", "--watch", "0")
        assert refused.exit_code == 2
        assert "0.1" in refused.output
        found = json.loads(region.run("mirror", "list", "--json").stdout)
        assert found == {"mirrors": []}
        for group, verb in (("link", "list"), ("link", "describe"), ("mirror", "describe")):
            usage = region.run(group, verb, "--help").output
            assert f"every SECONDS ({EVERY_SECONDS:.0f})" in " ".join(usage.split())
