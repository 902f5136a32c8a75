"""Log compaction (KIP-58, KIP-354, KIP-534): the byte work, and how its result gets into a log.

`cleaning_plan`: what is to be cleaned, as a value. `batch_reading`: whole batches of a file, many at a time, their
headers as `batch_columns`. `transaction_rules`: which batches belong to aborted transactions. `offset_map`: the last
offset of each key, by its `key_hashes`; `last_records`: which offsets are such; `record_sizes`; `key_mapping`
fills them.
`batch_filter`: what is left of the batches of a chunk, as `left_batches`; `batch_rebuilding` makes those that change.
`cleaned_writing`: writes a cleaned segment beside those that it replaces; `cleaned_group` chooses them. `log_cleaning`:
one cleaning, in small steps, in any thread or process. `swapping`: puts a cleaned segment in place, and completes that
after a crash. `cleanings`: those of the open logs of a directory.

A cleaning reads the dirty part of a log once, to learn the last offset of each key, then everything up to its end, and
writes what is kept of neighbouring segments into one. It changes no file of the log: each finished segment is handed to
the log's own thread, which swaps it in, the oldest first, so that no deletion marker goes before what it deleted.
"""
