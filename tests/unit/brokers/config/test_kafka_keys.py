"""Every broker key of Kafka 4.3 works, has no effect and a reason, or is refused and a reason."""

import pytest

from brokers.config.broker_config import FIELD_KEYS, BrokerConfig, ConfigError, from_settings
from brokers.config.given_settings import SYNONYMS
from brokers.config.kafka_keys import KAFKA_KEYS, KeyVerdict, is_secret, kafka_key
from brokers.config.key_reasons import NO_EFFECT, REFUSED, REMOVED, UNLISTED, UNLISTED_REFUSED
from tests.unit.brokers.config.kafka_4_3 import KAFKA_DEFAULTS, KAFKA_KEY_TYPES

LEAST = {"node.id": 1, "log.dirs": "data"}
OURS = {
    "admin.listener", "broker.host", "cluster.id", "confluent.cluster.link.io.max.bytes.per.second",
    "confluent.log.placement.constraints",
    "confluent.offsets.topic.placement.constraints", "confluent.transaction.state.log.placement.constraints",
    "disk.watermark.refuse.free.bytes", "disk.watermark.refuse.free.percent", "disk.watermark.warn.free.bytes",
    "disk.watermark.warn.free.percent",
    "leader.preference.racks", "link.advertised.listener", "link.fencing.enable", "link.listener", "link.max.streams",
    "admin.max.commands", "admin.max.commands.per.ip", "admin.max.connections",
    "admin.queued.max.bytes", "admin.request.max.bytes", "http.max.connections", "http.max.connections.per.ip",
    "link.max.connections", "link.max.subscriptions", "link.max.subscriptions.per.stream", "link.max.topics",
    "link.watched.max.bytes",
    "link.max.streams.per.ip", "link.queued.max.bytes", "link.window.growth.max.bytes",
    "link.retention.hold.max.bytes", "link.retention.hold.max.ms", "link.source.startup.wait.ms", "log.format",
    "metrics.listener",
    "mirror.hole.retention.ms", "orphan.store.max.bytes", "rest.listener", "slow.request.log.ms",
    "auto.create.topics.mutation.rate", "operation.log.max.entries", "operation.log.retention.ms",
}  # fmt: skip
# Kafka's defaults that are not ours; the comments of the fields say why.
OTHER_DEFAULTS = {
    "node.id", "log.dirs", "log.dir", "listeners", "process.roles", "controller.listener.names",
    "socket.send.buffer.bytes", "socket.receive.buffer.bytes", "socket.listen.backlog.size",
    "log.retention.ms", "log.roll.ms",
}  # fmt: skip


def test_every_key_of_kafka_has_one_verdict() -> None:
    known = FIELD_KEYS | SYNONYMS.keys() | KAFKA_KEYS.keys() | {"config.providers"}
    assert KAFKA_DEFAULTS.keys() - known == set()
    assert FIELD_KEYS & KAFKA_KEYS.keys() == set() and SYNONYMS.keys() & KAFKA_KEYS.keys() == set()
    assert FIELD_KEYS - KAFKA_DEFAULTS.keys() - OURS == set()


def test_the_table_has_nothing_twice_and_only_keys_that_kafka_has_or_had() -> None:
    of_kafka = [name for names in NO_EFFECT.values() for name in names.split()]
    of_kafka += [name for names in REFUSED.values() for name in names]
    others = [name for names in (*REMOVED.values(), *UNLISTED.values()) for name in names.split()]
    others += [name for names in UNLISTED_REFUSED.values() for name in names]
    assert len(set(of_kafka + others)) == len(of_kafka + others) == len(KAFKA_KEYS)
    assert set(of_kafka) <= KAFKA_DEFAULTS.keys() and not set(others) & KAFKA_DEFAULTS.keys()
    assert all(key.why for key in KAFKA_KEYS.values())


def test_defaults_are_kafkas() -> None:
    for field, info in BrokerConfig.model_fields.items():
        name, default = info.alias or field, info.get_default()
        if name in KAFKA_DEFAULTS and name not in OTHER_DEFAULTS:
            text = "" if default is None else str(default)
            expected = KAFKA_DEFAULTS[name].replace("<null>", "")
            assert text.lower().replace("e+", "e") == expected.lower(), name


def test_links_cannot_be_turned_off_by_a_key_that_would_have_no_effect() -> None:
    name = "confluent.cluster.link.enable"
    assert from_settings(LEAST | {name: "true"}).node_id == 1
    with pytest.raises(ConfigError) as caught:
        from_settings(LEAST | {name: "false"})
    (problem,) = caught.value.problems
    assert problem.startswith(f"{name}: ") and "leave these out" in problem


