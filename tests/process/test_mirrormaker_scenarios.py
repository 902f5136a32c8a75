"""What users of MirrorMaker 2 rely on, as its published integration tests show it, with links in its place.

Each test names the scenario there. Two regions of one node stand for the clusters. A link with `cluster.link.prefix` is
a flow under the DefaultReplicationPolicy, one without is one under the IdentityReplicationPolicy. Left out is what has
no counterpart: Connect's offset API, heartbeats, how often offsets are translated (they are equal), transactions, TLS.
"""

import json
import time
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from confluent_kafka import Consumer, KafkaException
from confluent_kafka import TopicPartition as Position
from confluent_kafka.admin import NewPartitions

from tests.process.clusters import PARTITIONS, RECORDS, TIMEOUT_S, Cluster, until

EXCLUDED, INCLUDED = (
    "min.insync.replicas",
    "retention.bytes",
)  # from those that a link keeps in step


def admitting(kind: str, **filter_types: str) -> str:
    """Filters by prefix: `admitting("topic", shop="INCLUDE")`."""
    filters = [
        {"name": name.replace("_", "-"), "patternType": "PREFIXED", "filterType": filter_type}
        for name, filter_type in filter_types.items()
    ]
    return json.dumps({f"{kind}Filters": filters})


Clusters = tuple[Cluster, Cluster]
CARRIED_S = 5  # at most, on a machine that is busy; it takes about 0.1 s


@pytest.fixture(scope="module")
def clusters(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clusters]:
    """Primary and backup. Each scenario has topics, groups and links of its own."""
    directory = tmp_path_factory.mktemp("clusters")
    with ExitStack() as stack:
        made = []
        for name in ("primary", "backup"):
            made.append(Cluster(directory / name))
            stack.callback(made[-1].node.stop)
            stack.callback(made[-1].rest.close)
        yield made[0], made[1]
    for cluster in made:
        assert "Traceback" not in cluster.node.log()


def flow(kind: str, **filter_types: str) -> dict[str, str]:
    """Topics of such names are mirrored, now and later."""
    filters = admitting("topic", **filter_types)
    auto = {"auto.create.mirror.topics.enable": "true"}
    return auto | {"auto.create.mirror.topics.filters": filters, "cluster.link.prefix": kind}


def test_replication(clusters: Clusters) -> None:
    """testReplication: both ways under prefixes, with the same topic on both sides, and topics that come later."""
    primary, backup = clusters
    for cluster in clusters:
        cluster.create("shop-1")
        cluster.produce("shop-1")
    names = dict.fromkeys(("shop", "primary.shop", "backup.shop"), "INCLUDE")
    assert backup.link("there", primary, **flow("primary.", **names)).is_success
    assert primary.link("back", backup, **flow("backup.", **names)).is_success
    until(lambda: "primary.shop-1" in backup.topics("primary.shop"))
    until(lambda: "backup.shop-1" in primary.topics("backup.shop"))
    for cluster, mirror in ((backup, "primary.shop-1"), (primary, "backup.shop-1")):
        until(lambda cluster=cluster, mirror=mirror: cluster.ends(mirror) == [RECORDS] * PARTITIONS)  # type: ignore[misc]
        values = cluster.consume("auditors", mirror, RECORDS * PARTITIONS)
        assert {value.partition("-")[0] for value in values} == {mirror.partition(".")[0]}
    for cluster, name in ((primary, "shop-2"), (backup, "shop-3")):
        cluster.create(name)
        cluster.produce(name, [0])
    until(lambda: "primary.shop-2" in backup.topics("primary.shop"))
    until(lambda: backup.ends("primary.shop-2") == [RECORDS, 0])
    until(lambda: "backup.shop-3" in primary.topics("backup.shop"))
    until(lambda: primary.ends("backup.shop-3") == [RECORDS, 0])
    _check_no_circle(clusters)
    links = ((primary, "back"), (backup, "there"))
    for (
        cluster,
        link,
    ) in links:  # a mirror that is nobody's any more may be mirrored by the other link
        cluster.configure(link, "auto.create.mirror.topics.enable", "false")
    for cluster, link in links:
        cluster.unlink(link)


