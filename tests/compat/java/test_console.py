"""kafka-console-producer, kafka-console-consumer and kafka-topics."""

from collections.abc import Callable

from tests.compat.conftest import Region
from tests.compat.java.conftest import Tool

Name = Callable[[str], str]
CONSUMER = "org.apache.kafka.tools.consumer.ConsoleConsumer"


def test_what_the_console_producer_says_the_console_consumer_prints(
    region: Region, tool: Tool, name: Name
) -> None:
    topic = name("console")
    wanted = [f"key-{number % 9}\tvalue {number}" for number in range(2000)]
    at = ("--bootstrap-server", region.bootstrap, "--topic", topic)
    tool("ConsoleProducer", *at, "--reader-property", "parse.key=true", said="\n".join(wanted))
    printed = tool(
        CONSUMER,
        *at,
        "--from-beginning",
        "--max-messages",
        "2000",
        "--formatter-property",
        "print.key=true",
    )
    assert printed.splitlines() == wanted


def test_headers_and_timestamps_are_printed(region: Region, tool: Tool, name: Name) -> None:
    topic = name("console")
    at = ("--bootstrap-server", region.bootstrap, "--topic", topic)
    headers = ("--reader-property", "parse.headers=true")
    tool("ConsoleProducer", *at, *headers, said="one:1,two:2\tvalue")
    shown = [
        word
        for what in ("headers", "offset", "partition")
        for word in ("--formatter-property", f"print.{what}=true")
    ]
    printed = tool(CONSUMER, *at, "--from-beginning", "--max-messages", "1", *shown)
    assert printed == "Partition:0\tOffset:0\tone:1,two:2\tvalue\n"


def test_a_console_group_goes_on_where_it_stood(region: Region, tool: Tool, name: Name) -> None:
    topic, group = name("console"), name("group")
    at = ("--bootstrap-server", region.bootstrap, "--topic", topic)
    tool("ConsoleProducer", *at, said="\n".join(f"value {number}" for number in range(30)))
    reading = (CONSUMER, *at, "--group", group, "--from-beginning")
    first = tool(*reading, "--max-messages", "10").splitlines()
    second = tool(*reading, "--max-messages", "20").splitlines()
    assert first + second == [f"value {number}" for number in range(30)]


def test_topics_are_created_altered_described_and_deleted(
    region: Region, tool: Tool, name: Name
) -> None:
    topic = name("topics")
    at = ("TopicCommand", "--bootstrap-server", region.bootstrap)
    settings = ("--partitions", "2", "--replication-factor", "1", "--config", "retention.ms=77777")
    tool(*at, "--create", "--topic", topic, *settings)
    tool(*at, "--alter", "--topic", topic, "--partitions", "3")
    described = tool(*at, "--describe", "--topic", topic)
    assert "PartitionCount: 3" in described
    assert "retention.ms=77777" in described
    assert topic in tool(*at, "--list").splitlines()
    tool(*at, "--delete", "--topic", topic)
    assert topic not in tool(*at, "--list").splitlines()


def test_settings_are_altered_and_described(region: Region, tool: Tool, name: Name) -> None:
    topic = name("settings")
    server = ("--bootstrap-server", region.bootstrap)
    tool("TopicCommand", *server, "--create", "--topic", topic)
    at = ("kafka.admin.ConfigCommand", *server, "--entity-type", "topics", "--entity-name", topic)
    tool(*at, "--alter", "--add-config", "max.message.bytes=54321")
    assert "max.message.bytes=54321" in tool(*at, "--describe")
    tool(*at, "--alter", "--delete-config", "max.message.bytes")
    assert "max.message.bytes" not in tool(*at, "--describe")
