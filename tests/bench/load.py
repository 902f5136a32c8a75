"""The raw client program: pipelined requests from prebuilt frames, cheap in CPU, the same for every broker.

Run as a process of its own, so that its CPU time is not the harness's, and its interpreter not the servers'. Prints one
JSON object: records, bytes, seconds, client_cpu_s.
"""

import argparse
import json
import os
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

from tests.bench import answers, frames
from tests.bench.connection import Connection
from tests.bench.topics import leaders

VALUE_BYTES = 1024
DISTINCT = (
    8  # batches with contents of their own; random, so that nothing on the way can shrink them
)
FETCH_MAX_BYTES, PARTITION_MAX_BYTES = 50 << 20, 1 << 20  # the Java consumer's defaults


def build(records: int, *, is_text: bool = False) -> list[bytes]:
    """Batches of `records` records of `VALUE_BYTES` each; `is_text`: such as compress to about a third."""
    now_ms, value = int(time.time() * 1000), _text if is_text else os.urandom
    return [
        frames.batch([value(VALUE_BYTES) for _ in range(records)], now_ms) for _ in range(DISTINCT)
    ]


def _text(size: int) -> bytes:
    """Fields with names that repeat and values that don't."""
    noise = os.urandom(size)
    fields = (
        b'"field_%d":"%s",' % (number % 20, noise[number * 12 : number * 12 + 12].hex().encode())
        for number in range(size // 12)
    )
    return b"".join(fields)[:size]


def produce(options: argparse.Namespace) -> dict[str, float]:
    """Sends `batches` batches of `records` records, round robin over partitions and connections."""
    contents = build(options.records, is_text=options.text)
    shares = [range(n, options.batches, options.connections) for n in range(options.connections)]
    began = time.perf_counter()
    with ThreadPoolExecutor(options.connections) as pool:
        sizes = list(pool.map(lambda share: _produce_share(options, contents, share), shares))
    return {
        "records": options.batches * options.records,
        "bytes": sum(sizes),
        "seconds": time.perf_counter() - began,
    }


def _produce_share(options: argparse.Namespace, contents: list[bytes], share: range) -> int:
    """One connection to each leader."""
    requests: dict[int, bytearray] = {}
    size = 0
    with ExitStack() as stack:
        known, led = leaders(options.bootstrap, options.topic).addresses, {}
        for address in set(known.values()):
            led[address] = stack.enter_context(Connection(address))
        for number in share:
            partition, content = number % options.partitions, contents[number % DISTINCT]
            connection = led[known[partition]]
            if connection.in_flight == options.in_flight:
                _acknowledge(connection)
            if partition not in requests:
                requests[partition] = frames.produce(options.topic, partition, len(content))
            connection.send(requests[partition], content)
            size += len(content)
        for connection in led.values():
            while connection.in_flight:
                _acknowledge(connection)
    return size


def _acknowledge(connection: Connection) -> None:
    answers.produced(connection.receive())


def consume(options: argparse.Namespace) -> dict[str, float]:
    """Reads `topic` from offset 0 until `expect` records have come; with `check`, holds each batch to its checksum."""
    known = leaders(options.bootstrap, options.topic).addresses
    records = size = 0
    began = time.perf_counter()
    for address in sorted(set(known.values())):
        offsets = dict.fromkeys((n for n in known if known[n] == address), 0)
        read = _drain(options, address, offsets, options.expect - records)
        records, size = records + read[0], size + read[1]
    if records != options.expect:
        raise AssertionError(f"{records} records read, {options.expect} expected")
    return {"records": records, "bytes": size, "seconds": time.perf_counter() - began}


def _drain(
    options: argparse.Namespace, address: str, offsets: dict[int, int], most: int
) -> tuple[int, int]:
    """Records and bytes of everything in the partitions of `offsets`; stops early at `most` records."""
    records = size = 0
    with Connection(address) as connection:
        while records < most:
            before = records
            for fetched in answers.fetched(connection.ask(_fetch(options.topic, offsets))):
                for batch in answers.batches(fetched.records):
                    _place(offsets, fetched.partition, batch, check=options.check)
                    records += batch.records
                    size += len(batch.body)
            if records == before:
                break
    return records, size


def _fetch(topic: str, offsets: dict[int, int]) -> bytearray:
    return frames.fetch(
        topic,
        offsets,
        max_wait_ms=500,
        max_bytes=FETCH_MAX_BYTES,
        partition_max_bytes=PARTITION_MAX_BYTES,
    )


def _place(offsets: dict[int, int], partition: int, batch: answers.Batch, *, check: bool) -> None:
    if batch.base_offset != offsets[partition]:
        raise AssertionError(
            f"partition {partition}: offset {batch.base_offset} after {offsets[partition]}"
        )
    if check and not answers.intact(batch):
        raise AssertionError(
            f"partition {partition}: checksum broken at offset {batch.base_offset}"
        )
    offsets[partition] = batch.next_offset


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    verbs = parser.add_subparsers(required=True)
    for verb in (produce, consume):
        command = verbs.add_parser(verb.__name__)
        command.set_defaults(act=verb)
        command.add_argument("--bootstrap", required=True)
        command.add_argument("--topic", required=True)
        command.add_argument("--partitions", type=int, default=1)
    verbs.choices["produce"].add_argument("--records", type=int, default=1000, help="per batch")
    verbs.choices["produce"].add_argument("--batches", type=int, required=True)
    verbs.choices["produce"].add_argument("--in-flight", type=int, default=5)
    verbs.choices["produce"].add_argument("--connections", type=int, default=1)
    verbs.choices["produce"].add_argument("--text", action="store_true", help="compressible")
    verbs.choices["consume"].add_argument("--expect", type=int, required=True)
    verbs.choices["consume"].add_argument("--check", action="store_true")
    options = parser.parse_args()
    result = options.act(options)
    print(json.dumps(result | {"client_cpu_s": time.process_time()}))


if __name__ == "__main__":
    main()
