"""Kafka's RecordBatch v2, opaque wherever possible.

`batch` (headers: all that the byte path reads), `builder` (makes batches), `record` and `compression` (read records),
`raw_records` (walks over many of them), `record_columns` (reads many at once), `recompression` (a batch in another
codec).
"""
