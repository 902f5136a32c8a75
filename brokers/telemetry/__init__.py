"""What a node tells Prometheus, under the names that Kafka's operators know.

A name is that of one of Kafka's MBeans ("Monitoring" in its documentation, metric for metric the same meaning) as the
example rules of Prometheus' JMX exporter spell it (`kafka-kraft-3_0_0.yml`, `kafka-2_0_0.yml`), so that dashboards and
alerts made for Kafka work here. There is no metric that nobody counts: one that would always be 0 is left out.

`gauges` reads state when it is asked for, so it costs the byte path nothing; `traffic` counts each answered request.
"""
