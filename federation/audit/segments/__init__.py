"""A replica's files as the audit reads them, written from Kafka's formats alone.

`headers` has the layout of a batch's header, `batches` walks segment bytes, `records` opens a batch, `indexes` checks
the sparse indexes against the batches, `rising_run` finds the batches whose offsets rise, `segment_file` hops through
one file, `replica` is what an audit asks of any replica, `replica_log` a replica in a data directory, `checkpoints`
reads checkpoint files, `compaction` what they say of it, `data_dir` says whose directory it is.
"""
