"""Checks across settings, each of which is valid by itself. Each problem names what to change."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from brokers.config.endpoints import ANY_HOST
from brokers.config.listener_checks import listener_problems

if TYPE_CHECKING:
    from brokers.config.broker_config import BrokerConfig


def contradictions(config: "BrokerConfig") -> Iterator[str]:
    """One sentence a problem, beginning with the setting's name."""
    yield from listener_problems(config)
    yield from _quorum_problems(config)
    if config.group_min_session_timeout_ms > config.group_max_session_timeout_ms:
        yield "group.min.session.timeout.ms: above group.max.session.timeout.ms"
    if config.broker_heartbeat_interval_ms > config.broker_session_timeout_ms // 2:
        yield (
            "broker.heartbeat.interval.ms: above half of broker.session.timeout.ms, "
            "so that one lost heartbeat would fence the broker"
        )
    yield from _watermark_problems(config)
    yield from config.limit_problems()
    if config.log_cleaner_min_compaction_lag_ms > config.log_cleaner_max_compaction_lag_ms:
        yield "log.cleaner.min.compaction.lag.ms: above log.cleaner.max.compaction.lag.ms"
    if config.log_cleaner_dedupe_buffer_size // config.log_cleaner_threads < 1 << 20:
        yield (
            "log.cleaner.dedupe.buffer.size: below 1 MiB for each of log.cleaner.threads; "
            "give more memory, or fewer threads"
        )
    if not all(config.directories):
        yield "log.dirs: a name between two commas is empty; leave out the comma"
    if len(set(config.directories)) < len(config.directories):
        yield "log.dirs: a directory is named twice; give each once"


def _watermark_problems(config: "BrokerConfig") -> Iterator[str]:
    for unit, warn, refuse in (
        ("bytes", config.disk_watermark_warn_free_bytes, config.disk_watermark_refuse_free_bytes),
        (
            "percent",
            config.disk_watermark_warn_free_percent,
            config.disk_watermark_refuse_free_percent,
        ),
    ):
        if warn is not None and refuse is not None and warn < refuse:
            yield (
                f"disk.watermark.warn.free.{unit}: below disk.watermark.refuse.free.{unit}, "
                "so that producers would be refused before anybody is warned"
            )


def _impostor(config: "BrokerConfig") -> Iterator[str]:
    """A controller that is not of the first voters waits to be added to them (KIP-853), but not in another's place."""
    own = config.controller_address
    for voter in config.voters:
        if own is not None and (voter.host, voter.port) == own:
            yield (
                f"controller.quorum.voters: says that node {voter.node_id} listens at {own}, where node "
                f"{config.node_id} does; correct node.id, or name this node there"
            )


def _bootstrap_problems(config: "BrokerConfig") -> Iterator[str]:
    """A node that names no voters finds them through controllers that run."""
    if not config.bootstrap_controllers:
        yield (
            "controller.quorum.voters: required on a node without the role controller, as ID@HOST:PORT of every "
            "controller; or controller.quorum.bootstrap.servers, as HOST:PORT of some"
        )
    elif config.is_controller and not config.controller_quorum_auto_join_enable:
        yield (
            "controller.quorum.bootstrap.servers: names other controllers, and does not say who votes at first; give "
            "controller.quorum.voters as ID@HOST:PORT of every controller, the same on all nodes. A controller that "
            "is to join a quorum that runs has controller.quorum.auto.join.enable=true"
        )


def _quorum_problems(config: "BrokerConfig") -> Iterator[str]:
    voter_ids = [voter.node_id for voter in config.voters]
    if not voter_ids:
        yield from _bootstrap_problems(config)
    elif config.is_controller and config.node_id not in voter_ids:
        yield from _impostor(config)
    elif not config.is_controller and config.node_id in voter_ids:
        yield (
            f"controller.quorum.voters: names node {config.node_id}, which has no role controller; "
            "correct node.id, or give process.roles the controller"
        )
    if config.is_broker and config.decides_alone:
        return
    for name, where in config.advertised_by_name.items():
        if name in config.broker_names and where.host in ANY_HOST:
            yield (
                "advertised.listeners: give the host at which clients and the other nodes reach this one; "
                f"{name} is at {where.host or 'every interface'}"
            )
    if config.cluster_id is None:
        yield (
            "cluster.id: required where a region has more nodes than one; give all of them the same, or format "
            "log.dirs (kafka-storage format)"
        )
    if config.is_controller and config.controller_address is None:
        yield (
            f"listeners: other nodes reach a controller at {config.controller_names[0]}://HOST:PORT; "
            "add that listener"
        )
