"""Why a mirror topic's state is not changed as the operator asked."""

from brokers.errors import KafkaError, Refusal
from linker.control.mirror_topic import MirrorTopic
from linker.errors import SEVERAL_NODES, LinkRefusal


def refused(mirror: MirrorTopic, verb: str) -> LinkRefusal:
    """The mirror's state does not allow this change."""
    return LinkRefusal(
        "INVALID_REQUEST",
        f"{mirror.topic} is {mirror.record.state.value}: {verb} is not possible now",
        hint="`causeway mirror describe` shows why",
    )


def suspended(mirror: MirrorTopic, verb: str) -> LinkRefusal:
    """The log of a follower could end below what was acknowledged, so no cut is taken from it."""
    return LinkRefusal(
        "INVALID_REQUEST",
        f"{mirror.topic}: {verb} is not possible now: {SEVERAL_NODES}",
        hint="stop and unregister the brokers that were added, then ask again",
    )


def changed_meanwhile(mirror: MirrorTopic, refusal: Refusal) -> LinkRefusal:
    """Another change came first; or the metadata log failed, and nobody knows yet what it holds."""
    because = f"{mirror.topic} was changed meanwhile: {refusal.because}"
    if refusal.error is not KafkaError.INVALID_UPDATE_VERSION:
        because = f"{mirror.topic} may or may not have been changed: {refusal.because}"
    return LinkRefusal(
        refusal.error.name,
        because,
        hint="look at `causeway mirror describe`, then ask again",
    )


def deleted_meanwhile(mirror: MirrorTopic) -> LinkRefusal:
    """There is no topic any more to fail over."""
    because = f"{mirror.topic} was deleted meanwhile"
    return LinkRefusal("UNKNOWN_TOPIC_OR_PARTITION", because)
