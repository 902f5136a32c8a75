"""Links whose source dials: created at the destination first, then at the source, under the same name."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from linker.answers import LinkDescription, Topics
from linker.commands import (
    AlterLinkConfigs,
    ChangeMirrors,
    CreateLink,
    CreateMirror,
    DeleteLink,
    DescribeLink,
    DescribeLinkConfigs,
    ListLinks,
    SetLinkSecret,
)
from linker.errors import LinkRefusal
from linker.frames import ACCEPTED_CHUNK_BYTES_MAX, Hello
from linker.protocol_versions import SPLITS_FROM, ProtocolVersions
from linker.records.link_state import LINK_KIND, decode_link
from linker.records.mirror_state import MirrorState
from tests.playbooks.linker import clients
from tests.playbooks.linker.world import Host, World, caught_up

LINK = "west-east"
AT_DESTINATION = {"connection.mode": "INBOUND", "availability.check.ms": "1000"}
AT_SOURCE = {"link.mode": "SOURCE", "bootstrap.servers": "east:9092"}


def create(host: Host, configs: dict[str, str], **options: Any) -> Any:
    return host.ask(CreateLink(name=LINK, configs=configs, **options))


def described(host: Host) -> LinkDescription:
    found = host.ask(DescribeLink(LINK))
    assert isinstance(found, LinkDescription), found
    return found


def linked(world: World, configs: Mapping[str, str] | None = None) -> None:
    secret = made(world.destination, configs)
    answer = create(world.source, AT_SOURCE, secret=secret)
    assert isinstance(answer, LinkDescription), answer
    world.run_until(lambda: described(world.destination).state == "ACTIVE")


def made(destination: Host, configs: Mapping[str, str] | None = None, **options: Any) -> str:
    """The destination's half; its secret."""
    answer = create(destination, {**AT_DESTINATION, **(configs or {})}, **options)
    assert isinstance(answer, LinkDescription) and answer.secret, answer
    return answer.secret


def mirrored() -> World:
    world = World().start()
    clients.create_topic(world.source, "orders")
    linked(world)
    answer = world.destination.ask(CreateMirror(link=LINK, mirror_topic="orders"))
    assert not isinstance(answer, Exception), answer
    clients.send(world.source, "orders", 0, b"a", b"b")
    world.run_until(lambda: caught_up(world))
    return world


def test_a_mirror_follows_a_source_that_dials_and_both_ends_know_one_another() -> None:
    world = mirrored()
    assert world.destination.log("orders", 0) == world.source.log("orders", 0)
    here, there = described(world.destination), described(world.source)
    assert (here.mode, here.source_cluster_id) == ("DESTINATION", "cluster-west")
    assert (there.mode, there.state, there.destination_cluster_id) == (
        "SOURCE",
        "ACTIVE",
        "cluster-east",
    )
    listed = world.source.ask(ListLinks()).links
    assert [one.name for one in listed] == [LINK]


class Listening(World):
    """Remembers what the destination has greeted with."""

    def __init__(self) -> None:
        super().__init__()
        self.hellos: list[Hello] = []

    def send(self, host: Host, stream: int, frame: Any) -> None:
        if isinstance(frame, Hello):
            self.hellos.append(frame)
        super().send(host, stream, frame)


def test_chunks_are_no_longer_than_what_a_listener_takes() -> None:
    """With 8 MiB no chunk arrived, and each ended its stream."""
    world = Listening()
    world.start()
    linked(world, {"replica.fetch.max.bytes": str(8 << 20)})
    assert {one.chunk_bytes for one in world.hellos} == {ACCEPTED_CHUNK_BYTES_MAX}


class Older(World):
    """The destination is of a release before."""

    def send(self, host: Host, stream: int, frame: Any) -> None:
        if isinstance(frame, Hello):
            frame = replace(frame, versions=ProtocolVersions(1, SPLITS_FROM - 1))
        super().send(host, stream, frame)


class Small(World):
    """The destination takes chunks of 4 MiB, and a little more."""

    def send(self, host: Host, stream: int, frame: Any) -> None:
        if isinstance(frame, Hello):
            frame = replace(frame, chunk_bytes_max=(4 << 20) + 1)
        super().send(host, stream, frame)


