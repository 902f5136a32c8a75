"""A mirror topic's states as tables, drawn in `linker/README.md`."""

from collections.abc import Mapping
from enum import Enum
from typing import Final

from linker.records.link_state import LinkState


class MirrorState(Enum):
    """Names of Confluent Cluster Linking.

    Of a reversal: PENDING_SYNCHRONIZE is the mirror that becomes the source, PENDING_MIRROR the source that becomes
    its mirror.
    """

    ACTIVE = "ACTIVE"
    PAUSED = "PAUSED"
    LINK_PAUSED = "LINK_PAUSED"
    SOURCE_UNAVAILABLE = "SOURCE_UNAVAILABLE"
    LINK_FAILED = "LINK_FAILED"
    FAILED = "FAILED"
    PENDING_STOPPED = "PENDING_STOPPED"
    STOPPED = "STOPPED"
    PENDING_MIRROR = "PENDING_MIRROR"
    PENDING_SYNCHRONIZE = "PENDING_SYNCHRONIZE"
    PENDING_SETUP_FOR_RESTORE = "PENDING_SETUP_FOR_RESTORE"
    PENDING_RESTORE = "PENDING_RESTORE"


STORED: Final = (
    MirrorState.ACTIVE,
    MirrorState.PAUSED,
    MirrorState.FAILED,
    MirrorState.PENDING_STOPPED,
    MirrorState.PENDING_SYNCHRONIZE,
    MirrorState.PENDING_MIRROR,
    MirrorState.PENDING_SETUP_FOR_RESTORE,
    MirrorState.PENDING_RESTORE,
    MirrorState.STOPPED,
)
LIVE: Final = STORED[:-1]  # the link is the topic's writer
STOPPING: Final = (MirrorState.PENDING_STOPPED, MirrorState.PENDING_SYNCHRONIZE)
RESTORING: Final = (MirrorState.PENDING_SETUP_FOR_RESTORE, MirrorState.PENDING_RESTORE)
UNDER_WAY: Final = (*STOPPING, MirrorState.PENDING_MIRROR, *RESTORING)
# These may hold other records than the source has now.
MAY_HAVE_DIVERGED: Final = (*RESTORING, MirrorState.FAILED, MirrorState.PENDING_MIRROR)


class MirrorTrigger(Enum):
    """What can happen to a mirror topic."""

    PAUSE = "pause"
    RESUME = "resume"
    FAIL = "the source can not be followed"
    PROMOTE = "promote"
    FAILOVER = "failover"
    REVERSE = "reverse-and-start or reverse-and-pause"
    REVERSED = "reversal: the topic is to be the mirror of its own mirror"
    MIRROR = "reversal: the other region has taken the topic over"
    MIRROR_PAUSED = "reversal: the same, and the mirror begins paused"
    GIVE_UP = "the proof for promote did not come in time"
    CANCEL = "cancel, before the cut"
    CANCEL_PAUSED = "the same of a failover of a mirror that was paused"
    CANCEL_FAILED = "the same of a failover of a mirror that had failed"
    CUT = "the cut is made"
    RESTORE = "truncate-and-restore"
    SEALED = "every orphan tail is sealed"
    RESTORED = "every partition follows its source"


