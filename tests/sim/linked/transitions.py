"""Every transition of a link and its mirror, by name: what an operator does, and what must be true afterwards."""

from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass, replace
from typing import Final

from linker.commands import (
    ChangeMirrors,
    CreateLink,
    CreateMirror,
    DeleteLink,
    DescribeLink,
    RestoreMirrors,
)
from linker.errors import LinkRefusal
from linker.records.decision import all_decisions
from linker.records.mirror_state import MirrorState
from linker.records.stop_list import stop_lists
from tests.sim.linked.cancellations import LONG_MS
from tests.sim.linked.cut_backs import may_lose
from tests.sim.linked.destination_changes import begin_and_be_known, forget, not_known, reopen
from tests.sim.linked.discards import DiscardingOperator
from tests.sim.linked.hold_changes import of_short_logs
from tests.sim.linked.link_changes import OTHERS, Logs
from tests.sim.linked.operators import BACK, CONFIGS, LinkOperator
from tests.sim.linked.runs import Adjust
from tests.sim.linked.scenario import LinkedScenario
from tests.sim.regions.admins import Admin
from tests.sim.regions.cluster import TOPIC
from tests.sim.world import Promise


class TransitionOperator(DiscardingOperator):
    """One person who sees both regions."""

    is_bidirectional = False

    async def _link(self, configs: dict[str, str], fetchers: str) -> None:
        if self.is_bidirectional:
            await super()._link(configs, fetchers)
        else:
            await LinkOperator._link(self, configs, fetchers)

    async def nothing(self) -> None:
        """No preparation."""

    async def pause_and_resume(self) -> None:
        """Between the two, what the mirror lacks becomes known exactly, whoever leads by then."""
        await self._change_mirror("pause", MirrorState.PAUSED)
        while not self._lag_is_exact:
            await self.describe()
        await self._change_mirror("resume", MirrorState.ACTIVE)

    @property
    def _lag_is_exact(self) -> bool:
        lags = self.mirror.lags if self.mirror is not None else ()
        return all(one.lag >= 0 and not one.is_lower_bound for one in lags)

    async def promote(self) -> None:
        await self.end("promote")

    async def failover(self) -> None:
        await self.end("failover")

    async def begin_with_others(self) -> None:
        """The link has several mirrors."""
        await self.begin()
        admin = Admin(self._ends.source)
        for topic in OTHERS:
            await admin.make(topic, 1)
            create = CreateMirror(link=self.link, mirror_topic=topic)
            await self._until(create, "TOPIC_ALREADY_EXISTS")

    async def fail_over_all(self) -> None:
        """With one command."""
        await self._stop_all("failover")

    async def promote_all(self) -> None:
        await self._stop_all("promote")

    async def _stop_all(self, verb: str) -> None:
        """Who has no answer asks again."""
        here = self._ends.destination
        topics = [TOPIC, *OTHERS]
        while topics:
            await self._ask(ChangeMirrors(verb=verb, link=self.link, timeout_ms=LONG_MS))
            records = [(each, await self.record_of(here, each)) for each in topics]
            topics = [
                each for each, it in records if it is None or it.state is not MirrorState.STOPPED
            ]
        while await self.describe() is not MirrorState.STOPPED:
            pass  # the verdict looks at the cut, and whoever was asked is gone
        here.is_mirror = False

    def not_one_decision(self, _: Logs) -> Iterator[str]:
        """Whoever was asked, and how often: what was written down first is what is done."""
        image = self._ends.destination.newest
        decisions = list(all_decisions(image))
        if sorted(one.topic for one in decisions) != sorted((TOPIC, *OTHERS)):
            yield f"not each topic was stopped once: {decisions}"
        if len({one.asked for one in decisions}) != 1:
            yield f"the topics were not stopped by one decision: {decisions}"
        for one in stop_lists(image):
            yield f"topics are to be stopped still: {one}"

    async def fail_over_and_go_apart(self) -> None:
        """Both regions are written to for a while."""
        await self.begin()
        await self.failover()
        await self._world.sleep(1_500)

    async def restore_and_take_back(self) -> None:
        """The way back is begun, and given up by a failover; what was removed by then is sealed."""
        source = self._ends.source
        source.statements.rewrites = True
        configs = {**CONFIGS, "source.fencing.enable": "false"}  # both are written to at the end
        configs["bootstrap.servers"] = self._ends.destination.bootstrap_servers
        await self._until(CreateLink(name=BACK, configs=configs), "CLUSTER_LINK_EXISTS", source)
        while True:
            if await self.record_of(source) is None:
                await self._ask(RestoreMirrors(BACK, (TOPIC,)), source)
            await self._ask(
                ChangeMirrors(verb="failover", link=BACK, topics=(TOPIC,), timeout_ms=5_000), source
            )
            record = await self.record_of(source)
            if record is not None and record.state is MirrorState.STOPPED:
                return

    async def reverse_and_start(self) -> None:
        await self.swap(*self._ends.regions, "reverse-and-start")

    async def reverse_and_return(self) -> None:
        """Twice the regions change places: the mirror is one of the same link again."""
        source, destination = self._ends.regions
        await self.swap(source, destination)
        await self.swap(destination, source)

    async def reverse_and_pause(self) -> None:
        await self.swap(*self._ends.regions, "reverse-and-pause")

    async def delete(self) -> None:
        """With its mirror; then the source's half."""
        while not await self._is_gone():
            await self._ask(DeleteLink(name=self.link, force=True))
        while await self.describe() is None:
            pass  # whoever was asked is gone
        self._ends.destination.is_mirror = False
        source = self._ends.source
        while self._ends.source_dials and not isinstance(
            await self._ask(DescribeLink(self.link), source), LinkRefusal
        ):
            await self._ask(DeleteLink(name=self.link, force=True), source)

    async def _is_gone(self) -> bool:
        answer = await self._ask(DescribeLink(self.link))
        return isinstance(answer, LinkRefusal) and answer.code == "CLUSTER_LINK_NOT_FOUND"


