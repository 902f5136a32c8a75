"""Who may talk to whom."""

import pytest

from linker.data import handshake
from linker.errors import LinkError
from linker.frames import Credit, Hello, Refused, Welcome
from linker.protocol_versions import SPOKEN, ProtocolVersions
from linker.wire.frames import decode
from linker.wire.v1 import link_pb2

HELLO = Hello("link", "id", "east", "west")


def check(frame: object) -> object:
    return handshake.check(frame, cluster_id="east", expected_cluster_id="west")  # type: ignore[arg-type]


def test_the_right_region_is_welcomed() -> None:
    assert handshake.answer(HELLO, "west", 3) == Welcome("west", broker_id=3)
    assert check(Welcome("west", broker_id=3)) == Welcome("west", broker_id=3)


def test_whoever_answers_is_taken_before_the_link_knows_its_source() -> None:
    welcome = handshake.answer(Hello("link", "id", "east"), "west", 3)
    assert welcome == Welcome("west", broker_id=3)
    assert handshake.check(welcome, cluster_id="east", expected_cluster_id="") == welcome


def test_a_link_to_itself_is_refused_by_both_ends() -> None:
    answer = handshake.answer(Hello("link", "id", "west"), "west", 3)
    assert isinstance(answer, Refused)
    assert "itself" in answer.because
    found = handshake.check(Welcome("east"), cluster_id="east", expected_cluster_id="")
    assert isinstance(found, handshake.HandshakeMismatch)


def test_a_wrong_region_is_refused_by_both_ends() -> None:
    answer = handshake.answer(HELLO, "north", 3)
    assert isinstance(answer, Refused)
    assert "north" in answer.because
    found = check(Welcome("north"))
    assert isinstance(found, handshake.HandshakeMismatch)
    assert found.error is LinkError.INVALID_BOOTSTRAP_INTERNAL_ENDPOINT_ERROR


def hello(oldest: int, newest: int) -> Hello:
    return Hello("link", "id", "east", "west", versions=ProtocolVersions(oldest, newest))


@pytest.mark.parametrize(
    ("destination", "source", "chosen"),
    [
        ((1, 1), (1, 1), 1),
        ((1, 2), (1, 1), 1),
        ((1, 1), (1, 3), 1),
        ((1, 3), (2, 4), 3),
        ((2, 5), (3, 3), 3),
    ],
)
def test_the_newest_version_that_both_speak_is_chosen(
    destination: tuple[int, int], source: tuple[int, int], chosen: int
) -> None:
    answer = handshake.answer(hello(*destination), "west", 3, ProtocolVersions(*source))
    assert answer == Welcome("west", chosen, 3)


@pytest.mark.parametrize(("destination", "source"), [((1, 1), (2, 3)), ((4, 9), (2, 3))])
def test_ends_without_a_version_in_common_say_what_each_speaks(
    destination: tuple[int, int], source: tuple[int, int]
) -> None:
    answer = handshake.answer(hello(*destination), "west", 3, ProtocolVersions(*source))
    assert isinstance(answer, Refused)
    for spoken in (destination, source):
        assert str(ProtocolVersions(*spoken)) in answer.because


def test_a_release_without_a_range_speaks_the_one_version_that_it_names() -> None:
    frame = decode(link_pb2.Frame(hello=link_pb2.Hello(version=1)).SerializeToString())
    assert isinstance(frame, Hello)
    assert frame.versions == ProtocolVersions(1, 1)


def test_a_version_that_was_not_offered_is_refused() -> None:
    assert isinstance(check(Welcome("west", SPOKEN.newest + 1)), handshake.HandshakeMismatch)


def test_nothing_goes_before_the_greeting() -> None:
    assert isinstance(handshake.answer(Credit(1), "west", 3), Refused)
    assert isinstance(check(Credit(1)), handshake.HandshakeMismatch)


def test_why_the_source_refused_is_kept() -> None:
    assert check(Refused("TIMEOUT_ERROR", "x")) == (LinkError.TIMEOUT_ERROR, "x")
    assert check(Refused("FROM_THE_FUTURE", "y")) == (LinkError.UNKNOWN, "y")
