"""README, `promises.py`, the simulator's checkers and the audits speak of the same promises."""

import re

from federation.promises import PROMISES
from tests.tidy.sources import ROOT, hand_written

CITATION = re.compile(r"\bP(\d+)\b")
ROW = re.compile(r"^\| (P\d+) \| (.+) \|$", re.MULTILINE)


def _cited(folder: str) -> dict[str, set[str]]:
    """Promises that each file below a folder cites."""
    return {
        source.path: {f"P{number}" for number in CITATION.findall(source.text)}
        for source in hand_written()
        if source.path.startswith(folder)
    }


def test_promises_are_numbered_without_a_hole() -> None:
    assert list(PROMISES) == [f"P{number}" for number in range(1, len(PROMISES) + 1)]


def test_a_promise_is_one_sentence() -> None:
    for name, sentence in PROMISES.items():
        assert sentence.endswith("."), name
        assert ". " not in sentence, name


def test_the_readme_prints_the_promises_as_they_are() -> None:
    assert dict(ROW.findall((ROOT / "README.md").read_text())) == dict(PROMISES)


def test_nobody_cites_a_promise_that_is_not_made() -> None:
    unknown = {
        path: sorted(cited - set(PROMISES))
        for folder in ("federation/", "brokers/", "linker/", "tests/sim/")
        for path, cited in _cited(folder).items()
        if cited - set(PROMISES)
    }
    assert not unknown, unknown


def test_every_checker_says_which_promise_it_checks() -> None:
    silent = [
        path
        for path, cited in _cited("tests/sim/checks/").items()
        if not cited and not path.endswith("__init__.py")
    ]
    assert not silent, silent


def test_the_audits_speak_for_the_promises_that_stored_data_can_show() -> None:
    cited = set().union(*_cited("federation/audit/").values())
    assert {"P2", "P8", "P11"} <= cited
