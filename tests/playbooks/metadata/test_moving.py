"""Controllers that all listen elsewhere after a restart, as the settings of all of them say."""

from brokers.config.broker_config import BrokerConfig
from brokers.effects import Ask
from brokers.events import AskFailure
from brokers.metadata.commands.document_commands import DocumentChange, PutDocuments
from tests.playbooks.metadata.region import Node, Region, settings


class Moving(Region):
    """Who is asked where it does not listen is not reached."""

    site = "host"

    def config(self, node_id: int) -> BrokerConfig:
        voters = ",".join(f"{each}@{self.site}-{each}:9093" for each in (1, 2, 3))
        listeners = f"PLAINTEXT://{self.site}-{node_id}:9092"
        if node_id <= 3:
            listeners += f",CONTROLLER://{self.site}-{node_id}:9093"
        more = {"controller.quorum.voters": voters, "listeners": listeners}
        return settings(node_id, **more)

    def _arrive(self, ticket: int, ask: Ask) -> None:
        if ask.peer.host == f"{self.site}-{ask.peer.node_id}":
            super()._arrive(ticket, ask)
        else:
            self.exchange.end(ticket, None, AskFailure.REFUSED)


def put(name: str) -> PutDocuments:
    return PutDocuments((DocumentChange(kind="test", name=name, body=b"x"),))


def recorded_at(node: Node) -> set[str]:
    raft = node.plane._lifecycle.raft
    assert raft is not None and raft.voters.kraft_version == 1
    return {voter.endpoints[0].host for voter in raft.voters.latest}


def test_a_region_whose_controllers_have_all_moved_finds_itself_again() -> None:
    region = Moving(3, nodes=4)
    region.decide(put("before"), 1)
    region.run(5_000)  # the voters are recorded, with where they listen
    assert recorded_at(region.require_active()) == {"host-1", "host-2", "host-3"}
    for node_id in (1, 2, 3, 4):
        region.crash(node_id)
    region.site = "new"
    for node_id in (1, 2, 3, 4):
        region.start(node_id)
    region.run_until(lambda: region.active is not None)
    region.decide(put("after"), 2)
    region.run_until(region.is_even)
    region.run_until(lambda: recorded_at(region.require_active()) == {"new-1", "new-2", "new-3"})
