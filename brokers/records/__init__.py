"""Kafka's RecordBatch v2, opaque wherever possible.

`batch` (headers: all that the byte path reads), `builder` (makes batches), `record` and `compression` (read records),
`recompression` (a batch in another codec).
"""
