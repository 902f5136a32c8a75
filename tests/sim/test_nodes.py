"""A life of a simulated node ends with everything that it had begun."""

from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest

from brokers.config.broker_config import from_settings
from tests.sim.disks import Disk, Killed
from tests.sim.network import Network
from tests.sim.nodes import Node
from tests.sim.scenario import draw
from tests.sim.world import World


def _die_midway(node: Node) -> None:
    node.disk.fuse = 0
    with pytest.raises(Killed):
        node.disk.append("any", [b"x"])


ENDS: dict[str, Callable[[Node], None]] = {
    "kill": Node.kill,
    "power cut": Node.cut_power,
    "orderly stop": Node.stop,
    "midway": _die_midway,
}


@pytest.mark.parametrize("end", ENDS)
def test_a_file_that_one_life_was_writing_is_the_next_ones_alone(end: str) -> None:
    """Python ends the generators of a life that is over when it likes, and they give up their files."""
    world, scenario = World(1), replace(draw(Random(0)), skew_ms=0)
    config = from_settings({"node.id": 1, "log.dirs": "data", "listeners": "PLAINTEXT://a:9092"})
    disk = Disk(lambda path, data: None)
    node = Node(world, Network(world, scenario), scenario, "a", config, disk)
    assert node.start()
    begun = disk.writer("log.cleaned")
    ENDS[end](node)
    again = disk.writer("log.cleaned")
    again.write(b"one ")
    begun.give_up()
    again.write(b"two")
    again.finish()
    assert bytes(disk.read("log.cleaned", 0, 20)) == b"one two"