@pytest.mark.parametrize("name", [name for names in REFUSED.values() for name in names])
def test_a_refused_key_may_have_the_default_of_kafka_and_nothing_else(name: str) -> None:
    default = KAFKA_DEFAULTS[name].replace("<null>", "")
    assert from_settings(LEAST | {name: default}).node_id == 1
    with pytest.raises(ConfigError) as caught:
        from_settings(LEAST | {name: "1" if default != "1" else "2"})
    (problem,) = caught.value.problems
    assert problem.startswith(f"{name}: ") and ("take it out" in problem or "use " in problem)


@pytest.mark.parametrize("name", sorted(KAFKA_KEYS))
def test_a_key_without_effect_is_warned_of_once(name: str) -> None:
    if KAFKA_KEYS[name].verdict is KeyVerdict.NO_EFFECT:
        config = from_settings(LEAST | {name: "7"})
        expected = [] if is_secret(name) else [f"{name}=7 has no effect: {KAFKA_KEYS[name].why}"]
        assert list(config.warnings()) == expected


def test_passwords_of_kafka_are_secrets_here() -> None:
    passwords = {name for name, kind in KAFKA_KEY_TYPES.items() if kind == "PASSWORD"}
    assert passwords and {name for name in KAFKA_KEY_TYPES if is_secret(name)} == passwords
    config = from_settings(LEAST | {"listener.name.tls.ssl.keystore.password": "hush"})
    assert "hush" not in repr(config.given)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("listener.name.one.ssl.keystore.location", KeyVerdict.NO_EFFECT),
        ("rsm.config.bucket", KeyVerdict.NO_EFFECT),
        ("config.providers.env.class", KeyVerdict.WORKS),
        ("super.users", KeyVerdict.NO_EFFECT),
        ("inter.broker.protocol.version", KeyVerdict.NO_EFFECT),
    ],
)
def test_what_belongs_to_plugins_and_old_releases_is_known(name: str, kind: KeyVerdict) -> None:
    key = kafka_key(name)
    assert key is not None and key.verdict is kind


def test_an_unknown_key_is_refused_or_as_in_kafka_warned_of() -> None:
    with pytest.raises(ConfigError) as caught:
        from_settings(LEAST | {"log.retension.ms": 5})
    assert caught.value.problems == [
        "log.retension.ms: unknown setting; did you mean log.retention.ms?"
    ]
    config = from_settings(LEAST | {"log.retension.ms": "5"}, takes_unknown=True)
    (line,) = config.warnings()
    assert "did you mean log.retention.ms?" in line and "log.retension.ms=5 has no effect" in line


# --- synonyms ---


@pytest.mark.parametrize(
    ("given", "field", "value"),
    [
        ({"log.retention.hours": 2}, "log_retention_ms", 7_200_000),
        ({"log.retention.hours": "2"}, "log_retention_ms", 7_200_000),
        ({"log.retention.hours": 2, "log.retention.minutes": 3}, "log_retention_ms", 180_000),
        ({"log.retention.hours": 2, "log.retention.ms": 5}, "log_retention_ms", 5),
        ({"log.retention.hours": -1}, "log_retention_ms", -1),
        ({"log.roll.hours": 1}, "log_roll_ms", 3_600_000),
        ({"log.dir": "other", "log.dirs": "data"}, "log_dirs", "data"),
        ({"broker.id": 1}, "node_id", 1),
    ],
)
def test_the_first_synonym_that_is_given_counts(
    given: dict[str, object], field: str, value: object
) -> None:
    assert getattr(from_settings(LEAST | given), field) == value


def test_synonyms_stand_for_required_keys() -> None:
    config = from_settings({"broker.id": 7, "log.dir": "here"})
    assert (config.node_id, config.log_dirs) == (7, "here")


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"log.retention.hours": "soon"}, "log.retention.hours: "),
        ({"log.roll.hours": 0}, "log.roll.ms: "),
        ({"broker.id": 2}, "broker.id: is 2, and node.id 1"),
        ({"broker.id": "x"}, "broker.id: "),
    ],
)
def test_a_synonym_that_cannot_be_is_refused(given: dict[str, object], problem: str) -> None:
    with pytest.raises(ConfigError) as caught:
        from_settings(LEAST | given)
    assert any(line.startswith(problem) for line in caught.value.problems)


# --- ZooKeeper ---


def test_zookeeper_mode_is_refused_with_what_to_do() -> None:
    old = {"broker.id": 1, "log.dirs": "data", "zookeeper.connect": "zk:2181"}
    for settings in (
        old,
        LEAST | {"process.roles": "broker", "zookeeper.metadata.migration.enable": "TRUE"},
    ):
        with pytest.raises(ConfigError) as caught:
            from_settings(settings)
        problem = next(
            line for line in caught.value.problems if line.startswith("zookeeper.connect")
        )
        assert "process.roles=broker,controller" in problem and "MirrorMaker 2" in problem


def test_a_leftover_of_zookeeper_has_no_effect() -> None:
    config = from_settings(
        LEAST | {"process.roles": "broker,controller", "zookeeper.connect": "zk"}
    )
    assert "in its own quorum" in next(config.warnings())
