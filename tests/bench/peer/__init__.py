"""Apache Kafka and MirrorMaker 2 from their published jars, run as the yardstick of the benchmarks.

| file | holds |
|---|---|
| `pom.xml` | which jars, at which versions |
| `jars` | fetches them once with Maven; says why when it can't; the `java` command line |
| `mirror` | MirrorMaker 2, tuned, as a process |
| `kafka` | one-node regions and the MirrorMaker 2 between them, as a measured system |
| `cluster`, `regions` | a region of three nodes, and two of them with MirrorMaker 2 |
| `wan` | one-node regions, the first of which MirrorMaker 2 reaches through a proxy |
"""
