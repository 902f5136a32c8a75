"""A disk that takes no more: the partition goes offline and says why, nothing is lost, and it comes back.

The kernel's limit on file sizes plays the full disk: it refuses real writes of a real process, and can be lifted while
that runs, without being root.
"""

import resource

from tests.process.ledger import Ledger, check, create_topic, read_all
from tests.process.nodes import BrokerProcess

LIMIT = 200_000


def _limit(node: BrokerProcess, size: int) -> None:
    hard = resource.prlimit(node.pid, resource.RLIMIT_FSIZE)[1]
    resource.prlimit(node.pid, resource.RLIMIT_FSIZE, (size, hard))


def test_a_full_disk_takes_a_partition_offline_and_it_comes_back(node: BrokerProcess) -> None:
    create_topic(node.address, "orders", 1)
    _limit(node, LIMIT)
    ledger = Ledger(node.address, "orders", 1)
    ledger.start()
    log = node.data / "orders-0" / ("0" * 20 + ".log")
    while "partition orders-0: offline" not in node.log():
        ledger.wait_for(len(ledger.acknowledged))
    assert log.stat().st_size <= LIMIT
    acknowledged = len(ledger.acknowledged)
    _limit(node, resource.RLIM_INFINITY)
    ledger.wait_for(acknowledged + 500)
    ledger.close()
    assert "partition orders-0: online" in node.log()
    check(ledger, read_all(node.address, "orders", 1))
