"""The metrics of a node for Prometheus, under the names that Kafka's operators know.

The name of a metric is that of one of Kafka's MBeans ("Monitoring" in its documentation, metric for metric the same
meaning) as the example rules of Prometheus' JMX exporter spell it (`kafka-kraft-3_0_0.yml`, `kafka-2_0_0.yml`), so that
dashboards and alerts made for Kafka work here. A metric that would always be 0 is left out.

- `exposition`: Prometheus' text format
- `gauges`, `state`: gauges, read from the node's state at each scrape: they cost nothing between scrapes
- `traffic`, `topics`, `errors`, `request_times`, `durations`: counted at each response; `requests` is their text
- `connections`: those of each listener
- `partition_counters`: shrinks and expansions of in-sync sets, and elections, counted at each metadata change
- `lag` (how far followers and fetched replicas are behind), `groups` (the group coordinator), `cleaner` (compaction),
  `region` (this node in its region)
"""
