"""`causeway mirror lost`: the records that a failover lost, as far as anybody still has them.

- `lost`: the command
- `search`: looks for them in the old primary's logs and in its orphan stores
- `sealing_records`: what the old primary's hole ledger and operator log say of its orphan tails
- `coverage`: whether all is found, by offsets
"""
