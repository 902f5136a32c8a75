"""Pauses, resumes, promotes, fails over and reverses mirror topics, and cancels what they are in the middle of."""

from dataclasses import replace
from functools import partial
from typing import Final

from brokers.errors import Refusal
from brokers.ids import Instant
from linker.administration.registry import (
    Change,
    Registry,
    Respond,
    change_each,
    check_reversible,
    find_link,
    find_mirror,
    not_allowed,
    result,
)
from linker.answers import TopicResult, Topics
from linker.commands import ChangeMirrors
from linker.control.cancelling import UNDER_WAY, Cancelling, why_not
from linker.control.cancelling import VERB as CANCEL
from linker.control.cluster_link import ClusterLink
from linker.control.failover import PROMOTE_TIMEOUT_MS, Answered
from linker.control.mirror_refusals import changed_meanwhile
from linker.control.mirror_topic import MirrorTopic
from linker.records.mirror_record import Asked, CutKind, verb_of
from linker.records.mirror_state import LIVE, TRANSITIONS, MirrorTrigger
from linker.region_client import Effects, RegionClient

_TRIGGERS: Final = {
    "pause": MirrorTrigger.PAUSE,
    "resume": MirrorTrigger.RESUME,
    "promote": MirrorTrigger.PROMOTE,
    "failover": MirrorTrigger.FAILOVER,
    "reverse-and-start": MirrorTrigger.REVERSE,
    "reverse-and-pause": MirrorTrigger.REVERSE,
    CANCEL: MirrorTrigger.CANCEL,
}
_PROVEN: Final = {verb_of(kind): kind for kind in CutKind if kind.is_proven}


class MirrorChanges:
    """One per region. A command is answered through `respond`, once, or raises LinkRefusal."""

    def __init__(self, region: RegionClient, registry: Registry) -> None:
        self._region = region
        self._registry = registry

    def change(self, command: ChangeMirrors, respond: Respond, now: Instant) -> Effects:
        link = find_link(self._registry, command.link)
        trigger = _TRIGGERS[command.verb]
        states = UNDER_WAY if command.verb == CANCEL else LIVE
        names = command.topics or tuple(
            sorted(topic for topic, one in link.mirrors.items() if one.record.state in states)
        )
        mirrors = [find_mirror(link, topic) for topic in dict.fromkeys(names)]
        if trigger is MirrorTrigger.REVERSE:
            check_reversible(link)
        if command.validate_only:
            return respond(
                Topics(tuple(_check(each, trigger, command.verb) for each in mirrors)), now
            )
        timeout_ms = command.timeout_ms or PROMOTE_TIMEOUT_MS
        asked = Asked(f"{link.name}@{now}", now, command.asked_by, command.why)
        changes = [
            (mirror, self._change(link, mirror, trigger, command.verb, timeout_ms, asked))
            for mirror in mirrors
        ]
        return change_each(changes, respond, now)

    def _change(
        self,
        link: ClusterLink,
        mirror: MirrorTopic,
        trigger: MirrorTrigger,
        verb: str,
        timeout_ms: int,
        asked: Asked,
    ) -> Change:
        if verb == CANCEL:
            return lambda answered, now: Cancelling(self._region, mirror, asked, answered).begin(
                now
            )
        if trigger is MirrorTrigger.FAILOVER:
            return partial(link.failover, mirror.topic, asked)
        if verb in _PROVEN:
            return partial(link.promote, mirror.topic, _PROVEN[verb], timeout_ms, asked)
        return partial(self._turn, mirror, trigger, verb)

    def _turn(
        self,
        mirror: MirrorTopic,
        trigger: MirrorTrigger,
        verb: str,
        answered: Answered,
        now: Instant,
    ) -> Effects:
        """Pause or resume."""
        refusal = not_allowed(mirror, trigger, verb)
        if refusal is not None:
            return answered(refusal, now)
        target = TRANSITIONS[mirror.record.state, trigger]
        # A state that is so already is written too: an earlier change of unknown outcome may still appear.
        since = mirror.record.since if target is mirror.record.state else now

        def written(refusal: Refusal | None, at: Instant) -> Effects:
            return answered(changed_meanwhile(mirror, refusal) if refusal else None, at)

        reason = mirror.record.reason if target is mirror.record.state else ""
        record = replace(mirror.record, state=target, since=since, reason=reason)
        return mirror.change(record, written)


def _check(mirror: MirrorTopic, trigger: MirrorTrigger, verb: str) -> TopicResult:
    if verb == CANCEL:
        return result(mirror, why_not(mirror.record))
    return result(mirror, not_allowed(mirror, trigger, verb))