def _check_no_circle(clusters: Clusters) -> None:
    """IdentityReplicationIntegrationTest and cycle detection: nothing comes back to where it began.

    The filters admit the mirrors' names, so only lineage can have kept them out.
    """
    primary, backup = clusters
    assert sorted(primary.topics("shop", "backup.", "primary.")) == [
        "backup.shop-1", "backup.shop-3", "shop-1", "shop-2",
    ]  # fmt: skip
    assert sorted(backup.topics("shop", "backup.", "primary.")) == [
        "primary.shop-1", "primary.shop-2", "shop-1", "shop-3",
    ]  # fmt: skip


def test_replication_with_empty_partition(clusters: Clusters) -> None:
    """testReplicationWithEmptyPartition: a group's offset 0 in a partition without records is carried, too."""
    primary, backup = clusters
    primary.create("hollow")
    primary.produce("hollow", [0])
    primary.commit("hollow-readers", "hollow", RECORDS, 0)
    assert backup.link("hollow", primary, **flow("", hollow="INCLUDE")).is_success
    until(lambda: "hollow" in backup.topics("hollow"))
    until(lambda: backup.committed("hollow-readers", "hollow") == [RECORDS, 0])
    backup.unlink("hollow")


def test_one_way_replication_with_offset_sync(clusters: Clusters) -> None:
    """testOneWayReplicationWithAutoOffsetSync: the group goes on at the backup, without one record read again."""
    primary, backup = clusters
    primary.create("way-1")
    primary.produce("way-1")
    primary.consume("travellers", "way-1", RECORDS * PARTITIONS)
    assert backup.link("way", primary, **flow("", way="INCLUDE")).is_success
    until(lambda: "way-1" in backup.topics("way"))
    until(lambda: backup.committed("travellers", "way-1") == [RECORDS] * PARTITIONS)
    primary.create("way-2")
    primary.produce("way-2")
    primary.consume("travellers", "way-2", RECORDS * PARTITIONS)
    until(lambda: "way-2" in backup.topics("way"))
    until(lambda: backup.committed("travellers", "way-2") == [RECORDS] * PARTITIONS)
    primary.produce("way-1", [1])
    until(lambda: backup.ends("way-1") == [RECORDS, 2 * RECORDS])
    assert len(backup.consume("travellers", "way-1", RECORDS)) == RECORDS
    assert backup.committed("travellers", "way-1") == [RECORDS, 2 * RECORDS]
    assert primary.committed("travellers", "way-1") == [RECORDS] * PARTITIONS
    backup.unlink("way")


def test_no_helper_topics(clusters: Clusters) -> None:
    """testOffsetSyncsTopicsOnTarget asks where helper topics lie: a link has none, on either side."""
    primary, backup = clusters
    primary.create("plain")
    before = primary.topics("")
    assert backup.link("plain", primary, **flow("", plain="INCLUDE")).is_success
    until(lambda: "plain" in backup.topics("plain"))
    primary.commit("plain-readers", "plain", 0, 0)
    until(lambda: backup.committed("plain-readers", "plain") == [0, 0])
    assert primary.topics("").keys() - before.keys() <= {"__consumer_offsets"}
    assert not backup.topics("mm2-", "heartbeats", "checkpoints", "primary.checkpoints")
    backup.unlink("plain")


def test_no_checkpoints_if_no_records_are_mirrored(clusters: Clusters) -> None:
    """testNoCheckpointsIfNoRecordsAreMirrored: offsets follow once there are data that they can point at."""
    primary, backup = clusters
    primary.create("idle-1", "idle-2")
    primary.produce("idle-1")
    primary.produce("idle-2")
    primary.commit("idlers", "idle-1", RECORDS, RECORDS)
    primary.commit("idlers", "idle-2", RECORDS, RECORDS)
    assert backup.link("idle", primary).is_success
    assert backup.rest.post("/links/idle/mirrors", json={"source_topic_name": "idle-1"}).is_success
    until(lambda: backup.committed("idlers", "idle-1") == [RECORDS, RECORDS])
    assert "idle-2" not in backup.topics("idle")
    assert backup.rest.post("/links/idle/mirrors", json={"source_topic_name": "idle-2"}).is_success
    until(lambda: backup.committed("idlers", "idle-2") == [RECORDS, RECORDS])
    backup.unlink("idle")