@pytest.mark.parametrize(
    ("world", "advice"),
    [(Older(), "let it dial"), (Small(), "raise socket.request.max.bytes")],
    ids=["older", "small"],
)
def test_a_batch_that_the_destination_does_not_take_stops_its_partition_and_no_other(
    world: World, advice: str
) -> None:
    """gRPC would end the stream, which others share, again and again."""
    for host in (world.source, world.destination):
        host.settings = {"log.segment.bytes": 16 << 20}
    world.start()
    clients.create_topic(world.source, "orders", 2, max_message_bytes=str(8 << 20))
    linked(world)
    answer = world.destination.ask(CreateMirror(link=LINK, mirror_topic="orders"))
    assert not isinstance(answer, Exception), answer
    assert clients.send(world.source, "orders", 0, bytes(5 << 20)) == (0, 0)
    clients.send(world.source, "orders", 1, b"a")
    world.run(5_000)
    clients.send(world.source, "orders", 1, b"b")
    world.run(1_000)
    assert world.destination.offsets("orders", 1) == [0, 1]
    stopped, going_on = world.destination.mirror("orders").lags
    assert advice in stopped.state
    assert going_on.state == "ACTIVE"
    assert described(world.destination).state == "ACTIVE"


def test_the_source_dials_again_after_cuts_and_restarts_of_either_end() -> None:
    world = mirrored()
    for value, interrupt in (
        (b"c", world.cut),
        (b"d", lambda: restart(world.source)),
        (b"e", lambda: restart(world.destination)),
    ):
        interrupt()
        clients.send(world.source, "orders", 0, value)
        world.run_until(lambda: caught_up(world))
    assert world.destination.log("orders", 0) == world.source.log("orders", 0)


def restart(host: Host) -> None:
    host.stop()
    host.start()


def test_a_source_that_stops_dialing_is_unavailable_and_a_failover_goes_without_it() -> None:
    world = mirrored()
    world.reachable = False
    world.cut()
    world.run_until(lambda: described(world.destination).state == "UNAVAILABLE")
    assert described(world.destination).because == "no broker of the source has connected"
    answer = world.destination.ask(ChangeMirrors(verb="failover", link=LINK, topics=("orders",)))
    assert isinstance(answer, Topics) and answer.topics[0].state == "STOPPED"


def test_a_promotion_proves_lag_0_over_streams_that_the_source_dialed() -> None:
    world = mirrored()
    world.destination.ask(ChangeMirrors(verb="promote", link=LINK, topics=("orders",)))
    state = lambda: world.destination.mirror("orders").record.state  # noqa: E731
    world.run_until(lambda: state() is MirrorState.STOPPED)
    cut = world.destination.mirror("orders").record.cut
    assert cut is not None and cut.partitions[0].missing == 0


@pytest.mark.parametrize("side", ["source", "destination"])
def test_either_end_can_pause_and_resume_it(side: str) -> None:
    world = mirrored()
    host = world.source if side == "source" else world.destination
    host.ask(AlterLinkConfigs(name=LINK, sets={"cluster.link.paused": "true"}))
    clients.send(world.source, "orders", 0, b"c")
    world.run(5_000)
    assert described(host).state == "PAUSED" and not caught_up(world)
    host.ask(AlterLinkConfigs(name=LINK, sets={"cluster.link.paused": "false"}))
    world.run_until(lambda: caught_up(world))


def test_without_the_other_half_the_source_s_is_refused_and_nothing_is_made() -> None:
    world = World().start()
    answer = create(world.source, AT_SOURCE, secret="s")
    assert isinstance(answer, LinkRefusal) and "there is no link west-east" in answer.because
    assert answer.code == "REMOTE_LINK_NOT_FOUND_ERROR"
    assert "create the link in the destination region first" in answer.hint
    assert world.source.linker.source_links == {}


@pytest.mark.parametrize("mode", ["DESTINATION", "BIDIRECTIONAL"])
def test_a_destination_that_dials_itself_takes_no_source_that_dials(mode: str) -> None:
    world = World().start()
    dials = {"link.mode": mode, "bootstrap.servers": "west:9092"}
    assert isinstance(create(world.destination, dials), LinkDescription)
    answer = create(world.source, AT_SOURCE, secret="s")
    assert isinstance(answer, LinkRefusal) and "OUTBOUND" in answer.because
    assert answer.code == "MISCONFIGURATION_ERROR"
    assert "connection.mode=INBOUND" in answer.hint
    assert world.source.linker.source_links == {}
    assert described(world.destination).state == "ACTIVE"


