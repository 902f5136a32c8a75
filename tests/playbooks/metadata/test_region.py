"""Planes of several nodes: one decides, all have the same image, and what was answered outlives whoever answered it."""

from typing import Any

import pytest

from brokers.errors import KafkaError, Refusal
from brokers.metadata.commands.document_commands import DocumentChange, PutDocuments
from brokers.metadata.log.snapshot_pointer import POINTER_NAME
from tests.playbooks.metadata.host import Disk, contents
from tests.playbooks.metadata.region import Node, Region
from tests.quick import some

SNAPSHOTS = "metadata.log.max.record.bytes.between.snapshots"
DOWN_MS = 3_000


def put(name: str) -> PutDocuments:
    return PutDocuments((DocumentChange(kind="test", name=name, body=b"x" * 50),))


def names(node: Node) -> set[str]:
    return {name for _, name in node.plane.image.documents}


def test_a_region_that_starts_has_a_controller_soon_and_everyone_the_same_image() -> None:
    region = Region(1, nodes=5)
    assert region.run_until(lambda: region.active is not None) < 500
    region.decide(put("a"), 1)
    region.run_until(region.is_even)
    assert all(names(node) == {"a"} for node in region.nodes.values())
    known = {node.plane.controller for node in region.nodes.values()}
    assert [peer.node_id for peer in known] == [region.active.id]
    assert [node.id for node in region.nodes.values() if node.plane.is_active] == [region.active.id]


def test_only_the_active_controller_decides() -> None:
    region = Region(2)
    active = region.require_active()
    other = next(node for node in region.nodes.values() if node is not active)
    other.propose(put("a"), 1)
    refusal = other.decided[1].result
    assert isinstance(refusal, Refusal) and refusal.error is KafkaError.NOT_CONTROLLER


def test_a_decision_says_from_which_offset_on_an_image_has_it() -> None:
    region = Region(3)
    region.decide(put("a"), 1)
    active = region.active
    next_offset = active.decided[1].next_offset
    other = next(node for node in region.nodes.values() if node is not active)
    region.run_until(lambda: other.plane.image.next_offset >= next_offset)
    assert names(other) == {"a"}


@pytest.mark.parametrize("seed", range(5))
def test_news_of_what_is_committed_does_not_wait_for_anything_to_fetch(seed: int) -> None:
    """Two nodes vote with the leader and two only follow; all of them hear within a few round trips, not at the end of
    `fetch_wait_max_ms`."""
    region = Region(seed, nodes=5)
    region.require_active()
    region.run_until(region.is_even)
    for token in range(20):
        region.run(region.rng.randrange(0, 700))
        region.decide(put(f"d{token}"), token)
        reached = region.require_active().plane.committed_offset
        planes = [node.plane for node in region.nodes.values()]
        assert region.run_until(lambda: min(p.committed_offset for p in planes) >= reached) <= 50  # noqa: B023


@pytest.mark.parametrize("seed", range(5))
def test_another_takes_over_soon_and_has_everything_that_was_answered(seed: int) -> None:
    region = Region(seed, nodes=4)
    for token in range(5):
        region.decide(put(f"d{token}"), token)
    region.crash(region.active.id)
    assert region.run_until(lambda: region.active is not None) < 1_000
    region.decide(put("after"), 9)
    region.run_until(region.is_even)
    expected = {*(f"d{token}" for token in range(5)), "after"}
    assert all(names(node) == expected for node in region.nodes.values())


def test_who_waits_when_the_lead_is_lost_hears_that_nobody_knows() -> None:
    region = Region(4)
    active = region.require_active()
    region.run(1_000)
    others = [node_id for node_id in region.nodes if node_id != active.id]
    region.cut |= {(active.id, other) for other in others} | {
        (other, active.id) for other in others
    }
    active.propose(put("lost"), 1)
    region.run(200)
    assert 1 not in active.decided, "it is on no majority's disks"
    region.run(6_000)
    refusal = active.decided[1].result
    assert isinstance(refusal, Refusal) and refusal.error is KafkaError.NOT_CONTROLLER
    assert "unknown" in refusal.because and not active.plane.is_active
    region.cut.clear()
    region.decide(put("kept"), 2)
    region.run_until(region.is_even)
    assert all(names(node) == {"kept"} for node in region.nodes.values()), "it was cut off"


def test_a_controller_whose_disk_refuses_hands_over_at_once() -> None:
    region = Region(5)
    active = region.require_active()
    region.decide(put("a"), 1)
    active.failing = "no space left"
    active.propose(put("b"), 2)
    assert region.run_until(lambda: region.active not in (None, active)) < 1_000
    assert active.decided[2].result.error is KafkaError.KAFKA_STORAGE_ERROR
    region.decide(put("c"), 3)
    active.failing = None
    region.run_until(lambda: "c" in names(active))
    assert ("metadata log", "online") in [(each.what, each.to) for each in active.changes]


