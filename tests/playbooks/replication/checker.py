"""Judges by what nodes hold and clients were told. Committed is what lies below any node's high watermark."""

from brokers.records.batch import iter_headers
from tests.playbooks.replication.node import Node


class Broken(AssertionError):
    """A promise was not kept."""


class Checker:
    """Looks at a node after each of its steps."""

    def __init__(self) -> None:
        self.acknowledged: dict[int, bytes] = {}  # offset -> value
        self._committed: list[bytes] = []  # by offset: each batch holds one record
        self._seen: dict[
            int, int
        ] = {}  # leader epoch -> the largest high watermark a client was told
        self._looked: dict[tuple[int, int], int] = {}

    def look(self, node: Node) -> None:
        replica = node.replica
        if replica is None or replica.log is None:
            return
        log = replica.log
        bounds = (
            log.log_start_offset,
            replica.high_watermark,
            log.written_offset,
            log.log_end_offset,
        )
        if list(bounds) != sorted(bounds):
            raise Broken(f"node {node.id}: bounds {bounds}")
        self._compare(node, replica.high_watermark)
        if not replica.follows and replica.is_settled:
            self._tell_client(replica.leader_epoch, replica.high_watermark)

    def _compare(self, node: Node, high_watermark: int) -> None:
        key = (node.id, node.life)
        if self._looked.get(key) == high_watermark:
            return
        since = min(self._looked.get(key, 0), high_watermark)
        batches = batches_of(node)
        for offset in range(since, high_watermark):
            if offset >= len(self._committed):
                self._committed.append(batches[offset])
            elif self._committed[offset] != batches[offset]:
                raise Broken(f"node {node.id} has another batch at {offset}, which was committed")
        self._looked[key] = high_watermark

    def _tell_client(self, leader_epoch: int, high_watermark: int) -> None:
        """A client knows of the latest leader epoch it met, and older leaders turn it away (KIP-320)."""
        for earlier, told in self._seen.items():
            if earlier <= leader_epoch and told > high_watermark:
                raise Broken(f"high watermark {told} and then {high_watermark}")
        self._seen[leader_epoch] = max(high_watermark, self._seen.get(leader_epoch, 0))

    def converged(self, nodes: list[Node]) -> None:
        """After the storm: all logs are one, all of it is committed, and nothing acknowledged is missing."""
        logs = [batches_of(node) for node in nodes]
        for node, log in zip(nodes, logs, strict=True):
            replica = node.replica
            if replica is None or replica.log is None:
                raise Broken(f"node {node.id} is not there")
            if log != logs[0]:
                raise Broken(f"logs differ: {[len(each) for each in logs]}")
            if replica.high_watermark != len(log):
                raise Broken(f"node {node.id}: {replica.high_watermark} of {len(log)} committed")
        for offset, value in self.acknowledged.items():
            if offset >= len(logs[0]) or value not in logs[0][offset]:
                raise Broken(f"{value!r} was acknowledged at {offset} and is lost")


def batches_of(node: Node) -> list[bytes]:
    """The log as its files are, by offset."""
    data = b"".join(
        bytes(node.disk.read(f"orders-0/{name}", 0, 1 << 30))
        for name in node.disk.list("orders-0")
        if name.endswith(".log")
    )
    view = memoryview(data)
    return [bytes(view[at : at + header.length]) for at, header in iter_headers(view)]
