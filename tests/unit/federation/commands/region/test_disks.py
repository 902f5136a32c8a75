"""`causeway region describe` on the disks of brokers."""

import json
from typing import Any

from brokers.wire.messages.cluster import DescribeClusterBroker, DescribeClusterResponse
from brokers.wire.messages.configs import (
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
)
from brokers.wire.messages.log_dirs import DescribeLogDirsResponse, DescribeLogDirsResult
from brokers.wire.messages.metadata import DescribeTopicPartitionsResponse
from tests.unit.federation.commands.broker_double import Answers, broker_double
from tests.unit.federation.commands.region.test_view import NEW, SEEN, configs


def disks_at(sizes: list[tuple[int, int]], *, watermarks: bool, port: list[int]) -> Answers:
    """One broker with a log directory for each (total, free), and the settings of ours or of Kafka's."""

    def here(request: Any) -> DescribeClusterResponse:
        only = DescribeClusterBroker(broker_id=1, host="127.0.0.1", port=port[0])
        return DescribeClusterResponse(cluster_id="c", controller_id=1, brokers=[only])

    def settings(request: Any) -> DescribeConfigsResponse:
        (asked, *_) = request.resources
        if asked.resource_type != 4 or not watermarks:
            return configs(request)
        values = {"disk.watermark.refuse.free.percent": "10"}
        told = [
            DescribeConfigsResourceResult(name=name, value=values.get(name))
            for name in asked.configuration_keys
        ]
        return DescribeConfigsResponse(results=[DescribeConfigsResult(configs=told)])

    def measured(request: Any) -> DescribeLogDirsResponse:
        assert request.topics == []
        results = [
            DescribeLogDirsResult(log_dir=f"/d{index}", total_bytes=total, usable_bytes=free)
            for index, (total, free) in enumerate(sizes)
        ]
        results.append(DescribeLogDirsResult(log_dir="/gone", error_code=56))
        return DescribeLogDirsResponse(results=results)

    healthy = DescribeTopicPartitionsResponse(topics=[SEEN])
    return {
        **NEW,
        60: (2, here),
        32: (4, settings),
        35: (4, measured),
        75: (0, lambda _: healthy),
    }


def test_a_disk_below_a_watermark_is_named_and_fails_the_check() -> None:
    port: list[int] = []
    answers = disks_at([(1000, 200), (1000, 99), (1000, 100)], watermarks=True, port=port)
    with broker_double(answers) as broker:
        port.append(int(broker.bootstrap.rpartition(":")[2]))
        ran = broker.run("region", "describe", "--check")
        told = json.loads(broker.run("region", "describe", "--json").stdout)
    assert ran.exit_code == 3
    assert "broker 1: /d1: producers are refused, 99 bytes of 1000 bytes are free" in ran.output
    assert "broker 1: /gone is offline (KAFKA_STORAGE_ERROR)" in ran.output
    assert [each["watermark"] for each in told["log_dirs"]] == ["room", "refuse", "room", "room"]
    assert "/d0" not in ran.output and "/d2" not in ran.output


def test_a_broker_without_watermarks_has_disks_without() -> None:
    port: list[int] = []
    with broker_double(disks_at([(1000, 1)], watermarks=False, port=port)) as broker:
        port.append(int(broker.bootstrap.rpartition(":")[2]))
        (disk, _) = json.loads(broker.run("region", "describe", "--json").stdout)["log_dirs"]
    assert (disk["usable_bytes"], disk["watermark"]) == (1, "room")
