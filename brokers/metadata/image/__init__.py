"""The region's metadata as of one offset of the metadata log (Kafka's MetadataImage), and its records.

- `image`: the state; `replay`: applies records to an image, the only code that changes one
- `difference`: the delta between two images; `broker_epochs`: refuses stale broker epochs
- `broker_records`, `controller_records`, `partition_records`: parts of the image to and from their records
- `operation_records`: entries of the operator log to and from their records
- `record_serde`: one record to and from bytes (KIP-631); `record_batches`: batches of records
- `snapshot`: the image as a checkpoint file (KIP-630); `continuation`: one that a region begins with anew
"""
