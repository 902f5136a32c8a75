"""A replica's files as the audit reads them, written from Kafka's formats alone.

`headers` has the layout of a batch's header, `batches` walks segment bytes, `records` opens a batch, `indexes` checks
the sparse indexes against the batches, `rising_run` finds the batches whose offsets rise, `replica_log` lists a
partition's segments and finds offsets in them, `checkpoints` reads checkpoint files, `data_dir` says whose directory
it is.
"""
