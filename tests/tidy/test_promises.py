"""README, `promises.py`, the simulator's checkers and the audits speak of the same promises."""

import re

from federation.promises import PROMISES
from tests.tidy.sources import ROOT, hand_written

CITATION = re.compile(r"\bP(\d+)\b")
CHECKER = re.compile(r"/p(\d+)_\w+\.py$")
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


def _listed(what: str) -> list[str]:
    """The promises that the README lists after a phrase."""
    sentence = (ROOT / "README.md").read_text().partition(what)[2].partition(". ")[0]
    return [f"P{number}" for number in CITATION.findall(sentence)]


def test_every_checker_is_named_for_the_promise_that_it_checks() -> None:
    for path, cited in _cited("tests/sim/checks/").items():
        number = CHECKER.search(path)
        assert number is not None or path.endswith("__init__.py"), path
        assert number is None or f"P{number[1]}" in cited, path


def test_the_readme_lists_the_promises_that_the_simulator_checks() -> None:
    checked = sorted(
        int(number[1]) for path in _cited("tests/sim/checks/") if (number := CHECKER.search(path))
    )
    assert _listed("Checked by the simulator:") == [f"P{number}" for number in checked]


def test_the_readme_lists_the_promises_that_the_audits_speak_for() -> None:
    listed = _listed("Shown by the audits:")
    assert {"P2", "P8", "P11"} <= set(listed)
    cited = set().union(*_cited("federation/audit/").values())
    assert set(listed) <= cited
