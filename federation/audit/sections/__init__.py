"""What an audit judges beside the bytes of batches: each a section of the report with a verdict of its own.

`section` is the form of all, `judge` makes them: `leader_epochs` (each checkpoint against its replica's batches, and
against the other replicas), `producer_snapshots` (against the batches they name), `group_offsets` (none past the
mirror's data), `topics` (partition counts and configurations), `record_counts` (of the offsets that were compared).
`batch_headers` finds the batch that holds an offset.
"""
