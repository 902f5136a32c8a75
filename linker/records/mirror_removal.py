"""When the record of a mirror is of no use any more, and how it is removed."""

from uuid import UUID

from brokers.ids import Offset
from brokers.metadata.commands.document_commands import DocumentChange
from linker.records.mirror_record import MIRROR_KIND, MirrorRecord
from linker.records.mirror_state import MirrorState


def is_left_behind(record: MirrorRecord, topic_id: UUID | None) -> bool:
    """Whether the topic that was stopped has been deleted; `topic_id`: of the one of its name now, None without one.

    Nobody may have been there to see it, or another topic of the name may have been made at once.
    """
    if record.state is not MirrorState.STOPPED or record.cut is None:
        return False
    return topic_id is None or record.cut.topic_id not in (None, topic_id)


def removal(record: MirrorRecord, version: Offset) -> DocumentChange:
    """Of a mirror's record of this version. Whoever stood still since may not remove the record of a later cut.

    Unless the link has made the topic: without a record nobody could ever write to it.
    """
    return DocumentChange(
        kind=MIRROR_KIND,
        name=record.topic,
        body=None,
        expected_version=version,
        unless_writer=record.link,
    )
