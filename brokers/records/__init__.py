"""Kafka's RecordBatch v2, opaque wherever possible.

`batch` (headers: all that the byte path reads), `builder` (batches of our own), `record` and `compression` (open one).
"""
