"""What a node does by the clock: retention, producer expiry, checkpoints of high watermarks."""

from brokers.config.broker_config import BrokerConfig
from brokers.effects import Effect, SaveHighWatermarks
from brokers.ids import Instant, Offset, TopicPartition
from brokers.partition.hosted_partitions import HostedPartitions
from brokers.timers import Timers


class LogMaintenance:
    """Sets its own timers; one round of each is one step."""

    def __init__(self, config: BrokerConfig, partitions: HostedPartitions, timers: Timers) -> None:
        self._config = config
        self._partitions = partitions
        self._timers = timers
        self._saved: dict[TopicPartition, Offset] = {}

    def start(self, now: Instant) -> None:
        config = self._config
        self._timers.set(now + config.log_retention_check_interval_ms, self._retain)
        self._timers.set(
            now + config.replica_high_watermark_checkpoint_interval_ms, self._checkpoint
        )

    def _retain(self, now: Instant) -> list[Effect]:
        """Deletes old segments. A mirror follows its source's log start, so it has no retention of its own."""
        effects: list[Effect] = []
        for replica in self._partitions.all.values():
            if replica.log is None:
                continue
            replica.log.producers.expire(now, self._config.producer_id_expiration_ms)
            if replica.writer is None:
                log_start = replica.log.retention(now, replica.config, replica.high_watermark)
                if log_start is not None:
                    effects += replica.trim(log_start)
        interval = self._config.log_retention_check_interval_ms
        self._timers.set(now + interval, self._retain)
        return effects

    def _checkpoint(self, now: Instant) -> list[Effect]:
        interval = self._config.replica_high_watermark_checkpoint_interval_ms
        self._timers.set(now + interval, self._checkpoint)
        return self.checkpoint()

    def stop(self) -> list[Effect]:
        """What a clean shutdown writes of all partitions."""
        effects: list[Effect] = self.checkpoint()
        for replica in self._partitions.all.values():
            effects += replica.stop()
        return effects

    def checkpoint(self) -> list[Effect]:
        """Also at a clean stop. Nothing is written unless a high watermark has moved."""
        marks = {
            name: replica.high_watermark
            for name, replica in self._partitions.all.items()
            if replica.log is not None
        }
        if marks == self._saved:
            return []
        self._saved = marks
        return [SaveHighWatermarks(marks)]
