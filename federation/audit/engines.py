"""Units through the journal and an engine: what was compared before is not read again."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from federation.audit import plan, pool
from federation.audit.comparison.unit import Unit, UnitOutcome
from federation.audit.journal import Journal
from federation.audit.result import CannotRun
from federation.audit.segments.checkpoints import Key

NO_JOURNAL = Journal()


class AuditProgress(NamedTuple):
    """Callbacks: `planned` gets the number of bytes to read, `seen` the bytes compared since its last call. The journal
    has what an earlier run compared, and gets what this one does."""

    planned: Callable[[int], None]
    seen: Callable[[int], None]
    journal: Journal = NO_JOURNAL


class Engine(Protocol):
    """Runs units, in whatever order, on whatever cores; `done` is called with some outcomes at a time."""

    def __call__(
        self,
        units: Sequence[Unit],
        *,
        master: str,
        payload: bool,
        done: Callable[[list[UnitOutcome]], None],
    ) -> None: ...


def compared(
    units: Sequence[Unit], watch: AuditProgress, *, engine: str, master: str, payload: bool
) -> dict[Key, list[UnitOutcome]]:
    """Outcomes by partition, in offset order; `engine` is "spark" or "local". Raises CannotRun."""
    watch.planned(sum(unit.size for unit in units))
    by_range = {unit[:4]: unit for unit in units}
    found: list[UnitOutcome] = []

    def done(some: list[UnitOutcome]) -> None:
        found.extend(some)
        watch.seen(sum(by_range[one[:4]].size for one in some))

    def journaled(some: list[UnitOutcome]) -> None:
        watch.journal.add((by_range[one[:4]], one) for one in some)
        done(some)

    done([known for unit in units if (known := watch.journal.known(unit)) is not None])
    read = {one[:4] for one in found}
    left = [unit for unit in units if unit[:4] not in read]
    try:
        run = _engine(engine)
        run(left, master=master, payload=payload, done=journaled)
    except plan.EngineFailed as error:
        raise CannotRun(str(error)) from error
    outcomes: dict[Key, list[UnitOutcome]] = defaultdict(list)
    for outcome in sorted(found, key=lambda outcome: outcome[:4]):
        outcomes[outcome.topic, outcome.partition].append(outcome)
    return outcomes


def _engine(name: str) -> Engine:
    if name == "local":
        return pool.run
    from federation.audit import jobs  # pyspark takes its time to import

    return jobs.run
