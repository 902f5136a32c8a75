"""Observers of a partition, as `region partitions` shows them."""

import json

from tests.unit.federation.commands.broker_double import broker_double
from tests.unit.federation.commands.region.test_view import NEW


def test_partitions_say_which_replicas_observe() -> None:
    with broker_double(NEW) as broker:
        found = json.loads(broker.run("region", "partitions", "--json").stdout)["partitions"]
        shown = broker.run("region", "partitions").output
    (seen,) = (each for each in found if each["topic"] == "seen")
    assert (seen["replicas"], seen["observers"]) == ([1, 2], [2])
    assert {tuple(each["observers"]) for each in found if each["topic"] != "seen"} == {()}
    lines = [[cell.strip() for cell in line.split("│")] for line in shown.splitlines()]
    (row,) = (line for line in lines if "seen" in line)
    assert row[5:9] == ["1,2", "1", "2", ""], "replicas, in sync, observers, eligible leaders"
