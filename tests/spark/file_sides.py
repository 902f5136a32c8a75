"""The same log on two sides, in files of each side's own."""

import random
from pathlib import Path

from federation.audit.options import Options
from federation.audit.result import AuditResult
from tests.spark import facts, generate
from tests.spark.cases import audit
from tests.spark.plants import Stored

KEY = ("t", 0)
SIDES = {"west": "source", "east": "mirror"}


class Sides:
    """The same log on both, in segments of about eight batches, each side's own."""

    def __init__(self, folder: Path, seed: random.Random) -> None:
        self.made = generate.batches(seed, 60, seed.choice(generate.CODECS))
        self.folders = {}
        for name in SIDES:
            bases = {self.made[number].base_offset for number in range(seed.randrange(5, 9), 60, 8)}
            segments = generate.cut_in_segments(self.log(), bases)
            self.folders[name] = Path(generate.write_partition(str(folder / name), *KEY, segments))

    def log(self) -> list[Stored]:
        return generate.stored(self.made)

    def audit(self, **changed: object) -> AuditResult:
        sides = {
            side: facts.region(name, str(self.folders[name].parent)) for name, side in SIDES.items()
        }
        return audit(Options(**{**sides, "engine": "local", "master": "local[1]", **changed}))  # type: ignore[arg-type]
