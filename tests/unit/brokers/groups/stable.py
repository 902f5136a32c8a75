"""A group whose members have their assignments."""

from typing import Any

from brokers.groups.requests import JoinResult, SyncRequest, SyncResult
from tests.playbooks.groups.world import World
from tests.unit.brokers.groups.requests import join


def stable(world: World, *names: str, **fields: Any) -> list[str]:
    """The members' ids in the order of their names; each is assigned its own name. The first one leads."""
    tickets = [world.ask("join", join(client_id=name, **fields)) for name in names]
    world.wait(world.config.initial_rebalance_delay_ms)
    answers = [world.answers[ticket] for ticket in tickets]
    ids = []
    for answer in answers:
        assert isinstance(answer, JoinResult)
        assert not answer.error
        ids.append(answer.member_id)
    chosen = {member: name.encode() for member, name in zip(ids, names, strict=True)}
    for member in ids:
        asked = SyncRequest(group="g", generation=1, member_id=member, assignments=chosen)
        tickets.append(world.ask("sync", asked))
    world.write_all()
    for ticket, name in zip(tickets[len(names) :], names, strict=True):
        answer = world.answers[ticket]
        assert isinstance(answer, SyncResult)
        assert answer.assignment == name.encode()
    return ids
