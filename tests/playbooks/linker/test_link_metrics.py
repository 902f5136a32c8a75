"""What `/metrics` says of links: Confluent's names for lag and counts, ours for times, holes and orphans."""

from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from federation.shell.link_metrics import LinkMetrics
from federation.shell.orphan_files import OrphanFiles
from linker.commands import AlterLinkConfigs, ChangeMirrors, CreateMirror
from linker.records.mirror_state import MirrorState
from tests.playbooks.linker import clients
from tests.playbooks.linker.test_bidirectional import with_another_secret
from tests.playbooks.linker.world import Host, World, caught_up, linked

MAX_LAG = "kafka_server_link_clusterlinkfetchermanager_maxlag"
LAG = "causeway_mirror_lag_records"
Samples = dict[str, dict[tuple[tuple[str, str], ...], float]]


def scraped(host: Host, log_dir: Path) -> Samples:
    """By name, then by labels."""
    text = "".join(LinkMetrics(host.linker, OrphanFiles([str(log_dir)])).text(host.now))
    found: Samples = {}
    for metric in text_string_to_metric_families(text):
        for sample in metric.samples:
            labels = tuple(sorted(sample.labels.items()))
            found.setdefault(sample.name, {})[labels] = sample.value
    return found


def mirrored() -> World:
    world = World().start()
    clients.create_topic(world.source, "orders", 2)
    clients.send(world.source, "orders", 0, b"a", b"b")
    linked(world, mirror_start_offset_spec="latest")
    world.run(200)
    clients.send(world.source, "orders", 0, b"c")
    world.run_until(lambda: caught_up(world))
    return world


def link_states(found: Samples) -> dict[str, float]:
    counts = found["kafka_server_cluster_link_metrics_link_count"]
    return {dict(labels)["state"]: value for labels, value in counts.items()}


def test_lag_is_told_in_records_and_time_and_holes_by_offsets(tmp_path: Path) -> None:
    world = mirrored()
    world.mute = True
    clients.send(world.source, "orders", 0, b"d", b"e")
    found = scraped(world.destination, tmp_path)
    place = (("link_name", "west-east"), ("partition", "0"), ("topic", "orders"))
    assert found["causeway_mirror_lag_records"][place] == 0, "nothing was heard of them yet"
    before = found["causeway_mirror_lag_milliseconds"][place]
    world.run(700)
    after = scraped(world.destination, tmp_path)["causeway_mirror_lag_milliseconds"][place]
    assert after == before + 700
    topic = (("link_name", "west-east"), ("topic", "orders"))
    assert found["causeway_mirror_skipped_offsets"][topic] == 2
    assert found["causeway_mirror_generation"][topic] == 1
    assert link_states(found) == {"active": 1}


def test_each_name_of_a_lag_has_the_number_of_records_bytes_and_milliseconds(
    tmp_path: Path,
) -> None:
    world = mirrored()
    pause = ChangeMirrors(verb="pause", link="west-east", topics=("orders",))
    world.destination.ask(pause)
    world.run(100)
    before = len(world.source.log("orders", 0))
    for _ in range(3):
        clients.send(world.source, "orders", 0, b"d")
    clients.send(world.source, "orders", 1, b"e")
    world.run(60_000)
    found = scraped(world.destination, tmp_path)

    def of_first(name: str) -> float:
        return found[name][("link_name", "west-east"), ("partition", "0"), ("topic", "orders")]

    (most,) = found[MAX_LAG].items()
    assert most == ((("clientId", "ClusterLink"), ("link_name", "west-east")), 3)
    size = len(world.source.log("orders", 0)) - before
    for name in ("causeway_mirror_lag", "causeway_mirror_origin_lag"):
        assert of_first(f"{name}_records") == 3
        assert of_first(f"{name}_bytes") == size > 0
        assert of_first(f"{name}_milliseconds") >= 60_000
        assert of_first(f"{name}_is_lower_bound") == 0
    assert sorted(found["causeway_mirror_lag_records"].values()) == [1, 3]
    world.mute = True
    world.reachable = False
    world.cut()
    world.run(1_000)
    found = scraped(world.destination, tmp_path)
    for name in ("causeway_mirror_lag", "causeway_mirror_origin_lag"):
        assert of_first(f"{name}_is_lower_bound") == 1
    assert of_first("causeway_mirror_lag_records") == 3


