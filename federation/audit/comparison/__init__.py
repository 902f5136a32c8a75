"""One unit of both sides compared.

`unit` is what is compared: one offset range on every replica; `fetched_copies` brings copies that are on brokers into
files. `compare` does one unit: `digests` is the fast path (equal bytes), `differences` the slow path of two copies:
`merge` aligns their batches by offset, `classify` names a difference. What compaction may have
changed is compared `by_key`; `kept_records` are those of which a replica missed the deletion marker.
`findings` has the classes and severities.
"""
