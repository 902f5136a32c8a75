"""Other people's clients, unmodified and with their default settings, against a real node.

| file | holds |
|---|---|
| `conftest` | the region that all of them share |
| `samples` | records with keys, headers and timestamps whose values can be told apart |
| `test_aiokafka`, `test_confluent`, `test_kafka_python`, `test_kcat` | Python's three clients, and kcat |
| `java/` | Kafka's own Java tools, where Java and Maven are |
| `frameworks/` | Connect, Streams and MirrorMaker 2, which keep their state in compacted topics |

`COMPAT_AGAINST=kafka pytest tests/compat` runs the same tests on Apache Kafka: what fails there is the test's mistake.
`COMPAT_AGAINST=brokers` runs them on `python -m brokers`, a node that knows nothing of links.
"""
