"""Mirrors of the source's topics that `auto.create.mirror.topics.filters` admit, created by the link coordinator.

A topic that exists here is left alone, whatever it is: so a mirror that was stopped is not made again (KIP-1279 has the
same). Where it is no mirror of this link the operator is told, for the source's topic is not mirrored then. A topic
whose records begin in this region is left out: in the other direction the same filters may admit it.
"""

from collections.abc import Callable, Container
from functools import partial
from typing import Final, NamedTuple, TypeAlias

from brokers.effects import Changed
from brokers.ids import Instant
from linker.control.link_settings import LinkSettings
from linker.errors import LinkRefusal, TaskError
from linker.filters import Filter, admits
from linker.frames import TopicState, Welcome
from linker.protocol_versions import SEVERAL_BROKERS_FROM
from linker.region_client import Effects, RegionClient

RETRY_MS: Final = 30_000  # after a refusal, which an operator may have to mend

Created: TypeAlias = Callable[[LinkRefusal | None, Instant], Effects]
# Creates the mirror of a source topic of the link with this name, as an operator's command does.
CreateMirrorOf: TypeAlias = Callable[[str, TopicState, Created, Instant], Effects]

_ERRORS: Final = {
    "TOPIC_ALREADY_EXISTS": TaskError.TOPIC_EXISTS_ERROR,
    "INVALID_TOPIC_EXCEPTION": TaskError.INVALID_TOPIC,
}


class RefusedMirror(NamedTuple):
    """Why a mirror could not be created."""

    error: TaskError
    because: str


class AutoMirrors:
    """Of one link. `refused`: the mirrors that could not be created."""

    def __init__(
        self,
        region: RegionClient,
        link: LinkSettings,
        mirrors: Container[str],
        create: CreateMirrorOf,
        deliver: Callable[[TopicState, Instant], Effects],
    ) -> None:
        """`mirrors`: the link's, with those that were stopped. `deliver` gives a new mirror the state of its source,
        which came before it."""
        self.refused: dict[str, RefusedMirror] = {}
        self.has_matched = False  # whether the filters admit a topic of the source
        self._region = region
        self._link = link
        self._mirrors = mirrors
        self._create = create
        self._deliver = deliver
        self._creating: dict[str, TopicState] = {}  # the newest
        self._states: dict[str, TopicState] = {}  # of those that were refused
        self._timer: int | None = None

    @property
    def filters(self) -> tuple[Filter, ...]:
        """What the source is asked for."""
        return self._link.config.topic_filters if self._region.is_coordinator else ()

    def forget_all(self) -> None:
        """The filters, or the coordinator, have changed."""
        self.refused.clear()
        self._states.clear()
        self.has_matched = False

    def on_open(self, welcome: Welcome) -> None:
        """The first stream is open."""
        if welcome.version < SEVERAL_BROKERS_FROM and self.filters:
            because = "the source's release does not know filters of topics: upgrade it"
            self.refused["*"] = RefusedMirror(TaskError.POLICY_VIOLATION_ERROR, because)
        else:
            self.refused.pop("*", None)

    def on_source_state(self, state: TopicState, now: Instant) -> Effects:
        """The source has sent a topic's state."""
        topic = self._link.config.prefix + state.topic
        self.has_matched |= bool(state.topic_id) and admits(self.filters, state.topic)
        if not self._is_wanted(topic, state):
            self.refused.pop(topic, None)
            self._states.pop(topic, None)
            return []
        is_new = topic not in self._creating
        self._creating[topic] = state
        if not is_new:
            return []
        return self._create(self._link.name, state, partial(self._on_created, topic), now)

    def _is_wanted(self, topic: str, state: TopicState) -> bool:
        view = self._region.view
        is_admitted = bool(state.topic_id) and admits(self.filters, state.topic)
        is_there = topic in view.image.topics_by_name and topic in self._mirrors
        return is_admitted and not is_there and view.cluster_id not in state.origins

    def _on_created(self, topic: str, refusal: LinkRefusal | None, now: Instant) -> Effects:
        state = self._creating.pop(topic)
        effects = self._deliver(state, now)
        if refusal is None or not self._is_wanted(topic, state):
            self.refused.pop(topic, None)
            return effects
        error = _ERRORS.get(refusal.code, TaskError.POLICY_VIOLATION_ERROR)
        known = self.refused.get(topic)
        self.refused[topic] = RefusedMirror(error, refusal.because)
        self._states[topic] = state
        if self._timer is None:
            self._timer = self._region.timers.set(now + RETRY_MS, self._retry)
        if known == self.refused[topic]:
            return effects
        what = f"link {self._link.name} mirror {topic}"
        return [*effects, Changed(what, "not created", refusal.because)]

    def _retry(self, now: Instant) -> Effects:
        self._timer = None
        states, self._states = self._states, {}
        return [effect for one in states.values() for effect in self.on_source_state(one, now)]