# What is not here is refused, with the state in the answer.
TRANSITIONS: Final[Mapping[tuple[MirrorState, MirrorTrigger], MirrorState]] = {
    (MirrorState.ACTIVE, MirrorTrigger.PAUSE): MirrorState.PAUSED,
    (MirrorState.PAUSED, MirrorTrigger.PAUSE): MirrorState.PAUSED,
    (MirrorState.ACTIVE, MirrorTrigger.RESUME): MirrorState.ACTIVE,
    (MirrorState.PAUSED, MirrorTrigger.RESUME): MirrorState.ACTIVE,
    (MirrorState.ACTIVE, MirrorTrigger.FAIL): MirrorState.FAILED,
    (MirrorState.PAUSED, MirrorTrigger.FAIL): MirrorState.FAILED,
    (MirrorState.PENDING_STOPPED, MirrorTrigger.FAIL): MirrorState.FAILED,
    (MirrorState.ACTIVE, MirrorTrigger.PROMOTE): MirrorState.PENDING_STOPPED,
    (MirrorState.ACTIVE, MirrorTrigger.FAILOVER): MirrorState.PENDING_STOPPED,
    (MirrorState.PAUSED, MirrorTrigger.FAILOVER): MirrorState.PENDING_STOPPED,
    (MirrorState.FAILED, MirrorTrigger.FAILOVER): MirrorState.PENDING_STOPPED,
    (MirrorState.PENDING_STOPPED, MirrorTrigger.FAILOVER): MirrorState.PENDING_STOPPED,
    (MirrorState.PENDING_STOPPED, MirrorTrigger.GIVE_UP): MirrorState.ACTIVE,
    (MirrorState.PENDING_STOPPED, MirrorTrigger.CANCEL): MirrorState.ACTIVE,
    (MirrorState.PENDING_STOPPED, MirrorTrigger.CANCEL_PAUSED): MirrorState.PAUSED,
    (MirrorState.PENDING_STOPPED, MirrorTrigger.CANCEL_FAILED): MirrorState.FAILED,
    (MirrorState.ACTIVE, MirrorTrigger.REVERSE): MirrorState.PENDING_SYNCHRONIZE,
    (MirrorState.PENDING_SYNCHRONIZE, MirrorTrigger.CANCEL): MirrorState.ACTIVE,
    (MirrorState.PENDING_SYNCHRONIZE, MirrorTrigger.GIVE_UP): MirrorState.ACTIVE,
    (MirrorState.PENDING_SYNCHRONIZE, MirrorTrigger.FAIL): MirrorState.FAILED,
    (MirrorState.PENDING_SYNCHRONIZE, MirrorTrigger.FAILOVER): MirrorState.PENDING_STOPPED,
    (MirrorState.STOPPED, MirrorTrigger.REVERSED): MirrorState.PENDING_MIRROR,
    (MirrorState.PENDING_MIRROR, MirrorTrigger.MIRROR): MirrorState.ACTIVE,
    (MirrorState.PENDING_MIRROR, MirrorTrigger.MIRROR_PAUSED): MirrorState.PAUSED,
    (MirrorState.PENDING_MIRROR, MirrorTrigger.FAIL): MirrorState.FAILED,
    (MirrorState.PENDING_MIRROR, MirrorTrigger.FAILOVER): MirrorState.PENDING_STOPPED,
    (MirrorState.PENDING_MIRROR, MirrorTrigger.RESTORE): MirrorState.PENDING_SETUP_FOR_RESTORE,
    (MirrorState.PENDING_STOPPED, MirrorTrigger.CUT): MirrorState.STOPPED,
    (MirrorState.STOPPED, MirrorTrigger.RESTORE): MirrorState.PENDING_SETUP_FOR_RESTORE,
    (MirrorState.FAILED, MirrorTrigger.RESTORE): MirrorState.PENDING_SETUP_FOR_RESTORE,
    (MirrorState.PENDING_SETUP_FOR_RESTORE, MirrorTrigger.SEALED): MirrorState.PENDING_RESTORE,
    (MirrorState.PENDING_RESTORE, MirrorTrigger.RESTORED): MirrorState.ACTIVE,
    (MirrorState.PENDING_SETUP_FOR_RESTORE, MirrorTrigger.FAIL): MirrorState.FAILED,
    (MirrorState.PENDING_RESTORE, MirrorTrigger.FAIL): MirrorState.FAILED,
    (MirrorState.PENDING_SETUP_FOR_RESTORE, MirrorTrigger.FAILOVER): MirrorState.PENDING_STOPPED,
    (MirrorState.PENDING_RESTORE, MirrorTrigger.FAILOVER): MirrorState.PENDING_STOPPED,
}

# (stored state, the link's state) -> the state in descriptions.
SHOWN: Final[Mapping[tuple[MirrorState, LinkState], MirrorState]] = {
    **{(state, link): state for state in STORED for link in LinkState},
    (MirrorState.ACTIVE, LinkState.PAUSED): MirrorState.LINK_PAUSED,
    (MirrorState.PAUSED, LinkState.PAUSED): MirrorState.LINK_PAUSED,
    (MirrorState.ACTIVE, LinkState.UNAVAILABLE): MirrorState.SOURCE_UNAVAILABLE,
    (MirrorState.ACTIVE, LinkState.FAILED): MirrorState.LINK_FAILED,
}


class Category(Enum):
    """How a link counts its mirrors."""

    ACTIVE = "ACTIVE"
    PAUSED = "PAUSED"
    PENDING = "PENDING"
    IN_ERROR = "IN_ERROR"
    NOT_APPLICABLE = "NOT_APPLICABLE"


CATEGORIES: Final[Mapping[MirrorState, Category]] = {
    MirrorState.ACTIVE: Category.ACTIVE,
    MirrorState.PAUSED: Category.PAUSED,
    MirrorState.LINK_PAUSED: Category.PAUSED,
    MirrorState.SOURCE_UNAVAILABLE: Category.IN_ERROR,
    MirrorState.LINK_FAILED: Category.IN_ERROR,
    MirrorState.FAILED: Category.IN_ERROR,
    MirrorState.PENDING_STOPPED: Category.PENDING,
    MirrorState.STOPPED: Category.NOT_APPLICABLE,
    MirrorState.PENDING_MIRROR: Category.PENDING,
    MirrorState.PENDING_SYNCHRONIZE: Category.PENDING,
    MirrorState.PENDING_SETUP_FOR_RESTORE: Category.PENDING,
    MirrorState.PENDING_RESTORE: Category.PENDING,
}
