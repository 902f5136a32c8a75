"""What DescribeConfigs says of a broker."""

from brokers.config.broker_config import from_settings
from brokers.metadata.commands.config_commands import AlterConfigs, ConfigChange, ConfigOperation
from brokers.metadata.configs.broker_configs import broker_config_entries, dynamic_defaults
from brokers.metadata.configs.effective_configs import ConfigEntry, ConfigSource
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