def test_a_partition_of_which_nothing_is_known_does_not_make_the_largest_lag_0(
    tmp_path: Path,
) -> None:
    """A mirror that has failed is not copied after a restart, so nothing is heard of its source."""
    world = mirrored()
    clients.create_topic(world.source, "gone")
    world.destination.ask(CreateMirror(link="west-east", mirror_topic="gone"))
    world.run_until(lambda: caught_up(world, "gone"))
    clients.delete_topic(world.source, "gone")
    failed = MirrorState.FAILED
    world.run_until(lambda: world.destination.mirror("gone").shown is failed)
    world.destination.stop()
    world.destination.start()
    world.run(3_000)
    found = scraped(world.destination, tmp_path)
    lags = {dict(labels)["topic"]: lag for labels, lag in found[LAG].items()}
    assert lags == {"orders": 0}
    assert MAX_LAG not in found, "it said 0"
    world.destination.ask(ChangeMirrors(verb="pause", link="west-east", topics=("orders",)))
    clients.send(world.source, "orders", 0, b"d", b"e")
    world.run(3_000)
    (most,) = scraped(world.destination, tmp_path)[MAX_LAG].values()
    assert most == 2, "at least"


def test_a_mirror_that_was_stopped_is_behind_nobody(tmp_path: Path) -> None:
    """Its lag in milliseconds grew for as long as the process lived."""
    world = mirrored()
    world.destination.ask(ChangeMirrors(verb="failover", link="west-east", topics=("orders",)))
    world.run(5_000)
    found = scraped(world.destination, tmp_path)
    assert [name for name in found if "lag" in name] == []


def test_states_of_links_and_mirrors_are_counted(tmp_path: Path) -> None:
    world = mirrored()
    paused = AlterLinkConfigs(name="west-east", sets={"cluster.link.paused": "true"}, deletes=())
    world.destination.ask(paused)
    found = scraped(world.destination, tmp_path)
    assert link_states(found) == {"paused": 1}
    name = "kafka_server_cluster_link_metrics_mirror_topic_count"
    assert found[name] == {(("link_name", "west-east"), ("state", "link_paused")): 1}
    world.destination.ask(ChangeMirrors(verb="failover", link="west-east", topics=("orders",)))
    found = scraped(world.destination, tmp_path)
    assert found[name] == {(("link_name", "west-east"), ("state", "stopped")): 1}
    (generation,) = found["causeway_mirror_generation"].values()
    assert generation == 2


def test_topics_that_another_region_has_taken_over_are_counted(tmp_path: Path) -> None:
    world = mirrored()
    name = "causeway_taken_over_topics"
    assert name not in scraped(world.source, tmp_path)
    world.destination.ask(ChangeMirrors(verb="failover", link="west-east", topics=("orders",)))
    world.run(200)
    assert scraped(world.source, tmp_path)[name] == {(("taken_over_by", "cluster-east"),): 1}
    assert name not in scraped(world.destination, tmp_path)


def test_the_orphan_store_of_the_broker_is_measured(tmp_path: Path) -> None:
    folder = tmp_path / "orphans" / "orders-0" / "5-9.e0"
    folder.mkdir(parents=True)
    (folder / "00000000000000000005.log").write_bytes(b"x" * 70)
    (folder / "manifest.json").write_bytes(b"{}")
    found = scraped(mirrored().source, tmp_path)
    assert found["causeway_orphan_tails"] == {(): 1}
    assert found["causeway_orphan_bytes"] == {(): 72}


def test_an_orphan_store_that_cannot_be_read_is_not_empty(tmp_path: Path) -> None:
    """Its log directory is not there, as of a disk that is not mounted."""
    found = scraped(mirrored().source, tmp_path / "none")
    assert "causeway_orphan_tails" not in found and "causeway_orphan_bytes" not in found


def test_the_lag_of_a_leader_that_never_reached_its_source_grows_from_when_it_began_to_lead(
    tmp_path: Path,
) -> None:
    """It was in no time series: nobody knows how many records there are."""
    world = mirrored()
    world.reachable = False
    world.destination.stop()
    world.destination.start()
    world.run(1_000)
    place = (("link_name", "west-east"), ("partition", "0"), ("topic", "orders"))
    before = scraped(world.destination, tmp_path)["causeway_mirror_lag_milliseconds"][place]
    assert 0 < before <= 1_000
    world.run(5_000)
    found = scraped(world.destination, tmp_path)
    assert found["causeway_mirror_lag_milliseconds"][place] == before + 5_000
    told = [name for name in found if name == MAX_LAG or "_lag_" in name]
    assert told == ["causeway_mirror_lag_milliseconds"], "maxlag said 0"
    (said, _) = world.destination.mirror("orders").lags
    assert said.state.startswith("SOURCE_UNAVAILABLE: "), said


def test_the_state_of_a_link_is_that_of_its_worse_half(tmp_path: Path) -> None:
    """The source dials for both directions, with a secret that is not the destination's any more."""
    world, _ = with_another_secret()
    assert link_states(scraped(world.source, tmp_path)) == {"failed": 1}