def test_two_halves_of_mode_source_find_no_destination() -> None:
    world = World().start()
    back = {**AT_SOURCE, "bootstrap.servers": "west:9092"}
    for host, configs in ((world.source, AT_SOURCE), (world.destination, back)):
        answer = create(host, configs, secret="s")
        assert isinstance(answer, LinkRefusal)
        assert answer.code == "REMOTE_LINK_NOT_FOUND_ERROR"
        assert answer.hint


@pytest.mark.parametrize("here", ["DESTINATION", "BIDIRECTIONAL"])
@pytest.mark.parametrize("there", ["DESTINATION", "BIDIRECTIONAL"])
def test_two_halves_that_wait_for_one_another_are_unavailable_and_say_so(
    here: str, there: str
) -> None:
    world = World().start()
    for host, mode in ((world.destination, here), (world.source, there)):
        assert isinstance(create(host, {**AT_DESTINATION, "link.mode": mode}), LinkDescription)
    for host in (world.destination, world.source):
        world.run_until(lambda host=host: described(host).state == "UNAVAILABLE")
        assert described(host).error == "TIMEOUT_ERROR"
        assert described(host).because == "no broker of the source has connected"


def test_a_bidirectional_half_that_is_dialed_takes_a_source() -> None:
    world = World().start()
    clients.create_topic(world.source, "orders")
    linked(world, {"link.mode": "BIDIRECTIONAL"})
    answer = world.destination.ask(CreateMirror(link=LINK, mirror_topic="orders"))
    assert not isinstance(answer, Exception), answer
    clients.send(world.source, "orders", 0, b"a")
    world.run_until(lambda: caught_up(world))


@pytest.mark.parametrize("is_validated", [True, False])
def test_a_second_source_under_the_name_of_another_s_link_is_refused_and_the_first_goes_on(
    is_validated: bool,
) -> None:
    """The second even knows the secret."""
    world = World().start()
    clients.create_topic(world.source, "orders")
    secret = made(world.destination)
    assert isinstance(create(world.source, AT_SOURCE, secret=secret), LinkDescription)
    world.run_until(lambda: described(world.destination).state == "ACTIVE")
    answer = world.destination.ask(CreateMirror(link=LINK, mirror_topic="orders"))
    assert not isinstance(answer, Exception), answer
    north = Host(world, "north")
    north.start()
    clients.create_topic(north, "orders")
    clients.send(north, "orders", 0, b"of another")
    options = {"secret": secret, "skip_validation": not is_validated}
    answer = create(north, AT_SOURCE, **options)
    if is_validated:
        assert isinstance(answer, LinkRefusal) and "is region cluster-west" in answer.because
        assert answer.code == "INVALID_BOOTSTRAP_INTERNAL_ENDPOINT_ERROR" and answer.hint
    else:
        world.run_until(lambda: described(north).state == "FAILED")
        assert described(north).error == "INVALID_BOOTSTRAP_INTERNAL_ENDPOINT_ERROR"
    clients.send(world.source, "orders", 0, b"a", b"b")
    world.run_until(lambda: caught_up(world))
    assert world.destination.log("orders", 0) == world.source.log("orders", 0)
    assert described(world.destination).source_cluster_id == "cluster-west"


def test_a_link_takes_one_source_only() -> None:
    world = World().start()
    secret = made(world.destination, source_cluster_id="cluster-north")
    answer = create(world.source, AT_SOURCE, secret=secret)
    assert isinstance(answer, LinkRefusal) and "is region cluster-north" in answer.because


def test_a_region_that_is_not_the_one_named_is_refused() -> None:
    world = World().start()
    secret = made(world.destination)
    answer = create(world.source, AT_SOURCE, source_cluster_id="cluster-south", secret=secret)
    assert isinstance(answer, LinkRefusal) and "cluster-south" in answer.because


def test_mirrors_are_made_in_the_destination_only() -> None:
    world = mirrored()
    answer = world.source.ask(CreateMirror(link=LINK, mirror_topic="other"))
    assert isinstance(answer, LinkRefusal) and answer.hint == "ask the destination region"


