"""Log lines for machines: one JSON object each, whatever is in them."""

import json
import logging
import sys

from hypothesis import given
from hypothesis import strategies as st

from brokers.effects import Changed
from brokers.shell.logs import CHANGE, JsonLines

TEXT = st.text(max_size=50)


def told(message: str, **extra: object) -> dict[str, object]:
    record = logging.LogRecord("brokers.x", logging.WARNING, "x.py", 1, "%s", (message,), None)
    record.created = 1_763_733_600.0426
    for name, value in extra.items():
        setattr(record, name, value)
    line = JsonLines(node_id=7).format(record)
    assert len(line.splitlines()) == 1
    read: dict[str, object] = json.loads(line)
    return read


@given(TEXT)
def test_any_message_is_one_line_with_its_fields(message: str) -> None:
    assert told(message) == {
        "time": "2025-11-21T14:00:00.042Z",
        "level": "WARNING",
        "logger": "brokers.x",
        "node": 7,
        "message": message,
    }


@given(TEXT, TEXT, TEXT)
def test_a_change_has_fields_of_its_own(what: str, to: str, why: str) -> None:
    line = told("t-0 offline", **{CHANGE: Changed(what, to, why)})
    assert (line["what"], line["to"], line["why"]) == (what, to, why)


def test_a_traceback_is_a_field() -> None:
    try:
        raise ValueError("two\nlines")
    except ValueError:
        line = told("it failed", exc_info=sys.exc_info())
    assert "ValueError: two\nlines" in str(line["exception"])
    assert line["message"] == "it failed"
