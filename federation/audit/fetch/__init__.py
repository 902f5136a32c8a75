"""Replicas that are read from live brokers by Fetch, where no directory of theirs is at hand.

`connection`       one request at a time to one broker
`messages`         Fetch and DescribeLogDirs as bytes
`compactions`      what a broker's logs lack because of compaction
`reading`          whole batches of an offset range, fetch after fetch
`fetched_replica`  a replica on a broker, as the plan sees it
`discovery`        which replicas the brokers have
`spool`            the bytes of a unit's replicas in temporary files, while they are compared
"""
