"""`python -m tests.sim [--region | --linked | --restore | --reverse] --seed N [--count N] [--trace]`: runs seeds.

`--compacted` with one of these, with `--restore-latest`, `--rounds` or `--fan-in`: of compacted topics, keys and
deletion markers.

`--restore-latest` is `--restore` with mirrors that begin at "latest"; `--hold` has a source with retention, which
a link holds.

`--transition NAME --step K` runs one transition of a link, with a crash at its K-th step.
"""

import argparse
import sys
import time
import traceback
from collections.abc import Callable
from functools import partial
from typing import Final

from tests.sim.linked.fan_in import FanInRun
from tests.sim.linked.holds import HoldRun
from tests.sim.linked.restores import RestoreRun
from tests.sim.linked.retention import RetentionRun
from tests.sim.linked.returns import ReturnRun
from tests.sim.linked.reversals import ReversalRun
from tests.sim.linked.rounds import RoundsRun
from tests.sim.linked.runs import LinkedRun
from tests.sim.linked.scenario import compacting_everywhere
from tests.sim.linked.steps import Crash, Manner, Victim
from tests.sim.linked.transition_runs import TransitionRun
from tests.sim.linked.transitions import TRANSITIONS
from tests.sim.linked.unclean import UncleanRun
from tests.sim.linked.windows import WindowRun
from tests.sim.regions.compaction import compacting
from tests.sim.regions.runs import RegionRun
from tests.sim.runs import Run

MakeRun = Callable[..., RegionRun | LinkedRun | Run]
Show = Callable[[str], None] | None

RUNS: Final[dict[str, MakeRun]] = {
    "": Run,
    "--region ": RegionRun,
    "--linked ": LinkedRun,
    "--restore ": RestoreRun,
    "--restore-latest ": partial(RestoreRun, start="latest"),
    "--reverse ": ReversalRun,
    "--hold ": HoldRun,
    "--rounds ": RoundsRun,
    "--unclean ": UncleanRun,
    "--retention ": RetentionRun,
    "--fan-in ": FanInRun,
    "--windows ": WindowRun,
    "--return ": ReturnRun,
}
COMPACTED: Final = (
    "--region ",
    "--linked ",
    "--restore ",
    "--restore-latest ",
    "--reverse ",
    "--rounds ",
    "--fan-in ",
)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.sim")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1, help="run so many seeds, from --seed on")
    parser.add_argument(
        "--region",
        action="store_true",
        help="one region of several nodes; else two regions of one node each and a link between them",
    )
    parser.add_argument(
        "--linked", action="store_true", help="two regions of several nodes each, and a link"
    )
    parser.add_argument(
        "--restore", action="store_true", help="the same, with a failover and the way back"
    )
    parser.add_argument(
        "--restore-latest", action="store_true", help="the same, of mirrors that begin at latest"
    )
    parser.add_argument(
        "--reverse", action="store_true", help="the same, with reversals there and back"
    )
    parser.add_argument(
        "--hold", action="store_true", help="the same, with retention that a link holds"
    )
    parser.add_argument(
        "--rounds", action="store_true", help="the same, with both in turns, and a group"
    )
    parser.add_argument(
        "--unclean", action="store_true", help="the same, with unclean elections in the source"
    )
    parser.add_argument(
        "--retention", action="store_true", help="the same, with retention in the source, and holds"
    )
    parser.add_argument(
        "--fan-in", action="store_true", help="two regions, and a third one that mirrors both"
    )
    parser.add_argument(
        "--windows",
        action="store_true",
        help="two regions far apart, and a backlog of long records",
    )
    parser.add_argument(
        "--return", action="store_true", help="the same, with a source that is down, and comes back"
    )
    parser.add_argument(
        "--compacted", action="store_true", help="the same, of compacted topics with keyed records"
    )
    parser.add_argument("--transition", choices=TRANSITIONS, help="one transition of a link")
    parser.add_argument("--step", type=int, default=0, help="at which somebody crashes; 0: nobody")
    for name, kind in (("victim", Victim), ("manner", Manner)):
        values = [each.value for each in kind]
        parser.add_argument(f"--{name}", choices=values, default=values[0])
    parser.add_argument("--trace", action="store_true", help="print everything that happens")
    options = parser.parse_args()
    if options.compacted and not any(getattr(options, _attribute(each)) for each in COMPACTED):
        parser.error(f"--compacted goes with one of {', '.join(map(str.strip, COMPACTED))}")
    failed = 0
    for seed in range(options.seed, options.seed + options.count):
        failed += not _run(seed, *_kind(options), trace=options.trace)
    return 1 if failed else 0


def _attribute(kind: str) -> str:
    return kind.strip(" -").replace("-", "_")


def _kind(options: argparse.Namespace) -> tuple[str, MakeRun]:
    """The options that say it, and what they say."""
    if options.transition is None:
        kind = next((each for each in RUNS if each and getattr(options, _attribute(each))), "")
        if options.compacted:
            return f"{kind}--compacted ", partial(_compacted, RUNS[kind])
        return kind, RUNS[kind]
    name = options.transition
    if not options.step:
        return f"--transition {name} ", partial(TransitionRun, name)
    crash = Crash(options.step, Victim(options.victim), Manner(options.manner))
    return f"--transition {name} {crash} ", partial(TransitionRun, name, crash)


def _compacted(make: MakeRun, seed: int, show: Show) -> RegionRun | LinkedRun | Run:
    adjust = compacting if make is RegionRun else compacting_everywhere
    return make(seed=seed, show=show, adjust=adjust(seed))


def _run(seed: int, kind: str, make: MakeRun, *, trace: bool) -> bool:
    began = time.process_time()
    run = make(seed=seed, show=print if trace else None)
    try:
        outcome = run.execute()
    except Exception as error:
        print(f"seed {seed} FAILED: {error}")
        print(f"  scenario: {run.scenario.describe()}")
        print(f"  again:   python -m tests.sim {kind}--seed {seed} --trace")
        if not trace:
            traceback.print_exc(limit=-4)
        return False
    spent = time.process_time() - began
    print(
        f"seed {seed} kept {outcome.trace_hash} steps={outcome.steps} virtual={outcome.virtual_ms / 1000:.0f}s"
        f" acknowledged={outcome.acknowledged} lives={outcome.lives} cpu={spent:.2f}s"
    )
    return True


if __name__ == "__main__":
    sys.exit(main())
