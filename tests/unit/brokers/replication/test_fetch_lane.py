"""A lane goes on asking, whatever its leader answers."""

from tests.unit.brokers.replication.hosting import Node
from tests.unit.brokers.replication.test_replica_fetcher import answer


def test_an_error_that_only_a_later_release_knows_is_one_to_try_again_after() -> None:
    node = Node(1)
    node.place(2)
    answer(node, node.asks[0], error=32_000)
    assert len(node.asks) == 1
    node.wait(20)
    assert len(node.asks) == 2
