"""The request handlers of a node: one line an API, with what the handler uses."""

from collections.abc import Mapping

from brokers.api import (
    allocate_producer_ids,
    alter_configs,
    alter_partition,
    alter_partition_reassignments,
    alter_replica_log_dirs,
    api_versions,
    assign_replicas_to_dirs,
    broker_heartbeat,
    broker_loggers,
    broker_registration,
    controller_registration,
    create_partitions,
    create_topics,
    delete_groups,
    delete_records,
    delete_topics,
    describe_cluster,
    describe_configs,
    describe_groups,
    describe_log_dirs,
    describe_mirrors,
    describe_producers,
    describe_topic_partitions,
    elect_leaders,
    envelope,
    fetch,
    find_coordinator,
    heartbeat,
    incremental_alter_configs,
    init_producer_id,
    join_group,
    leave_group,
    link_requests,
    list_groups,
    list_offsets,
    list_partition_reassignments,
    metadata,
    offset_commit,
    offset_delete,
    offset_fetch,
    offset_for_leader_epoch,
    produce,
    quorum_requests,
    sync_group,
    unregister_broker,
    update_features,
    versions,
)
from brokers.api.controller_apis import ControllerApi, ControllerService
from brokers.api.link_requests import LinkRequestHandler
from brokers.api.ports import Handle
from brokers.events import Listener
from brokers.metadata.requests.conversions import OWN_APIS
from brokers.node.controller_router import ControllerRouter
from brokers.node.local_controller import Serve
from brokers.node.parts import Parts
from brokers.node.read_only import contained
from brokers.wire.messages.api_keys import ApiKey


