"""Kafka's RecordBatch v2: `batch` headers, which is all the byte path reads; `builder`; `record` opens batches."""
