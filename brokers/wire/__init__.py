"""Kafka's bytes to messages and back; no state, no I/O.

`primitives` (varints, errors), `message` (what all messages share), `schema/` (our tables of every
message: names, types, versions), `tables` (reads them), `messages/` (generated: classes, one module
per table, and `api_keys`), `generate` (writes those: `python -m brokers.wire.generate`), `decoding` and `encoding`
(turn a table and a version into straight-line Python), `codec` (decode and encode anything),
`frames` (headers and lengths around it).

To add an API: describe it in a file of `schema/`, name a new file in `tables.FAMILIES`, regenerate.
"""
