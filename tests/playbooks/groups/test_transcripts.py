"""Every transcript says what happens."""

from pathlib import Path

import pytest

from tests.playbooks.groups.transcript import played, transcripts


@pytest.mark.parametrize("path", transcripts(), ids=lambda path: path.stem)
def test_the_coordinator_does_what_the_transcript_says(path: Path) -> None:
    text = path.read_text()
    assert played(text) == text


def test_there_are_transcripts() -> None:
    assert len(transcripts()) >= 10
