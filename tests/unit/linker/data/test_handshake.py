"""Who may talk to whom."""

from linker.data import handshake
from linker.errors import LinkError
from linker.frames import Credit, Hello, Refused, Welcome

HELLO = Hello("link", "id", "east", "west")


def check(frame: object) -> object:
    return handshake.check(frame, cluster_id="east", expected_cluster_id="west")  # type: ignore[arg-type]


def test_the_right_region_is_welcomed() -> None:
    assert handshake.answer(HELLO, "west") == Welcome("west")
    assert check(Welcome("west")) == "west"


def test_whoever_answers_is_taken_before_the_link_knows_its_source() -> None:
    assert handshake.answer(Hello("link", "id", "east"), "west") == Welcome("west")
    assert handshake.check(Welcome("west"), cluster_id="east", expected_cluster_id="") == "west"


def test_a_link_to_itself_is_refused_by_both_ends() -> None:
    answer = handshake.answer(Hello("link", "id", "west"), "west")
    assert isinstance(answer, Refused)
    assert "itself" in answer.because
    found = handshake.check(Welcome("east"), cluster_id="east", expected_cluster_id="")
    assert isinstance(found, handshake.HandshakeMismatch)


def test_a_wrong_region_is_refused_by_both_ends() -> None:
    answer = handshake.answer(HELLO, "north")
    assert isinstance(answer, Refused)
    assert "north" in answer.because
    found = check(Welcome("north"))
    assert isinstance(found, handshake.HandshakeMismatch)
    assert found.error is LinkError.INVALID_BOOTSTRAP_INTERNAL_ENDPOINT_ERROR


def test_another_version_is_refused_by_both_ends() -> None:
    assert isinstance(handshake.answer(Hello("l", "i", "east", "west", version=2), "west"), Refused)
    assert isinstance(check(Welcome("west", version=2)), handshake.HandshakeMismatch)


def test_nothing_goes_before_the_greeting() -> None:
    assert isinstance(handshake.answer(Credit(1), "west"), Refused)
    assert isinstance(check(Credit(1)), handshake.HandshakeMismatch)


def test_why_the_source_refused_is_kept() -> None:
    assert check(Refused("TIMEOUT_ERROR", "x")) == (LinkError.TIMEOUT_ERROR, "x")
    assert check(Refused("FROM_THE_FUTURE", "y")) == (LinkError.UNKNOWN, "y")
