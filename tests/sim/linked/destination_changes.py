"""The source's operator forgets who mirrors its topics, though that region is alive: it says so again.

Until then nobody would wait for it if the source started anew.
"""

from collections.abc import Iterator

from linker.answers import Destinations
from linker.commands import ForgetDestination
from linker.errors import LinkRefusal
from linker.records.destination import DESTINATION_KIND, DestinationRecord, decode_destination
from tests.sim.linked.federation import Region
from tests.sim.linked.link_changes import LinkChanger, Logs
from tests.sim.regions.cluster import TOPIC


def _records(source: Region) -> list[DestinationRecord]:
    documents = source.newest.documents.items()
    return [
        decode_destination(one.body) for (kind, _), one in documents if kind == DESTINATION_KIND
    ]


async def begin_and_be_known(operator: LinkChanger) -> None:
    await operator.begin()
    await operator._while(lambda: not _records(operator._ends.source))


async def forget(operator: LinkChanger) -> None:
    """Asks until it is told that it is so, or that there is none: an answer may have been lost."""
    command = ForgetDestination(link=operator.link)
    while True:
        answer = await operator._ask(command, operator._ends.source)
        if isinstance(answer, Destinations):
            return
        if isinstance(answer, LinkRefusal) and answer.code == "INVALID_REQUEST":
            return


async def reopen(operator: LinkChanger) -> None:
    """The link says on a new stream what it mirrors."""
    for paused in ("true", "false"):
        await operator.alter(operator._ends.destination, {"cluster.link.paused": paused})
    await operator._while(lambda: not _records(operator._ends.source))


def not_known(operator: LinkChanger, _: Logs) -> Iterator[str]:
    source = operator._ends.source
    topic = source.newest.topics_by_name[TOPIC].id
    found = _records(source)
    if [one.topic_ids for one in found] != [{topic}]:
        yield f"east mirrors {topic}, and the source has {found}"
