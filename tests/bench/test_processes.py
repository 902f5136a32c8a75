"""What a benchmark reads of the machine."""

import time

from tests.bench import processes

WORKED_S = 0.2


def test_the_machine_is_busy_while_this_process_works() -> None:
    began, before = time.process_time(), processes.busy_s()
    while time.process_time() - began < WORKED_S:
        pass
    assert processes.busy_s() - before >= WORKED_S / 2  # it is counted in ticks
