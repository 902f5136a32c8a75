"""The outside witness: do two regions hold the same thing? Read from what is stored, never from what they say.

It shares Kafka's formats with the system it audits, and none of its code. In reading order:

`read`                              segment bytes to batches
`logs`, `checkpoints`, `ask`, `cut` a replica's files; which offsets an audit speaks for
`plan`, `digests`                   units and tasks; the fast path
`merge`, `classify`, `records`      the slow path
`compare`                           one unit, both paths
`findings`, `settle`, `holes`       what was found
`lag`, `verdicts`                   what it means
`jobs`, `pool`                      the engines: Spark, and this machine's processes
`run`                               an audit from end to end
`tables`, `pictures`, `report`      what it leaves behind
`java`, `cli`                       Spark's Java; the command
"""
