"""librdkafka's own integration tests (C, about 150 files) against a region of ours, as against Kafka by its authors.

`suite` fetches the sources that npm carries and builds the test runner once into a cache; `python -m
tests.compat.librdkafka` starts a region, runs the tests of `tests.allow` one by one and compares what failed with
`tests.deny`, whose every line says why. Slow: `make librdkafka`, not part of `make test`.
"""