def test_restart_replication(clusters: Clusters) -> None:
    """testRestartReplication: both ends are restarted; records and offsets go on, none twice."""
    primary, backup = clusters
    primary.create("again")
    assert backup.link("again", primary, **flow("", again="INCLUDE")).is_success
    for turn, restarted in enumerate((backup, primary), 1):
        primary.produce("again")
        primary.consume("returners", "again", RECORDS * PARTITIONS)
        until(lambda: "again" in backup.topics("again"))
        wanted = [turn * RECORDS] * PARTITIONS
        until(lambda wanted=wanted: backup.committed("returners", "again") == wanted)  # type: ignore[misc]
        restarted.node.stop()
        restarted.node.start()
    primary.produce("again")
    until(lambda: backup.ends("again") == [3 * RECORDS] * PARTITIONS)
    backup.unlink("again")


def test_offset_translation_behind_replication_flow(clusters: Clusters) -> None:
    """testOffsetTranslationBehindReplicationFlow: a group far behind is exact there, a rewind is followed."""
    primary, backup = clusters
    primary.create("behind")
    for _ in range(10):
        primary.produce("behind")
    assert backup.link("behind", primary, **flow("", behind="INCLUDE")).is_success
    until(lambda: "behind" in backup.topics("behind"))
    until(lambda: backup.ends("behind") == [10 * RECORDS] * PARTITIONS)
    for offsets in ([5, 7], [91, 88], [13, 0]):
        primary.commit("laggards", "behind", *offsets)
        committed = time.monotonic()
        until(lambda offsets=offsets: backup.committed("laggards", "behind") == offsets)  # type: ignore[misc]
        carried_s = time.monotonic() - committed
        print(f"{offsets} were carried within {carried_s:.2f} s")
        assert carried_s < CARRIED_S
    backup.unlink("behind")


def test_sync_topic_configs(clusters: Clusters) -> None:
    """testSyncTopicConfigs, testReplicateTargetDefault: what is kept in step goes with the source's, back to a default,
    too, and is not for anybody here to change; what is excluded stays as it is here."""
    primary, backup = clusters
    primary.create("tuned", retention_bytes="1000", min_insync_replicas="1")
    assert backup.link("tuned", primary, **flow("", tuned="INCLUDE")).is_success
    until(lambda: "tuned" in backup.topics("tuned"))
    until(lambda: backup.config("tuned", INCLUDED) == "1000")
    backup.alter("tuned", EXCLUDED, "2")
    with pytest.raises(KafkaException, match="POLICY_VIOLATION"):
        backup.alter("tuned", INCLUDED, "2000")
    primary.alter("tuned", INCLUDED, None)
    until(lambda: backup.config("tuned", INCLUDED) == "-1")
    assert backup.config("tuned", EXCLUDED) == "2"
    backup.unlink("tuned")


def test_replicate_from_latest(clusters: Clusters) -> None:
    """testReplicateFromLatest: only what comes after the start, at the source's offsets."""
    primary, backup = clusters
    primary.create("fresh")
    primary.produce("fresh")
    configs = flow("", fresh="INCLUDE") | {"mirror.start.offset.spec": "latest"}
    assert backup.link("fresh", primary, **configs).is_success
    until(lambda: "fresh" in backup.topics("fresh"))
    until(lambda: backup.ends("fresh") == [RECORDS] * PARTITIONS)
    primary.produce("fresh")
    until(lambda: backup.ends("fresh") == [2 * RECORDS] * PARTITIONS)
    assert len(backup.consume("newcomers", "fresh", RECORDS * PARTITIONS)) == RECORDS * PARTITIONS
    assert backup.committed("newcomers", "fresh") == [2 * RECORDS] * PARTITIONS
    backup.unlink("fresh")