def test_an_orderly_stop_leaves_no_gap() -> None:
    region = Region(6)
    active = region.require_active()
    region.decide(put("a"), 1)
    region.run(1_000)
    active.take(active.plane.leave(region.now))
    others = [node for node in region.nodes.values() if node is not active]
    took = region.run_until(lambda: any(node.plane.is_active for node in others))
    assert took < 200 and not active.plane.is_active
    region.run_until(lambda: active.plane.has_left)


def test_a_node_that_was_away_for_long_is_given_a_snapshot_and_told_what_changed() -> None:
    region = Region(7, nodes=4, **{SNAPSHOTS: 1_000})
    region.decide(put("old"), 0)
    region.run_until(region.is_even)
    region.crash(4)
    for token in range(1, 60):
        region.decide(put(f"d{token}"), token)
    end = region.disks[4].end
    assert all(region.disks[node_id].start > end for node_id in (1, 2, 3))
    node = region.start(4)
    region.run_until(region.is_even)
    assert names(node) == {"old", *(f"d{token}" for token in range(1, 60))}
    assert node.disk.start > end
    again = region.nodes.pop(4)
    again.is_over = True
    assert contents(region.start(4).plane.image)["documents"] == {}
    region.run_until(region.is_even)


def damage(disk: Disk) -> None:
    """The last bytes of the newest snapshot are gone."""
    name = disk.states[POINTER_NAME].decode()
    disk.states[name] = disk.states[name][:-3]


def test_a_damaged_snapshot_of_the_leader_is_neither_kept_nor_installed() -> None:
    """Once it were named on the disk, no later life of the node would begin."""
    region = Region(7, nodes=4, **{SNAPSHOTS: 1_000})
    region.decide(put("old"), 0)
    region.run_until(region.is_even)
    region.crash(4)
    for token in range(1, 60):
        region.decide(put(f"d{token}"), token)
    damage(region.require_active().disk)
    node = region.start(4)
    region.run_until(lambda: any(each.to == "snapshot refused" for each in node.changes))
    region.run(50)
    assert POINTER_NAME not in node.disk.states and names(node) == set()
    took = region.run_until(region.is_even)  # the leader writes another one when it is due
    assert POINTER_NAME in node.disk.states
    refused = [each for each in node.changes if each.to == "snapshot refused"]
    assert len(refused) <= 2 + took // 1_000, "asked for again, and not all the time"


def test_an_idle_region_goes_on_writing_and_a_lone_one_does_not() -> None:
    region = Region(8)
    region.require_active()
    region.run(1_000)
    before = region.active.plane.committed_offset
    region.run(5_000)
    assert 8 <= region.active.plane.committed_offset - before <= 11


# --- all kinds of trouble, by seeds ---


class Trouble:
    """Commands at whichever node, crashes, cuts; every image must be the one that others had at its offset."""

    def __init__(self, seed: int) -> None:
        self.region = Region(seed, nodes=5, **{SNAPSHOTS: 1_500})
        self._rng = self.region.rng
        self._token = 0
        self._asked: dict[int, tuple[Node, str]] = {}
        self._images: dict[int, Any] = {}
        self.answered: set[str] = set()

    def brew(self, rounds: int) -> None:
        acts = [self._propose] * 6 + [self._crash, self._start, self._start, self._cut, self._heal]
        for _ in range(rounds):
            self._rng.choice(acts)()
            self.region.run(self._rng.choice((0, 3, 20, 100, 600)))
            self.compare()

    def compare(self) -> None:
        for token, (node, name) in list(self._asked.items()):
            if token in node.decided:
                del self._asked[token]
                if not isinstance(node.decided[token].result, Refusal):
                    self.answered.add(name)
        for node in self.region.nodes.values():
            image = node.plane.image
            now = contents(image)["documents"]
            assert self._images.setdefault(image.next_offset, now) == now, node.id

    def _propose(self) -> None:
        if self.region.nodes:
            self._token += 1
            node = self.region.nodes[self._rng.choice(sorted(self.region.nodes))]
            name = f"d{self._token}"
            self._asked[self._token] = (node, name)
            node.propose(put(name), self._token)

    def _crash(self) -> None:
        if self.region.nodes:
            self.region.crash(self._rng.choice(sorted(self.region.nodes)))

    def _start(self) -> None:
        down = sorted(set(self.region.disks) - set(self.region.nodes))
        if down:
            self.region.start(self._rng.choice(down))

    def _cut(self) -> None:
        one, other = self._rng.sample(sorted(self.region.disks), 2)
        self.region.cut |= (
            {(one, other)} if self._rng.random() < 0.5 else {(one, other), (other, one)}
        )

    def _heal(self) -> None:
        self.region.cut.clear()


@pytest.mark.parametrize("seed", some(range(25), quick=4))
def test_trouble_of_all_kinds_loses_no_answer_and_parts_no_images(seed: int) -> None:
    trouble = Trouble(seed)
    trouble.brew(120)
    region = trouble.region
    region.cut.clear()
    for node_id in set(region.disks) - set(region.nodes):
        region.start(node_id)
    region.run_until(lambda: region.active is not None, 10_000)
    region.run_until(region.is_even, 10_000)
    trouble.compare()
    for node in region.nodes.values():
        assert trouble.answered <= names(node)
    assert trouble.answered, "somebody was answered"
