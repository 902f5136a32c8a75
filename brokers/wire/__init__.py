"""Kafka's wire protocol: bytes to and from messages, without state or I/O.

- `primitives` (varints, errors), `message` (the base of all messages)
- `schema/` (tables of all messages: names, types, versions), `tables` (parses these), `defaults` (of fields)
- `generate` (writes `messages/`, a module for each table, and the API keys): `python -m brokers.wire.generate`
- `layout` (the fields of a message at one version), `source` (generated Python source), `decoding` and `encoding`
  (functions for one message and version), `codec` (decodes and encodes every message), `frames` (headers and lengths)
"""
