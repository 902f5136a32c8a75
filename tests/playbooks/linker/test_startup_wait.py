"""A region that was down learns what was taken over meanwhile before it takes another write."""

from pathlib import Path

from brokers.errors import KafkaError, Refusal
from brokers.metadata.commands.document_commands import PutDocuments
from linker.commands import AlterLinkConfigs, ChangeMirrors, CreateMirror, DeleteLink
from linker.records.destination import (
    DESTINATION_KIND,
    DestinationRecord,
    decode_destination,
    put,
)
from tests.playbooks.linker import clients
from tests.playbooks.linker.test_fencing import REFUSED, cut_off, fail_over, is_fenced
from tests.playbooks.linker.test_link_metrics import scraped
from tests.playbooks.linker.test_older_sources import Older
from tests.playbooks.linker.world import Host, World, caught_up, linked, submit

WAIT_MS = 5_000
NAME = "cluster-east/west-east"
HELD = KafkaError.NOT_ENOUGH_REPLICAS


def mirrored(world: World | None = None, wait_ms: int = WAIT_MS, **source: object) -> World:
    """`orders` is mirrored, `own` is not."""
    world = world or World()
    world.source.settings = {"link.source.startup.wait.ms": wait_ms, **source}
    world.start()
    for topic in ("orders", "own"):
        clients.create_topic(world.source, topic)
    linked(world)
    clients.send(world.source, "orders", 0, b"a", b"b")
    world.run_until(lambda: caught_up(world))
    world.run(1_500)  # the source is told of mirrors that were made one after another
    return world


def record(world: World) -> DestinationRecord | None:
    document = world.source.view.image.documents.get((DESTINATION_KIND, NAME))
    return None if document is None else decode_destination(document.body)


def mirrored_topics(world: World) -> set[str]:
    found = record(world)
    by_id = world.source.view.image.topics_by_id
    return set() if found is None else {by_id[each].name for each in found.topic_ids}


def restart(host: Host) -> None:
    host.stop()
    host.start()


class Producer:
    """Sends one batch to each topic, and waits `timeout_ms` for the answer."""

    def __init__(self, host: Host, *topics: str, acks: int = -1, timeout_ms: int = 30_000) -> None:
        batches = {topic: clients.batch_of(host, b"after the return") for topic in topics}
        message = clients.produce_request(batches, acks=acks, timeout_ms=timeout_ms)
        self._host = host
        self._sent_at = host.world.now
        self._ticket = host.submit(0, 9, message)

    @property
    def is_answered(self) -> bool:
        return self._ticket in self._host.answers

    def wait(self) -> tuple[dict[str, int], int]:
        """The error code of each topic, and how many milliseconds it took."""
        world = self._host.world
        world.run_until(lambda: self.is_answered)
        answer = self._host.answers[self._ticket]
        codes = {each.name: each.partition_responses[0].error_code for each in answer.responses}
        return codes, world.now - self._sent_at


def test_the_source_keeps_which_of_its_topics_are_mirrored() -> None:
    world = mirrored()
    assert mirrored_topics(world) == {"orders"}
    world.destination.ask(CreateMirror(link="west-east", mirror_topic="own"))
    world.run(1_500)
    assert mirrored_topics(world) == {"orders", "own"}
    fail_over(world)
    world.run(1_500)
    assert is_fenced(world) and mirrored_topics(world) == {"own"}
    restart(world.source)
    assert mirrored_topics(world) == {"own"}
    change = ChangeMirrors(verb="failover", link="west-east", topics=("own",))
    world.destination.ask(change)
    world.run(1_500)
    assert record(world) is None


def test_nothing_is_kept_of_a_link_that_is_deleted() -> None:
    world = mirrored()
    world.destination.ask(ChangeMirrors(verb="failover", link="west-east", topics=("orders",)))
    world.destination.ask(CreateMirror(link="west-east", mirror_topic="own"))
    world.run(1_500)
    assert mirrored_topics(world) == {"own"}
    world.destination.ask(DeleteLink(name="west-east", force=True))
    world.run(100)
    assert record(world) is None


def test_nothing_is_kept_of_a_link_that_fences_nothing() -> None:
    world = mirrored()
    sets = {"source.fencing.enable": "false"}
    world.destination.ask(AlterLinkConfigs(name="west-east", sets=sets))
    world.run(1_500)
    assert record(world) is None


def test_no_write_is_taken_after_the_return_of_a_region_that_was_taken_over() -> None:
    world = mirrored()
    world.source.stop()
    fail_over(world)
    world.run(10_000)
    before = len(world.source.log("orders", 0))
    world.source.start()
    producers = [Producer(world.source, "orders", acks=acks) for acks in (-1, 1)]
    for producer in producers:
        codes, waited = producer.wait()
        assert codes == {"orders": REFUSED}
        assert 0 < waited < WAIT_MS
    assert len(world.source.log("orders", 0)) == before
    assert [one.to for one in world.source.changes if one.what == "writes"] == [
        "held of 1 topics",
        "taken",
    ]


