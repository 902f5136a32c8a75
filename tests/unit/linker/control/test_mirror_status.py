"""What a leader says of a mirror partition to the link coordinator."""

from uuid import UUID

from brokers.region import MirrorPartitionStatus
from linker.control.failover_phases import FailoverProgress
from linker.control.mirror_status import TAILS_LEFT, partition_status
from linker.control.mirror_topic import MirrorTopic
from linker.records.mirror_record import MirrorRecord
from linker.records.mirror_state import MirrorState
from tests.unit.linker.data.stage import Stage


def reported(stage: Stage, state: MirrorState) -> MirrorPartitionStatus:
    """Of a mirror in this state, whose replicator is the stage's."""
    record = MirrorRecord(
        topic="orders",
        link="west-east",
        source_topic="orders",
        source_topic_id=UUID(int=7),
        created_at=0,
        state=state,
        since=0,
    )
    mirror = MirrorTopic(
        stage.client,
        stage.link,  # type: ignore[arg-type]
        None,  # type: ignore[arg-type]  # no stream is looked for
        stage.link,  # type: ignore[arg-type]
        record,
        1,
        FailoverProgress(),
    )
    mirror.replicators.by_index[0] = stage.feed
    found = partition_status(stage.client, mirror, 0, stage.now)
    assert found is not None
    return found


def test_a_restored_partition_follows_once_no_replica_in_sync_has_its_old_tail() -> None:
    stage = Stage().start().agree()
    stage.region.is_followed = False
    waiting = reported(stage, MirrorState.PENDING_RESTORE)
    assert (waiting.is_following, waiting.trouble) == (False, TAILS_LEFT)
    stage.region.is_followed = True
    followed = reported(stage, MirrorState.PENDING_RESTORE)
    assert (followed.is_following, followed.trouble) == (True, "")


def test_a_partition_that_is_compared_with_its_source_need_not_be_followed() -> None:
    """It has not truncated anything yet."""
    stage = Stage().start().agree()
    stage.region.is_followed = False
    assert reported(stage, MirrorState.PENDING_SETUP_FOR_RESTORE).is_following


def test_what_its_source_has_not_agreed_to_does_not_follow() -> None:
    assert not reported(Stage().start(), MirrorState.PENDING_RESTORE).is_following
