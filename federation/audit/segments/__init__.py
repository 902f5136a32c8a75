"""A replica's files as the audit reads them, written from Kafka's formats alone.

`batches` walks segment bytes (RecordBatch v2), `records` opens a batch, `rising_run` finds the batches whose offsets
rise, `replica_log` lists a partition's segments and finds offsets in them, `checkpoints` reads checkpoint files,
`data_dir` says whose directory it is.
"""
