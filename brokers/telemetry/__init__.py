"""The metrics that a node gives Prometheus, under the names that Kafka's operators know.

The name of a metric is that of one of Kafka's MBeans ("Monitoring" in its documentation, metric for metric the same
meaning) as the example rules of Prometheus' JMX exporter spell it (`kafka-kraft-3_0_0.yml`, `kafka-2_0_0.yml`), so that
dashboards and alerts made for Kafka work here. A metric that would always be 0 is left out.

- `exposition`: Prometheus' text format
- `gauges`, `state`: gauges are read from the node's state at each scrape, so they cost the byte path nothing
- `traffic`, `topics`, `errors`, `durations`: counted at each answered request; `requests` is their text
- `partition_counters`: in-sync sets that shrank or grew, and elections, counted at each change of the metadata
- `lag` (how far followers and fetched replicas are behind), `groups` (the group coordinator), `region` (this node in
  its region)
"""