def test_writes_go_on_as_soon_as_the_link_has_said_that_nothing_was_taken_over() -> None:
    world = mirrored()
    world.source.stop()
    world.run(10_000)
    world.source.start()
    codes, waited = Producer(world.source, "orders").wait()
    assert codes == {"orders": 0}
    assert 0 < waited < 2_500, "no longer than the link's longest pause between attempts"


def test_what_is_not_mirrored_waits_for_nothing() -> None:
    world = mirrored()
    restart(world.source)
    assert Producer(world.source, "own").wait() == ({"own": 0}, 0)


def test_a_region_without_links_waits_for_nothing() -> None:
    world = World()
    world.source.settings = {"link.source.startup.wait.ms": WAIT_MS}
    world.start()
    clients.create_topic(world.source, "orders")
    restart(world.source)
    assert Producer(world.source, "orders").wait() == ({"orders": 0}, 0)
    assert not [one for one in world.source.changes if one.what == "writes"]


def test_without_its_link_a_region_goes_on_after_the_configured_time_and_says_so(
    tmp_path: Path,
) -> None:
    world = mirrored()
    cut_off(world)
    restart(world.source)
    awaited = scraped(world.source, tmp_path)["causeway_startup_awaited_destinations"]
    assert awaited == {(): 1}
    codes, waited = Producer(world.source, "orders").wait()
    assert (codes, waited) == ({"orders": 0}, WAIT_MS)
    metrics = scraped(world.source, tmp_path)
    assert metrics["causeway_startup_awaited_destinations"] == {(): 0}
    assert metrics["causeway_startup_missed_destinations"] == {(("destination", NAME),): 1}
    (said,) = [one for one in world.source.changes if one.to == "taken"]
    assert f"{NAME} was not heard in link.source.startup.wait.ms={WAIT_MS}" in said.why


def test_who_goes_on_because_another_broker_has_does_not_say_that_the_link_was_heard() -> None:
    """The other one's time was up, and it has written the record again as it was."""
    world = mirrored()
    cut_off(world)
    restart(world.source)
    known = record(world)
    assert known is not None
    version = world.source.view.image.document_version(DESTINATION_KIND, NAME)
    assert not isinstance(submit(world.source, PutDocuments((put(known, version),))), Refusal)
    world.run(100)
    (said,) = [one for one in world.source.changes if one.to == "taken"]
    assert "another broker" in said.why and f"{NAME} was not heard" in said.why


def test_0_switches_it_off() -> None:
    world = mirrored(wait_ms=0)
    cut_off(world)
    restart(world.source)
    assert Producer(world.source, "orders").wait() == ({"orders": 0}, 0)


def test_a_node_that_is_not_fenced_waits_for_nothing() -> None:
    world = mirrored()
    cut_off(world)
    world.source.settings["link.fencing.enable"] = False
    restart(world.source)
    assert Producer(world.source, "orders").wait() == ({"orders": 0}, 0)


def test_a_producer_waits_as_long_as_it_says_and_nothing_of_it_is_stored() -> None:
    world = mirrored()
    cut_off(world)
    restart(world.source)
    before = len(world.source.log("orders", 0))
    producer = Producer(world.source, "orders", "own", timeout_ms=700)
    assert producer.wait() == ({"orders": HELD, "own": 0}, 700)
    world.run(WAIT_MS)
    assert len(world.source.log("orders", 0)) == before
    codes, waited = Producer(world.source, "orders").wait()
    assert (codes, waited) == ({"orders": 0}, 0)


def test_requests_go_on_in_the_order_in_which_they_came() -> None:
    """An idempotent producer has several requests under way."""
    world = mirrored()
    restart(world.source)
    tickets = []
    for sequence in range(3):
        batch = clients.batch_of(world.source, b"x", producer_id=7, base_sequence=sequence)
        tickets.append(world.source.submit(0, 9, clients.produce_request({"orders": batch})))
    world.run_until(lambda: tickets[-1] in world.source.answers)
    parts = [world.source.answers[one].responses[0].partition_responses[0] for one in tickets]
    assert [(one.error_code, one.base_offset) for one in parts] == [(0, 2), (0, 3), (0, 4)]


def test_the_link_is_heard_although_the_destination_has_restarted_too() -> None:
    world = mirrored()
    cut_off(world)
    fail_over(world)
    restart(world.source)
    restart(world.destination)
    producer = Producer(world.source, "orders")
    world.run(1_000)
    world.reachable = True
    codes, waited = producer.wait()
    assert codes == {"orders": REFUSED}
    assert waited < WAIT_MS


def test_a_destination_of_an_older_release_is_not_waited_for() -> None:
    world = mirrored(Older(10))
    assert record(world) is None
    restart(world.source)
    assert Producer(world.source, "orders").wait() == ({"orders": 0}, 0)


def test_a_destination_that_went_back_to_an_older_release_is_waited_for_in_vain() -> None:
    older = Older(11)
    world = mirrored(older)
    assert mirrored_topics(world) == {"orders"}
    world.source.stop()
    fail_over(world)
    older.version = 10
    world.source.start()
    codes, waited = Producer(world.source, "orders").wait()
    assert codes == {"orders": REFUSED}, "it says so at any version"
    assert waited <= WAIT_MS
