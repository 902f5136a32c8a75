"""Links of compacted topics between real nodes with quick cleaners: settings that change while a link runs, and a chain
of three regions whose nodes are killed. Audits say in the end what became of it.
"""

import random
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from linker.config_values import SYNCED_BY_DEFAULT
from tests.process.asking import until
from tests.process.commands import causeway
from tests.process.test_compacted_releases import Region
from tests.process.test_compaction import checkpoint, create, produced, read, updates

TOPIC, LINK, TIMEOUT_S, UPDATES, KEYS = "table", "link", 90, 300, 60
SMALL = {"internal_segment_bytes": 30_000, "min_cleanable_dirty_ratio": 0.01}
COMPACTION = ("min.cleanable.dirty.ratio", "min.compaction.lag.ms", "max.compaction.lag.ms")
SYNCED = ",".join((*SYNCED_BY_DEFAULT, *COMPACTION))
LONG_MS = str(10**9)

pytestmark = pytest.mark.timeout(280)


@pytest.fixture
def regions(tmp_path: Path) -> Iterator[list[Region]]:
    """West, east and north, of which those that are asked for are started."""
    with ExitStack() as stack:
        found: list[Region] = []
        for name in ("west", "east", "north"):
            found.append(Region(tmp_path / name))
            stack.callback(stopped, found[-1])
        yield found


def stopped(region: Region) -> None:
    assert region.node.stop() == 0
    assert "Traceback" not in region.node.log()


def linked(source: Region, mirror: Region) -> None:
    mirror.run(
        "link", "create", LINK, "--source-bootstrap-server", source.address,
        "--config", f"topic.config.sync.include={SYNCED}",
    )  # fmt: skip
    mirror.run("mirror", "create", TOPIC, "--link", LINK)


def wait_held(mirror: Region, end: int) -> None:
    until(lambda: mirror.held(TOPIC) == end, TIMEOUT_S, lambda: mirror.mirror(TOPIC))


def wait_cleaned(region: Region, beyond: int) -> None:
    until(
        lambda: checkpoint(region.node, f"{TOPIC}-0") > beyond,
        TIMEOUT_S,
        lambda: checkpoint(region.node, f"{TOPIC}-0"),
    )


def audited(source: Region, mirror: Region, output: Path) -> Any:
    return causeway(
        "audit", "run", "--engine", "local", "--topic", TOPIC, "--output", str(output),
        "--source-bootstrap", source.address, "--mirror-bootstrap", mirror.address,
        timeout=TIMEOUT_S,
    )  # fmt: skip


def test_settings_of_compaction_change_while_a_link_runs(
    regions: list[Region], rng: random.Random, tmp_path: Path
) -> None:
    west, east, _ = regions
    create(west.node, TOPIC, **SMALL)
    linked(west, east)
    end = 0

    def go_on(**settings: str) -> int:
        """More records under other settings -> where they began."""
        nonlocal end
        for name, value in settings.items():
            west.set(TOPIC, name.replace("_", "."), value)
        produced(west.node, TOPIC, updates(rng, UPDATES))
        end += UPDATES
        wait_held(east, end)
        return end - UPDATES

    def both_cleaned(beyond: int) -> None:
        for region in (west, east):
            wait_cleaned(region, beyond)

    go_on()
    both_cleaned(go_on(cleanup_policy="compact"))
    # Nothing is old enough any more, and then it is.
    go_on(min_compaction_lag_ms=LONG_MS)
    both_cleaned(go_on(min_compaction_lag_ms="0", max_compaction_lag_ms=LONG_MS))
    # Markers go at once, and files, too, here by the operator of each region.
    for region in (west, east):
        region.set(TOPIC, "file.delete.delay.ms", "100")
    produced(west.node, TOPIC, [(key, None) for key, _ in updates(rng, 40)])
    end += 40
    both_cleaned(go_on(delete_retention_ms="0"))
    both_cleaned(go_on(min_cleanable_dirty_ratio="0.5", max_compaction_lag_ms="1"))
    go_on(cleanup_policy="delete")
    go_on(cleanup_policy="compact,delete", retention_ms=LONG_MS)
    assert east.table(TOPIC) == west.table(TOPIC)
    described = east.mirror(TOPIC)
    assert (described["mirror_status"], described["holes"]) == ("ACTIVE", []), described
    found = audited(west, east, tmp_path / "audit")
    assert found["verdict"] == "kept", found


@pytest.mark.soak
def test_a_chain_of_a_compacted_topic_is_the_same_everywhere_after_kills(
    regions: list[Region], rng: random.Random, tmp_path: Path
) -> None:
    west, east, north = regions
    create(west.node, TOPIC, cleanup_policy="compact", **SMALL)
    produced(west.node, TOPIC, updates(rng, UPDATES))
    wait_cleaned(west, UPDATES // 2)
    linked(west, east)
    until(lambda: east.mirror(TOPIC)["mirror_status"] == "ACTIVE", TIMEOUT_S, east.node.log)
    linked(east, north)
    end = UPDATES
    for killed in (east, west, north, east):
        produced(west.node, TOPIC, updates(rng, UPDATES))
        killed.node.kill()
        killed.node.start()
        produced(west.node, TOPIC, updates(rng, UPDATES))
        end += 2 * UPDATES
        for region in regions[1:]:
            wait_held(region, end)
    for region in regions:
        wait_cleaned(region, end // 2)
    assert west.table(TOPIC) == east.table(TOPIC) == north.table(TOPIC)
    assert len(read(north.node, TOPIC)) < end // 2
    for source, mirror in ((west, east), (east, north), (west, north)):
        output = (
            tmp_path / f"{source.node.settings['cluster.id']}-{mirror.node.settings['cluster.id']}"
        )
        found = audited(source, mirror, output)
        assert found["verdict"] == "kept", found
