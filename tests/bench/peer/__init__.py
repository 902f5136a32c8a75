"""Apache Kafka and MirrorMaker 2 from their published jars, run as the yardstick of the benchmarks.

| file | holds |
|---|---|
| `pom.xml` | which jars, at which versions |
| `jars` | fetches them once with Maven; says why when it can't; the `java` command line |
| `kafka` | one-node regions and the MirrorMaker 2 between them, as a measured system |
"""
