"""What a region agrees on, as of one offset of its metadata log (Kafka's MetadataImage), and its records.

- `image`: the state; `replay` is the only code that changes it; `difference` compares two images
- `broker_records`, `controller_records`, `partition_records`: parts of the image to and from their records
- `record_serde`: one record to and from bytes (KIP-631); `record_batches`: many, in a batch of the log
- `snapshot`: the image as a checkpoint file (KIP-630); `broker_epochs`: refuses stale broker epochs
"""
