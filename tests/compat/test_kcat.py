"""kcat (Debian's 1.7.1 is linked to librdkafka 2.0.2) with its default settings."""

import json
import shutil
import subprocess
import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.compat.conftest import Region
from tests.compat.samples import CODECS

Name = Callable[[str], str]
WAIT_S = 60

if shutil.which("kcat") is None:
    pytest.skip("kcat isn't installed (on Debian: apt-get install kcat)", allow_module_level=True)


def kcat(region: Region, *words: str, said: str = "") -> str:
    """What kcat prints when it is given `said`."""
    done = subprocess.run(
        ["kcat", "-b", region.bootstrap, *words],
        input=said,
        capture_output=True,
        text=True,
        timeout=WAIT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def lines(count: int) -> list[str]:
    return [f"key-{number % 50}:value {number}" for number in range(count)]


def read(region: Region, topic: str, *words: str) -> list[str]:
    """Every record of a topic, as key:value lines in the order of offsets within each partition."""
    return kcat(region, "-C", "-t", topic, "-e", "-q", "-f", "%k:%s\n", *words).splitlines()


@pytest.mark.parametrize("codec", CODECS)
def test_ten_thousand_records_come_back_as_they_were_sent(
    region: Region, name: Name, codec: str
) -> None:
    topic, wanted = name("kcat"), lines(10_000)
    kcat(region, "-P", "-t", topic, "-p", "0", "-K:", "-z", codec, said="\n".join(wanted))
    assert read(region, topic) == wanted


def test_headers_and_nulls_come_back(region: Region, name: Name) -> None:
    topic = name("kcat")
    kcat(region, "-P", "-t", topic, "-Z", "-K:", "-H", "one=1", "-H", "two=2", said="key:\n")
    (found,) = envelopes(kcat(region, "-C", "-t", topic, "-e", "-q", "-J"))
    assert (found["key"], found["payload"]) == ("key", None)
    assert found["headers"] == ["one", "1", "two", "2"]
    assert found["offset"] == 0


def envelopes(printed: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in printed.splitlines()]


def test_a_topic_is_read_from_an_offset_from_the_end_and_up_to_a_count(
    region: Region, name: Name
) -> None:
    topic, wanted = name("kcat"), lines(100)
    kcat(region, "-P", "-t", topic, "-p", "0", "-K:", said="\n".join(wanted))
    assert read(region, topic, "-p", "0", "-o", "90") == wanted[90:]
    assert read(region, topic, "-p", "0", "-o", "-5") == wanted[-5:]
    assert read(region, topic, "-p", "0", "-o", "10", "-c", "7") == wanted[10:17]


def test_offsets_are_found_by_time(region: Region, name: Name) -> None:
    topic = name("kcat")
    kcat(region, "-P", "-t", topic, "-p", "0", said="before\n")
    (before,) = envelopes(kcat(region, "-C", "-t", topic, "-e", "-q", "-J"))
    while time.time() * 1000 <= before["ts"] + 1:
        pass  # the next record must not be of the same millisecond
    kcat(region, "-P", "-t", topic, "-p", "0", said="after\n")
    at = before["ts"]
    assert kcat(region, "-Q", "-t", f"{topic}:0:{at}").strip() == f"{topic} [0] offset 0"
    assert kcat(region, "-Q", "-t", f"{topic}:0:{at + 1}").strip() == f"{topic} [0] offset 1"
    assert kcat(region, "-Q", "-t", f"{topic}:0:-1").strip() == f"{topic} [0] offset 2"
    assert kcat(region, "-Q", "-t", f"{topic}:0:-2").strip() == f"{topic} [0] offset 0"


def test_a_group_reads_each_record_once(region: Region, name: Name) -> None:
    """Two runs of one group: what the first one committed at its end isn't read by the second."""
    topic, group, wanted = name("kcat"), name("group"), lines(200)
    kcat(region, "-P", "-t", topic, "-K:", said="\n".join(wanted))
    form = ("-e", "-q", "-f", "%k:%s\n", "-X", "auto.offset.reset=earliest")
    first = kcat(region, "-G", group, *form, topic).splitlines()
    kcat(region, "-P", "-t", topic, "-K:", said="late:record")
    second = kcat(region, "-G", group, *form, topic).splitlines()
    assert sorted(first) == sorted(wanted)
    assert second == ["late:record"]


def test_the_listing_names_the_node_by_the_address_that_was_used(
    region: Region, name: Name
) -> None:
    topic = name("kcat")
    kcat(region, "-P", "-t", topic, said="made\n")
    found = json.loads(kcat(region, "-L", "-J", "-t", topic))
    assert [broker["name"] for broker in found["brokers"]] == [region.bootstrap]
    (listed,) = found["topics"]
    node = found["brokers"][0]["id"]
    assert listed["topic"] == topic
    assert {partition["leader"] for partition in listed["partitions"]} == {node}