Act = Callable[[TransitionOperator], Coroutine[Promise, None, None]]
Check = Callable[[TransitionOperator, Logs], Iterator[str]]


@dataclass(frozen=True)
class Transition:
    """`mirror` is the region that mirrors the other one at the end; empty if none does.

    `prove` is done when everything is well again, `check` yields what is wrong with what the operator did, and with the
    logs.
    """

    prepare: Act
    perform: Act
    mirror: str
    is_bidirectional: bool = False
    removes: bool = False  # something from the first region's log
    is_compacted: bool = False  # the topic is
    is_unfenced: bool = False  # the first region's topic, which was taken over
    adjust: Adjust = lambda scenario: scenario
    prove: Act | None = None
    check: Check = lambda operator, logs: iter(())


def dialed_by_source(scenario: LinkedScenario) -> LinkedScenario:
    return replace(scenario, source_dials=True)


def in_parts(scenario: LinkedScenario) -> LinkedScenario:
    """What is done to several topics takes a proposal for each."""
    return replace(scenario, together=1)


_Op = TransitionOperator
TRANSITIONS: Final = {
    "create": Transition(_Op.nothing, _Op.begin, "east"),
    "pause": Transition(_Op.begin, _Op.pause_and_resume, "east"),
    "promote": Transition(_Op.begin, _Op.promote, ""),
    "failover": Transition(_Op.begin, _Op.failover, ""),
    "restore": Transition(_Op.fail_over_and_go_apart, _Op.restore, "west", removes=True),
    "reverse-and-start": Transition(
        _Op.begin, _Op.reverse_and_start, "west", is_bidirectional=True
    ),
    "reverse-and-pause": Transition(
        _Op.begin, _Op.reverse_and_pause, "west", is_bidirectional=True
    ),
    "delete": Transition(_Op.begin, _Op.delete, ""),
    "restore-given-up": Transition(
        _Op.fail_over_and_go_apart, _Op.restore_and_take_back, "", removes=True
    ),
    "reverse-cancelled": Transition(_Op.begin, _Op.cancel_reversal, "east", is_bidirectional=True),
    "promote-cancelled": Transition(_Op.begin, _Op.cancel_promotion, "east"),
    "failover-cancelled": Transition(_Op.begin, _Op.cancel_failover, "east"),
    "failover-of-all": Transition(
        _Op.begin_with_others, _Op.fail_over_all, "", check=_Op.not_one_decision
    ),
    "failover-compacted": Transition(_Op.begin, _Op.failover, "", is_compacted=True),
    "restore-compacted": Transition(
        _Op.fail_over_and_go_apart, _Op.restore, "west", removes=True, is_compacted=True
    ),
    "cut-back": Transition(
        _Op.lose_by_policy,
        _Op.cut_back_by_policy,
        "east",
        removes=True,
        adjust=may_lose,
        check=_Op.not_cut_back,
    ),
    "cut-back-by-hand": Transition(
        _Op.lose_by_hand,
        _Op.cut_back_by_hand,
        "east",
        removes=True,
        adjust=may_lose,
        check=_Op.not_cut_back,
    ),
    "unfence": Transition(
        _Op.fail_over_and_fence, _Op.unfence, "", is_unfenced=True, check=_Op.fenced_again
    ),
    "secret": Transition(
        _Op.begin,
        _Op.renew_secret,
        "east",
        adjust=dialed_by_source,
        prove=_Op.prove_secret,
        check=_Op.wrong_secrets,
    ),
    "link-paused": Transition(_Op.begin, _Op.pause_link, "east"),
    "others-admitted": Transition(
        _Op.begin_beside_others,
        _Op.admit_others,
        "east",
        prove=_Op.wait_for_others,
        check=_Op.unlike_others,
    ),
    "made-anew": Transition(_Op.fail_over_for_a_look, _Op.make_anew, "east"),
    "hold-taken": Transition(
        _Op.begin_with_retention,
        _Op.take_hold,
        "east",
        adjust=of_short_logs,
        prove=_Op.wait_for_retention,
        check=_Op.skipped,
    ),
    "hold-released": Transition(
        _Op.begin_held, _Op.release_hold, "east", adjust=of_short_logs, check=_Op.still_held
    ),
    "hold-dropped": Transition(
        _Op.begin_held, _Op.drop_hold, "east", adjust=of_short_logs, check=_Op.held_again
    ),
    "replay": Transition(
        _Op.restore_with_tails, _Op.replay_tails, "west", removes=True, check=_Op.not_once
    ),
    "reverse-taken-back": Transition(_Op.begin, _Op.take_back, "east", is_bidirectional=True),
    "reverse-failed-over": Transition(
        _Op.begin, _Op.take_over, "west", is_bidirectional=True, removes=True
    ),
    "source-half-remade": Transition(
        _Op.begin,
        _Op.remake_source_half,
        "east",
        adjust=dialed_by_source,
        prove=_Op.prove_secret,
        check=_Op.wrong_secrets,
    ),
    "hole-accepted": Transition(
        _Op.begin_behind_retention,
        _Op.accept_holes,
        "east",
        adjust=of_short_logs,
        check=_Op.not_accepted_once,
    ),
    "orphans-discarded": Transition(
        _Op.restore_with_tails, _Op.discard_tail, "west", removes=True, check=_Op.not_discarded
    ),
    "reverse-and-return": Transition(
        _Op.begin, _Op.reverse_and_return, "east", is_bidirectional=True
    ),
    "destination-forgotten": Transition(
        begin_and_be_known, forget, "east", prove=reopen, check=not_known
    ),
    "secret-of-both": Transition(
        _Op.begin,
        _Op.renew_secret,
        "east",
        is_bidirectional=True,
        adjust=dialed_by_source,
        prove=_Op.prove_secret,
        check=_Op.wrong_secrets,
    ),
    "failover-in-parts": Transition(
        _Op.begin_with_others,
        _Op.fail_over_all,
        "",
        adjust=in_parts,
        check=_Op.not_one_decision,
    ),
    "promote-in-parts": Transition(
        _Op.begin_with_others,
        _Op.promote_all,
        "",
        adjust=in_parts,
        check=_Op.not_one_decision,
    ),
}