class RequestHandlers:
    """`by_listener` has the handler of each API key that a listener serves (`versions.is_served`)."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._loggers = broker_loggers.BrokerLoggers(
            parts.config.node_id, parts.log_levels, parts.recorder
        )
        self._quorum = quorum_requests.QuorumHandler(
            parts.controller, parts.continuations, parts.heard
        )
        services = self._services()
        self.services: Mapping[int, Serve] = {key: each.serve for key, each in services.items()}
        self.controller_apis: Mapping[int, ControllerApi] = self._controller_apis()
        both = {**self._administration(), **self._routed()}
        self.by_listener: Mapping[Listener, Mapping[int, Handle]] = {
            Listener.DATA: contained({**both, **self._data(), **self._groups()}),
            Listener.CONTROLLER: {
                **both,
                **{key: each.handle for key, each in services.items()},
                **self._quorum_requests(),
                envelope.KEY: self._envelope().handle,
            },
        }

    def _data(self) -> dict[int, Handle]:
        """Records, and the requests that precede reading and writing them."""
        p = self._parts
        return {
            produce.KEY: produce.ProduceHandler(
                p.config, p.raft, p.partitions, p.purgatory, p.shutdown, p.log_dirs, p.held_writes
            ).handle,
            fetch.KEY: fetch.FetchHandler(
                p.config, p.raft, p.partitions, p.replication, p.continuations, p.timers
            ).handle,
            list_offsets.KEY: list_offsets.ListOffsetsHandler(p.partitions, p.continuations).handle,
            metadata.KEY: metadata.MetadataHandler(
                p.config, p.raft, p.partitions, p.forwarding
            ).handle,
            find_coordinator.KEY: find_coordinator.FindCoordinatorHandler(
                p.config, p.raft, p.forwarding
            ).handle,
            delete_records.KEY: delete_records.DeleteRecordsHandler(
                p.partitions, p.purgatory, p.recorder
            ).handle,
            init_producer_id.KEY: init_producer_id.InitProducerIdHandler(
                p.config, p.channel, p.raft
            ).handle,
            offset_for_leader_epoch.KEY: offset_for_leader_epoch.OffsetForLeaderEpochHandler(
                p.partitions
            ).handle,
            alter_replica_log_dirs.KEY: alter_replica_log_dirs.AlterReplicaLogDirsHandler(
                p.partitions, p.log_dirs, p.recorder
            ).handle,
            describe_log_dirs.KEY: describe_log_dirs.DescribeLogDirsHandler(
                p.partitions, p.continuations, p.log_dirs
            ).handle,
            describe_producers.KEY: describe_producers.DescribeProducersHandler(
                p.partitions
            ).handle,
            describe_mirrors.KEY: describe_mirrors.DescribeMirrorsHandler().handle,
            describe_topic_partitions.KEY: describe_topic_partitions.DescribeTopicPartitionsHandler(
                p.config, p.raft, p.partitions
            ).handle,
            ApiKey.DESCRIBE_QUORUM: self._quorum.forward,
            ApiKey.ADD_RAFT_VOTER: self._quorum.forward,
            ApiKey.REMOVE_RAFT_VOTER: self._quorum.forward,
        }

    def _groups(self) -> dict[int, Handle]:
        """Consumer groups."""
        p = self._parts
        return {
            join_group.KEY: join_group.JoinGroupHandler(p.groups).handle,
            sync_group.KEY: sync_group.SyncGroupHandler(p.groups).handle,
            heartbeat.KEY: heartbeat.HeartbeatHandler(p.groups).handle,
            leave_group.KEY: leave_group.LeaveGroupHandler(p.groups).handle,
            offset_commit.KEY: offset_commit.OffsetCommitHandler(
                p.raft, p.groups, p.recorder
            ).handle,
            offset_fetch.KEY: offset_fetch.OffsetFetchHandler(p.raft, p.groups).handle,
            offset_delete.KEY: offset_delete.OffsetDeleteHandler(
                p.raft, p.groups, p.recorder
            ).handle,
            describe_groups.KEY: describe_groups.DescribeGroupsHandler(p.groups).handle,
            list_groups.KEY: list_groups.ListGroupsHandler(p.groups).handle,
            delete_groups.KEY: delete_groups.DeleteGroupsHandler(p.groups, p.recorder).handle,
        }

    def _administration(self) -> dict[int, Handle]:
        """What both listeners serve."""
        p = self._parts
        return {
            api_versions.KEY: api_versions.ApiVersionsHandler(p.raft, versions.advertised).handle,
            describe_cluster.KEY: describe_cluster.DescribeClusterHandler(
                p.config, p.raft, p.raft
            ).handle,
            describe_configs.KEY: describe_configs.DescribeConfigsHandler(
                p.config, p.raft, self._loggers
            ).handle,
            list_partition_reassignments.KEY: list_partition_reassignments.ListPartitionReassignmentsHandler(
                p.raft
            ).handle,
        }

    def _controller_apis(self) -> dict[int, ControllerApi]:
        """Requests that only the active controller decides."""
        p = self._parts
        own = {key: LinkRequestHandler(each, p.controller) for key, each in OWN_APIS.items()}
        return {
            alter_configs.KEY: alter_configs.AlterConfigsHandler(p.controller),
            incremental_alter_configs.KEY: incremental_alter_configs.IncrementalAlterConfigsHandler(
                p.controller
            ),
            create_topics.KEY: create_topics.CreateTopicsHandler(p.config, p.raft, p.controller),
            delete_topics.KEY: delete_topics.DeleteTopicsHandler(p.controller),
            create_partitions.KEY: create_partitions.CreatePartitionsHandler(p.controller),
            elect_leaders.KEY: elect_leaders.ElectLeadersHandler(p.controller),
            alter_partition_reassignments.KEY: alter_partition_reassignments.AlterPartitionReassignmentsHandler(
                p.controller
            ),
            unregister_broker.KEY: unregister_broker.UnregisterBrokerHandler(p.controller),
            update_features.KEY: update_features.UpdateFeaturesHandler(p.controller, p.raft),
            **own,
        }

    def _routed(self) -> dict[int, Handle]:
        """Those APIs that clients use, at both listeners."""
        p = self._parts
        routed = {
            key: ControllerRouter(api, p.controller, p.forwarding).handle
            for key, api in self.controller_apis.items()
            if key not in OWN_APIS
        }
        alter = incremental_alter_configs.KEY
        return {**routed, alter: self._loggers.or_else(routed[alter])}

    def _envelope(self) -> envelope.EnvelopeHandler:
        """Versions of clients' APIs are those that the controller listener serves itself."""
        p, apis = self._parts, self.controller_apis
        listed = {**versions.advertised(Listener.CONTROLLER), **link_requests.VERSIONS}
        served = {key: listed[key] for key in apis}
        return envelope.EnvelopeHandler(p.raft, p.controller, apis, served)

    def _services(self) -> dict[int, ControllerService]:
        """What nodes ask of the active controller."""
        p = self._parts
        return {
            alter_partition.KEY: alter_partition.AlterPartitionHandler(p.controller),
            broker_registration.KEY: broker_registration.BrokerRegistrationHandler(p.controller),
            broker_heartbeat.KEY: broker_heartbeat.BrokerHeartbeatHandler(p.controller, p.heard),
            controller_registration.KEY: controller_registration.ControllerRegistrationHandler(
                p.controller
            ),
            allocate_producer_ids.KEY: allocate_producer_ids.AllocateProducerIdsHandler(
                p.raft, p.controller
            ),
            assign_replicas_to_dirs.KEY: assign_replicas_to_dirs.AssignReplicasToDirsHandler(
                p.controller
            ),
        }

    def _quorum_requests(self) -> dict[int, Handle]:
        """What controllers ask of one another."""
        handlers = {api.KEY: self._quorum.handle for api in quorum_requests.FOR_NODES}
        return {**handlers, ApiKey.FETCH: self._quorum.fetch}
