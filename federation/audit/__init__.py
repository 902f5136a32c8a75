"""Whether two regions hold the same records, read from the stored files, never from what the regions answer.

The audit shares Kafka's formats with the system it audits, and none of its code. In reading order:

`segments`      the files of a replica: batches, records, logs, checkpoints
`facts`         what a region says of itself: in-sync replicas, configurations, the hole ledger, cuts
`cut`           which offsets of each partition an audit compares, and how far the mirror was behind
`fetch`         replicas that are read from live brokers instead
`plan`          units of comparison, packed into tasks
`comparison`    one unit compared: by digest, and batch by batch where digests differ
`verdict`       findings of a partition put together; promise P2 kept, broken or unknown
`sections`      what is judged beside the bytes: leader epochs, producer snapshots, group offsets, topics
`jobs`, `pool`  the engines: Spark, and processes of this machine; `java` finds a Java for Spark
`since`         what an earlier report judged, and the chain of reports
`journal`       what was compared so far, for a run that is taken up again
`options`       what an audit is asked to do; `result` what it comes to
`examine`       what is to be compared of each partition; `engines` has it compared
`run`           an audit from its options to its result
`report`        the HTML page, the picture, JSON and Parquet
"""
