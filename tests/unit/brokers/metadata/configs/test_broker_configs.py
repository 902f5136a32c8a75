"""What DescribeConfigs says of a broker."""

from brokers.config.broker_config import from_settings
from brokers.metadata.commands.config_commands import AlterConfigs, ConfigChange, ConfigOperation
from brokers.metadata.configs.broker_configs import broker_config_entries, dynamic_defaults
from brokers.metadata.configs.effective_configs import ConfigEntry, ConfigSource, log_config
from brokers.metadata.image.image import Image
from tests.unit.brokers.metadata.images import NODE, Region


def test_every_setting_of_the_node_is_there_once_and_sorted() -> None:
    names = [setting.name for setting in broker_config_entries(Image("r"), NODE)]
    assert names == sorted(set(names))
    assert {name for name, _, _ in NODE.by_kafka_name()} <= set(names)
    assert {"leader.replication.throttled.rate", "leader.preference.racks"} <= set(names)
    assert {"admin.listener", "log.dirs", "min.insync.replicas", "process.roles"} <= set(names)


def test_a_setting_tells_its_sources_and_whether_it_can_be_changed() -> None:
    config = from_settings({"node.id": 1, "log.dirs": "d", "log.retention.ms": 9})
    region = Region(config)
    change = {"log.retention.ms": (ConfigOperation.SET, "7")}
    region.do(AlterConfigs((ConfigChange((4, ""), change),)))
    settings = {setting.name: setting for setting in broker_config_entries(region.image, config)}
    retention = settings["log.retention.ms"]
    assert retention.is_dynamic and retention.values == (
        ConfigEntry("log.retention.ms", "7", ConfigSource.DYNAMIC_DEFAULT_BROKER),
        ConfigEntry("log.retention.ms", "9", ConfigSource.STATIC_BROKER),
        ConfigEntry("log.retention.ms", "604800000", ConfigSource.DEFAULT),
    )
    assert settings["log.dirs"].values == (
        ConfigEntry("log.dirs", "d", ConfigSource.STATIC_BROKER),
    )
    assert not settings["log.dirs"].is_dynamic
    (default,) = dynamic_defaults(region.image)
    assert (default.name, default.values[0].value) == ("log.retention.ms", "7")


def test_what_the_file_gives_without_an_effect_is_told_with_the_reason() -> None:
    config = from_settings(
        {
            "broker.id": 1,
            "log.dirs": "d",
            "num.io.threads": "4",
            "log.retention.hours": 2,
            "ssl.key.password": "x",
        }
    )
    settings = {setting.name: setting for setting in broker_config_entries(Image("r"), config)}
    threads, hours = settings["num.io.threads"], settings["log.retention.hours"]
    assert threads.values == (ConfigEntry("num.io.threads", "4", ConfigSource.STATIC_BROKER),)
    assert "event loop" in str(threads.documentation) and not threads.is_dynamic
    assert (hours.values[0].value, hours.documentation) == ("2", "Sets log.retention.ms.")
    assert settings["log.retention.ms"].values[0].value == "7200000"
    assert "ssl.key.password" not in settings


def test_the_defaults_of_topics_can_be_changed_while_the_broker_runs() -> None:
    config = from_settings({"node.id": 1, "log.dirs": "d", "compression.type": "lz4"})
    region = Region(config)
    region.do(
        AlterConfigs((ConfigChange((4, "1"), {"compression.type": (ConfigOperation.SET, "zstd")}),))
    )
    assert log_config(region.image, config, "t").codec == 4
    settings = {setting.name: setting for setting in broker_config_entries(region.image, config)}
    assert [each.value for each in settings["compression.type"].values] == [
        "zstd",
        "lz4",
        "producer",
    ]
    for name in (
        "log.flush.interval.ms",
        "log.roll.jitter.ms",
        "log.index.size.max.bytes",
        "compression.lz4.level",
    ):
        assert settings[name].is_dynamic, name