def test_a_mirror_is_refused_at_once_while_no_source_has_dialed() -> None:
    world = World().start()
    create(world.destination, AT_DESTINATION)
    answer = world.destination.ask(CreateMirror(link=LINK, mirror_topic="orders"), timeout_ms=100)
    assert isinstance(answer, LinkRefusal) and answer.code == "CLUSTER_LINK_UNAVAILABLE"


def test_a_source_that_deletes_its_half_leaves_the_mirror_as_it_is() -> None:
    world = mirrored()
    world.run(2_000)  # the source keeps what is mirrored
    for validate_only in (True, False):
        answer = world.source.ask(DeleteLink(name=LINK, validate_only=validate_only))
        assert isinstance(answer, LinkRefusal) and answer.code == "CLUSTER_LINK_IN_USE"
        assert answer.because.endswith(f"mirrors topics of this one over link {LINK}: 1")
    forced = DeleteLink(name=LINK, force=True, validate_only=True)
    assert isinstance(world.source.ask(forced), Topics)
    assert set(world.source.linker.source_links) == {LINK}
    assert isinstance(world.source.ask(DeleteLink(name=LINK, force=True)), Topics)
    assert world.source.linker.source_links == {}
    world.run_until(lambda: described(world.destination).state == "UNAVAILABLE")
    assert world.destination.mirror("orders").record.state is MirrorState.ACTIVE


def test_a_source_deletes_its_half_once_nothing_is_mirrored_over_it() -> None:
    world = mirrored()
    world.run(2_000)
    world.destination.ask(ChangeMirrors(verb="promote", link=LINK, topics=("orders",)))
    world.run_until(lambda: world.destination.mirror("orders").shown is MirrorState.STOPPED)
    world.run(2_000)
    assert isinstance(world.source.ask(DeleteLink(name=LINK)), Topics)
    assert world.source.linker.source_links == {}


def test_a_source_without_the_secret_is_refused() -> None:
    world = World().start()
    made(world.destination)
    answer = create(world.source, AT_SOURCE, secret="guessed")
    assert isinstance(answer, LinkRefusal) and answer.code == "AUTHENTICATION_ERROR"
    for secret in ("", "s" * 101, "é"):
        answer = create(world.source, AT_SOURCE, secret=secret)
        assert isinstance(answer, LinkRefusal) and answer.code == "INVALID_REQUEST"


def test_the_secret_is_shown_once_and_is_in_no_other_answer() -> None:
    world = mirrored()
    assert described(world.destination).secret == described(world.source).secret == ""
    (stored,) = (
        decode_link(name, one.body)
        for (kind, name), one in world.destination.view.image.documents.items()
        if kind == LINK_KIND
    )
    assert not stored.secret and len(stored.secret_digest) == 64
    names = {name for name, _, _ in world.source.ask(DescribeLinkConfigs(LINK)).configs}
    assert not any("secret" in name for name in names)


def test_a_new_secret_is_in_force_from_the_next_stream_on() -> None:
    world = mirrored()
    renewed = world.destination.ask(SetLinkSecret(LINK)).secret
    world.cut()
    world.run_until(lambda: described(world.source).error == "AUTHENTICATION_ERROR")
    assert isinstance(world.source.ask(SetLinkSecret(LINK, renewed)), LinkDescription)
    clients.send(world.source, "orders", 0, b"c")
    world.run_until(lambda: caught_up(world))
    assert described(world.source).state == "ACTIVE"


def test_a_secret_that_the_other_end_does_not_take_is_refused_at_once() -> None:
    """Before, the streams that were open went on, and the link failed when they ended."""
    world = mirrored()
    refused = world.source.ask(SetLinkSecret(LINK, "another"))
    assert isinstance(refused, LinkRefusal)
    assert refused.code == "AUTHENTICATION_ERROR"
    world.cut()
    clients.send(world.source, "orders", 0, b"c")
    world.run_until(lambda: caught_up(world))
    assert described(world.source).state == "ACTIVE"


def test_a_secret_is_made_where_the_source_is_awaited_and_given_where_it_dials() -> None:
    world = mirrored()
    for host, secret in ((world.destination, "mine"), (world.source, "")):
        answer = host.ask(SetLinkSecret(LINK, secret))
        assert isinstance(answer, LinkRefusal) and answer.hint
