"""Why a mirror topic's state is not changed as the operator asked."""

from typing import Final

from brokers.errors import KafkaError, Refusal
from linker.control.mirror_topic import MirrorTopic
from linker.errors import LinkRefusal
from linker.records.mirror_state import UNDER_WAY, MirrorState

TAKEN_OVER_HINT: Final = "`causeway mirror truncate-and-restore` makes it a mirror of that region"


def refused(mirror: MirrorTopic, verb: str) -> LinkRefusal:
    """The mirror's state does not allow this change."""
    if mirror.record.state is MirrorState.STOPPED and mirror.taken_over:
        return LinkRefusal("INVALID_REQUEST", mirror.taken_over, hint=TAKEN_OVER_HINT)
    if mirror.record.state is MirrorState.STOPPED:
        return LinkRefusal(
            "INVALID_REQUEST",
            f"{mirror.topic} is STOPPED: it is no mirror any more, and is writable already",
            hint="`causeway mirror decisions` shows since when, and why",
        )
    return LinkRefusal(
        "INVALID_REQUEST",
        f"{mirror.topic} is {mirror.record.state.value}: {verb} is not possible now",
        hint=_what_first(mirror),
    )


def _what_first(mirror: MirrorTopic) -> str:
    if mirror.record.state is MirrorState.PAUSED:
        return "`causeway mirror resume` lets it go on; `causeway mirror failover` works as it is"
    if mirror.record.state in UNDER_WAY:
        return (
            "`causeway mirror transitions` shows what it waits for, and whether it can be cancelled"
        )
    return "`causeway mirror describe` shows why"


def not_made_yet(mirror: MirrorTopic) -> LinkRefusal:
    """There is nothing to cut."""
    because = f"topic {mirror.topic} is not created yet"
    hint = "wait for it, or delete the link with --force"
    return LinkRefusal("UNKNOWN_TOPIC_OR_PARTITION", because, hint=hint)


def overtaken(mirror: MirrorTopic) -> LinkRefusal:
    """Another command, or the time that a promotion had, has ended it."""
    because = f"{mirror.topic} was changed meanwhile: it is {mirror.record.state.value}"
    return LinkRefusal("INVALID_REQUEST", because, hint="ask again")


def coordinated_elsewhere(topic: str) -> LinkRefusal:
    """Another broker has become the link coordinator, and goes on."""
    return LinkRefusal(
        "NOT_COORDINATOR",
        f"another broker coordinates {topic} now, and goes on with it",
        hint="`causeway mirror describe` shows how far it is",
    )


def changed_meanwhile(topic: str, refusal: Refusal) -> LinkRefusal:
    """Another change came first; or the metadata log failed, and nobody knows yet what it holds."""
    because = f"{topic} was changed meanwhile: {refusal.because}"
    if refusal.error is not KafkaError.INVALID_UPDATE_VERSION:
        because = f"{topic} may or may not have been changed: {refusal.because}"
    return LinkRefusal(
        refusal.error.name,
        because,
        hint="look at `causeway mirror describe`, then ask again",
    )


def deleted_meanwhile(topic: str) -> LinkRefusal:
    """There is no topic any more to fail over."""
    because = f"{topic} was deleted meanwhile"
    return LinkRefusal("UNKNOWN_TOPIC_OR_PARTITION", because)
