"""What the brokers know of the mirrors of several links: each broker is asked once for all of them."""

import random
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from brokers.ids import BrokerId, TopicPartition
from brokers.metadata.image.image import Image, PartitionImage, TopicImage
from brokers.region import DescribeMirrors, MirrorPartitionStatus, MirrorsDescribed, MirrorStatus
from linker.control.mirror_reports import MirrorReports
from linker.control.region_reports import RegionReports
from linker.region_client import Effects, RegionClient

OWN, SECOND, THIRD = 1, 2, 3
# By link: its mirror topics, each with the leaders of its partitions.
LINKS: dict[str, dict[str, tuple[BrokerId, ...]]] = {
    "west": {"orders": (OWN, SECOND), "bills": (THIRD,)},
    "north": {"mails": (SECOND,)},
    "own": {"notes": (OWN,)},
}


class View:
    broker_id = OWN

    def __init__(self) -> None:
        self.image = Image("east")
        for link, topics in LINKS.items():
            for name, leaders in topics.items():
                placed = tuple(PartitionImage(one, 0, 0, (one,), (one,)) for one in leaders)
                made = TopicImage(name, UUID(int=1), placed, writer=link)
                self.image.topics_by_name[name] = made


@dataclass
class Link:
    """What is asked about: not a whole link, which would follow its source, too."""

    mirrors: dict[str, tuple[BrokerId, ...]]
    reports: MirrorReports


class Coordinator:
    """The link coordinator. `collected`: how many commands may go on."""

    def __init__(self) -> None:
        self.client = RegionClient(View(), random.Random(1))  # type: ignore[arg-type]
        self.links = {name: Link(topics, self.reports()) for name, topics in LINKS.items()}
        self.together = RegionReports(self.client, self.links)  # type: ignore[arg-type]
        self.collected = 0

    def reports(self) -> MirrorReports:
        return MirrorReports(
            self.client, lambda _: None, lambda _: None, lambda place, now: status(place.partition)
        )

    def ask(self, *links: str) -> list[DescribeMirrors]:
        return self.together.collect([self.links[one] for one in links], self.done, 0)  # type: ignore[return-value,misc]

    def done(self, now: int) -> Effects:
        self.collected += 1
        return []

    def answer(self, question: DescribeMirrors, *, is_known: bool = True) -> list[Any]:
        """As the broker that is asked does: of the partitions that it leads."""
        mirrors = tuple(
            MirrorStatus(topic, 1, tuple(status(index) for index in leads))
            for topics in LINKS.values()
            for topic, leaders in topics.items()
            if topic in question.topics
            and (leads := [at for at, one in enumerate(leaders) if one == question.broker_id])
        )
        told = MirrorsDescribed(question.ticket, mirrors if is_known else None)
        return self.client.answered(told, 0)

    def known(self) -> set[str]:
        """Of which topics something is known of each partition."""
        return {
            topic
            for link in self.links.values()
            for topic, leaders in link.mirrors.items()
            if all(link.reports.of(TopicPartition(topic, at), 0) for at in range(len(leaders)))
        }


def status(index: int) -> MirrorPartitionStatus:
    return MirrorPartitionStatus(index, 0, 0, log_end_offset=7, high_watermark=7, last_epoch=0)


def test_each_broker_is_asked_once_for_the_mirrors_of_all_links() -> None:
    region = Coordinator()
    second, third = region.ask(*LINKS)
    asked = {one.broker_id: set(one.topics) for one in (second, third)}
    assert asked == {SECOND: {"orders", "bills", "mails"}, THIRD: {"orders", "bills"}}
    assert region.known() == {"notes"}, "this broker need not ask itself"
    assert region.answer(second) == []
    assert (region.collected, region.known()) == (0, {"notes", "orders", "mails"})
    assert region.answer(third) == []
    assert (region.collected, region.known()) == (1, {"notes", "orders", "mails", "bills"})


def test_what_is_asked_while_a_question_is_under_way_is_asked_together_afterwards() -> None:
    region = Coordinator()
    (first,) = region.ask("north")
    assert region.ask("north") == region.ask("north") == []
    (second,) = region.answer(first)
    assert (region.collected, second.topics) == (1, ("mails",))
    assert region.answer(second) == []
    assert region.collected == 3


def test_of_a_broker_that_does_not_answer_nothing_is_known_any_more() -> None:
    region = Coordinator()
    for is_known, known in ((True, {"notes", "mails"}), (False, {"notes"})):
        (question,) = region.ask("north")
        assert region.answer(question, is_known=is_known) == []
        assert region.known() == known
    assert region.collected == 2


def test_links_that_this_broker_alone_leads_are_known_at_once() -> None:
    region = Coordinator()
    assert (region.ask("own"), region.collected) == ([], 1)
