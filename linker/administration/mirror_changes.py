"""Pauses, resumes, promotes, fails over and reverses mirror topics, and cancels what they are in the middle of."""

from collections.abc import Iterator
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
    stop_asked,
    stop_each,
)
from linker.administration.reversal_dry_runs import ask_source
from linker.answers import TopicResult, Topics
from linker.commands import ChangeMirrors
from linker.control.cancelling import VERB as CANCEL
from linker.control.cancelling import Cancelling, why_not
from linker.control.cluster_link import ClusterLink
from linker.control.failover import PROMOTE_TIMEOUT_MS, Answered
from linker.control.mirror_refusals import changed_meanwhile
from linker.control.mirror_topic import MirrorTopic
from linker.errors import LinkRefusal
from linker.records.mirror_record import Asked, CutKind, verb_of
from linker.records.mirror_state import LIVE, TRANSITIONS, UNDER_WAY, MirrorTrigger
from linker.records.stop_list import Stop
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
_STOPS: Final = {verb_of(kind): kind for kind in CutKind if kind is not CutKind.WITHDRAW}
TIMEOUT_MS_MAX: Final = 2**31 - 1  # as of Kafka's requests


class MirrorChanges:
    """One per region. A command is answered through `respond`, once, or raises LinkRefusal."""

    def __init__(self, region: RegionClient, registry: Registry) -> None:
        self._region = region
        self._registry = registry

    def change(self, command: ChangeMirrors, respond: Respond, now: Instant) -> Effects:
        link = find_link(self._registry, command.link)
        if not 0 <= command.timeout_ms <= TIMEOUT_MS_MAX:
            because = f"timeout_ms is {command.timeout_ms}, and not between 0 and {TIMEOUT_MS_MAX}"
            raise LinkRefusal("INVALID_REQUEST", because, hint="0 is the default")
        trigger = _TRIGGERS[command.verb]
        names = command.topics or sorted(_all_of(link, command.verb))
        mirrors = [find_mirror(link, topic) for topic in dict.fromkeys(names)]
        if trigger is MirrorTrigger.REVERSE:
            check_reversible(link)
        if command.validate_only:
            checked = {each.topic: _check(link, each, trigger, command.verb) for each in mirrors}
            if trigger is not MirrorTrigger.REVERSE:
                return respond(Topics(tuple(checked.values())), now)
            is_paused = command.verb == verb_of(CutKind.REVERSE_AND_PAUSE)
            return ask_source(self._region, link, checked, respond, now, is_paused=is_paused)
        if command.verb in _STOPS:
            asked = stop_asked(link, command.asked_by, command.why, now)
            timeout_ms = command.timeout_ms or PROMOTE_TIMEOUT_MS
            stop = Stop(_STOPS[command.verb], timeout_ms, asked)
            return stop_each(link, mirrors, stop, respond, now)
        asked = Asked(f"{link.name}@{now}", now, command.asked_by, command.why)
        changes = [
            (mirror, self._change(link, mirror, trigger, command.verb, asked)) for mirror in mirrors
        ]
        return change_each(link, changes, respond, now)

    def _change(
        self,
        link: ClusterLink,
        mirror: MirrorTopic,
        trigger: MirrorTrigger,
        verb: str,
        asked: Asked,
    ) -> Change:
        if verb == CANCEL:
            return partial(self._cancel, link, mirror, asked)
        return partial(self._turn, mirror, trigger, verb)

    def _cancel(
        self,
        link: ClusterLink,
        mirror: MirrorTopic,
        asked: Asked,
        answered: Answered,
        now: Instant,
    ) -> Effects:
        listed = link.stop_lists.stop_of
        return Cancelling(self._region, mirror, asked, answered, listed).begin(now)

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
            return answered(changed_meanwhile(mirror.topic, refusal) if refusal else None, at)

        reason = mirror.record.reason if target is mirror.record.state else ""
        record = replace(mirror.record, state=target, since=since, reason=reason)
        return mirror.change(record, written)


def _all_of(link: ClusterLink, verb: str) -> Iterator[str]:
    """The topics that a command means which names none."""
    for topic, mirror in link.mirrors.items():
        is_listed = verb == CANCEL and link.stop_lists.stop_of(topic) is not None
        if is_listed or mirror.record.state in (UNDER_WAY if verb == CANCEL else LIVE):
            yield topic


def _check(
    link: ClusterLink, mirror: MirrorTopic, trigger: MirrorTrigger, verb: str
) -> TopicResult:
    if verb == CANCEL:
        return result(link, mirror, why_not(mirror.record, link.stop_lists.stop_of(mirror.topic)))
    return result(link, mirror, not_allowed(mirror, trigger, verb))
