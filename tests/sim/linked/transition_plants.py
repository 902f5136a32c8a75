"""Bugs that transitions have to find, most without any crash: nodes that are wrong in one point each."""

from dataclasses import replace
from functools import partial
from random import Random
from typing import Any

from brokers.metadata.commands.mirror_commands import SetTopicWriter
from brokers.region import Propose
from federation.node import RegionNode
from linker.commands import SetLinkSecret
from linker.records.link_secret import new_secret
from tests.sim.linked.plants import Plant, Unheld, Unsealed
from tests.sim.linked.scenario import LinkedScenario
from tests.sim.linked.steps import Crash, Manner, SteppedNode, Victim


class SteppedUnsealed(Unsealed, SteppedNode):
    """Says that an orphan tail is sealed, and has sealed nothing."""


class SteppedUnheld(Unheld, SteppedNode):
    """As a source, says that it holds what it was asked to, and removes it."""


class ForgetsRecord(SteppedNode):
    """As a link coordinator, does not say upon which record it decided that a topic gets another writer."""

    def _compose(self, rng: Random) -> RegionNode:
        node = super()._compose(rng)
        linker = node._linker
        step = linker.step

        def forget(event: Any, now: Any) -> Any:
            return [_whatever_the_record(each) for each in step(event, now)]

        linker.step = forget  # type: ignore[method-assign]
        return node


def _whatever_the_record(effect: Any) -> Any:
    if not isinstance(effect, Propose) or not isinstance(effect.command, SetTopicWriter):
        return effect
    return replace(effect, command=replace(effect.command, expected_versions={}))


class ForgetsSecret(SteppedNode):
    """As a destination, shows a new secret, and goes on with the former one."""

    def _compose(self, rng: Random) -> RegionNode:
        node = super()._compose(rng)
        links = node._linker._administration._links
        set_secret, shown = links.set_secret, new_secret(self.world.rng("forgotten secrets"))

        def show(command: SetLinkSecret, respond: Any, now: Any) -> Any:
            if command.secret or command.validate_only:
                return set_secret(command, respond, now)
            answer = partial(_show, respond, shown)
            return set_secret(replace(command, validate_only=True), answer, now)

        links.set_secret = show  # type: ignore[method-assign]
        return node


class _NeverClosed(dict[str, Any]):
    """Links of a destination that keep their streams while they are paused."""

    def __setitem__(self, name: str, link: Any) -> None:
        sources = link._sources
        reconsider = sources.reconsider

        def keep(now: Any) -> Any:
            return sources.availability.paused() if link.config.paused else reconsider(now)

        sources.reconsider = keep
        super().__setitem__(name, link)


class CopiesWhilePaused(SteppedNode):
    """As a destination, says that its link is paused, and goes on."""

    def _compose(self, rng: Random) -> RegionNode:
        node = super()._compose(rng)
        node._linker.links = _NeverClosed()
        return node


def _show(respond: Any, secret: str, answer: Any, now: Any) -> Any:
    return respond(replace(answer, secret=secret), now)


CUT_BACK_UNSEALED_AT_ONCE = Plant(SteppedUnsealed, range(3, 4), "cut-back", LinkedScenario.alone)
DELETE_WHAT_IS_HELD = Plant(SteppedUnheld, range(3, 4), "hold-taken", LinkedScenario.alone)
FORGET_THE_RECORD = Plant(
    ForgetsRecord,
    range(3, 4),
    "reverse-and-return",
    LinkedScenario.alone,
    # Before it gives the mirror of the first reversal its writers.
    Crash(324, Victim.ACTOR, Manner.STILL),
)
FORGET_THE_SECRET = Plant(ForgetsSecret, range(17, 18), "secret", LinkedScenario.alone)
COPY_WHILE_PAUSED = Plant(CopiesWhilePaused, range(3, 4), "link-paused", LinkedScenario.alone)
