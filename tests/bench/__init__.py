"""Benchmarks: the same work done by us and by Apache Kafka with MirrorMaker 2, in turn, in one run.

| file | holds |
|---|---|
| `frames` | Kafka requests and record batches built by hand with `struct`, independent of our own codec |
| `answers` | Kafka answers and fetched batches taken apart by hand, and whether they are intact |
| `connection` | one blocking connection: sends prebuilt frames, reads answers |
| `load` | the raw pipelined client program, run as its own process |
| `latency` | one record at a time: acknowledged, read by a waiting consumer, read over a link |
| `stock` | the same produce and consume work by librdkafka |
| `topics` | topics created, waited for, counted and deleted over the wire |
| `client` | runs those programs; raises `Lost` when a topic doesn't hold what was acknowledged |
| `processes` | processes started and stopped, and what they cost: CPU seconds and resident memory |
| `systems` | what a measured system must offer; `ours` is Causeway, `peer` is Apache Kafka and MirrorMaker 2 |
| `clusters`, `knowing` | the same of a region of three nodes: `ours_cluster`, `peer/cluster` |
| `ours_regions`, `peer/regions` | the same of two regions of three nodes each, and links between them |
| `ours_wan`, `peer/wan` | the same of two regions of one node, linked through a proxy; ours of three nodes, too |
| `work`, `crossing`, `region` | the measures, one function each: of a one-node region, of a link, of three nodes |
| `scale`, `mirrors` | figures that grow with the number of partitions: of a region, of two that are linked |
| `wan`, `wan_proxy` | a link through a proxy that delays, and that proxy |
| `processors` | processes that have one processor alone |
| `writable`, `traffic` | which partitions take records; bytes between two groups of processes |
| `gap` | a librdkafka producer that goes on while its leader is taken away |
| `compaction` | a topic compacted: `python -m tests.bench.compaction`, on its own |
| `coordinator`, `group_records` | committed offsets are loaded: `python -m tests.bench.coordinator`, on its own |
| `audit`, `audit_data` | an audit beside hashing the same bytes: `python -m tests.bench.audit`, on its own |
| `targets` | which ratio each measure has to reach |
| `report` | the table, `bench.json` and `bench.png` |

Run it with `make bench` or `python -m tests.bench`.
"""