def test_create_partitions(clusters: Clusters) -> None:
    """testCreatePartitionsUseProvidedForwardingAdmin: partitions that the source gets are added, and filled."""
    primary, backup = clusters
    primary.create("wider")
    assert backup.link("wider", primary, **flow("", wider="INCLUDE")).is_success
    until(lambda: backup.topics("wider") == {"wider": PARTITIONS})
    grown = primary.admin.create_partitions([NewPartitions("wider", PARTITIONS + 1)])
    grown["wider"].result(TIMEOUT_S)
    until(lambda: backup.topics("wider") == {"wider": PARTITIONS + 1})
    primary.produce("wider", [PARTITIONS])
    place = Position("wider", PARTITIONS)
    consumer = Consumer({"bootstrap.servers": backup.node.address, "group.id": "asking"})
    until(lambda: consumer.get_watermark_offsets(place, TIMEOUT_S) == (0, RECORDS))
    consumer.close()
    backup.unlink("wider")


def test_exclusion_filters(clusters: Clusters) -> None:
    """`topics.exclude` and `groups.exclude`: exclusion wins, and a change of the filters needs no restart."""
    primary, backup = clusters
    primary.create("sieve-in", "sieve-out", "sieve-late")
    names = {"sieve": "INCLUDE", "sieve_out": "EXCLUDE", "sieve_late": "EXCLUDE"}
    groups = admitting("group", sievers="INCLUDE", sievers_own="EXCLUDE")
    configs = flow("", **names) | {"consumer.offset.group.filters": groups}
    assert backup.link("sieve", primary, **configs).is_success
    until(lambda: "sieve-in" in backup.topics("sieve"))
    primary.commit("sievers-own", "sieve-in", 0, 0)
    primary.commit("sievers", "sieve-in", 0, 0)
    until(lambda: backup.committed("sievers", "sieve-in") == [0, 0])
    assert backup.committed("sievers-own", "sieve-in") == [-1001, -1001]
    del names["sieve_late"]
    filters = admitting("topic", **names)
    backup.configure("sieve", "auto.create.mirror.topics.filters", filters)
    until(lambda: backup.topics("sieve").keys() == {"sieve-in", "sieve-late"})
    backup.unlink("sieve")


def test_deleted_and_reset_topics(clusters: Clusters) -> None:
    """DataLossAndTopicResetDetectionIntegrationTest: a source topic that is deleted or made anew is never followed
    silently: the mirror keeps its data and says why it stands still."""
    primary, backup = clusters
    primary.create("gone", "reborn")
    for topic in ("gone", "reborn"):
        primary.produce(topic)
    assert backup.link("gone", primary, **flow("", gone="INCLUDE", reborn="INCLUDE")).is_success
    for topic in ("gone", "reborn"):
        until(lambda topic=topic: topic in backup.topics(topic))  # type: ignore[misc]
        until(lambda topic=topic: backup.ends(topic) == [RECORDS] * PARTITIONS)  # type: ignore[misc]
    backup.configure("gone", "cluster.link.paused", "true")
    until(lambda: backup.rest.get("/links/gone").json()["link_state"] == "PAUSED")
    for topic in ("gone", "reborn"):
        primary.delete(topic)
    until(lambda: not primary.topics("gone", "reborn"))
    primary.create("reborn")
    primary.produce("reborn", [0])
    backup.configure("gone", "cluster.link.paused", "false")
    for topic, error in (
        ("gone", "SOURCE_TOPIC_MAY_BE_DELETED"),
        ("reborn", "SOURCE_TOPIC_ID_CHANGED"),
    ):
        until(lambda topic=topic: backup.mirror("gone", topic)["mirror_status"] == "FAILED")  # type: ignore[misc]
        assert backup.mirror("gone", topic)["mirror_topic_error"] == error
        assert backup.ends(topic) == [RECORDS] * PARTITIONS
    backup.unlink("gone")


def test_acls_are_refused_by_name(clusters: Clusters) -> None:
    """testSyncTopicACLsUseProvidedForwardingAdmin: there are no ACLs yet, so a flow that asks for them is refused."""
    primary, backup = clusters
    refused = backup.link("guarded", primary, **{"acl.sync.enable": "true"})
    assert refused.status_code == 400
    assert "acl.sync.enable" in refused.json()["problems"][0]
    assert backup.rest.get("/links/guarded").status_code == 404
