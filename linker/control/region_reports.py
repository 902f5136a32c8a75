"""What the brokers of this region know of the mirrors of several links: each broker is asked once for all of them."""

from collections.abc import Iterable, Mapping

from brokers.ids import BrokerId, Instant
from brokers.region import MirrorsDescribed
from linker.control.broker_questions import BrokerQuestions, Then
from linker.control.cluster_link import ClusterLink
from linker.region_client import Effects, RegionClient


class RegionReports:
    """Asks for commands that change nothing. What is heard goes into the `reports` of each link.

    Promotions have questions of their own (`MirrorReports`), and do not wait for long answers to these.
    """

    def __init__(self, region: RegionClient, links: Mapping[str, ClusterLink]) -> None:
        self._links = links
        self._questions = BrokerQuestions(region, self._heard)

    def collect(self, links: Iterable[ClusterLink], then: Then, now: Instant) -> Effects:
        """`then` runs once the leaders of all mirror topics of these links have answered, or have not in time."""
        wanted: dict[BrokerId, list[str]] = {}
        for link in links:
            for broker_id in link.reports.leaders(link.mirrors):
                wanted.setdefault(broker_id, []).extend(link.mirrors)
        return self._questions.ask(wanted, then, now)

    def _heard(
        self, broker_id: BrokerId, topics: tuple[str, ...], answer: MirrorsDescribed
    ) -> None:
        told = {one.topic: one for one in answer.mirrors or ()}
        for link in self._links.values():
            asked = [topic for topic in topics if topic in link.mirrors]
            link.reports.heard(broker_id, asked, [told[one] for one in asked if one in told])
