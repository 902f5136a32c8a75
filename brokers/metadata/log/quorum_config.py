"""A node's configuration as a member of the quorum."""

from uuid import UUID

from brokers.config.broker_config import BrokerConfig
from brokers.ids import Peer
from brokers.quorum.config import QuorumConfig
from brokers.quorum.voters import QuorumEndpoint, Voter, VoterSet


def quorum_config(config: BrokerConfig, cluster_id: str, directory: UUID) -> QuorumConfig:
    return QuorumConfig(
        node_id=config.node_id,
        cluster_id=cluster_id,
        voters=first_voters(config),
        directory=directory,
        may_vote=config.is_controller,
        endpoints=own_endpoints(config),
        bootstrap=tuple(
            Peer(-2 - index, *where)  # the ids that Kafka gives them
            for index, where in enumerate(config.bootstrap_controllers)
            if where != config.controller_address
        ),
        joins=config.controller_quorum_auto_join_enable and not config.voters,
        election_timeout_ms=config.controller_quorum_election_timeout_ms,
        election_backoff_max_ms=config.controller_quorum_election_backoff_max_ms,
        fetch_timeout_ms=config.controller_quorum_fetch_timeout_ms,
        request_timeout_ms=config.controller_quorum_request_timeout_ms,
        retry_backoff_ms=config.controller_quorum_retry_backoff_ms,
    )


def first_voters(config: BrokerConfig) -> VoterSet:
    """`controller.quorum.voters`: the voters until the log holds a voter set."""
    name = config.controller_names[0]
    return VoterSet(
        Voter(peer.node_id, endpoints=(QuorumEndpoint(name, peer.host, peer.port),))
        for peer in config.voters
    )


def own_endpoints(config: BrokerConfig) -> tuple[QuorumEndpoint, ...]:
    """This controller's endpoint: from `controller.quorum.voters`, else its listener; empty without such a listener."""
    name, listens_at = config.controller_listener, config.controller_address
    if name is None or listens_at is None:
        return ()
    for peer in config.voters:
        if peer.node_id == config.node_id:
            return (QuorumEndpoint(config.controller_names[0], peer.host, peer.port),)
    return (QuorumEndpoint(config.controller_names[0], *listens_at),)
