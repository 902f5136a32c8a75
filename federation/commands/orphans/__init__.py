"""`causeway orphans`: what an old primary had beyond the cut of a failover, sealed before it was truncated.

- `orphans`: the commands; `formats`: records as tables, JSON and files
- `stores`: the stores of all brokers of a region; copies of one tail on several brokers are one
- `reading`: a tail's files, with their checksums, and its records
- `topics`: reads and writes a topic in Kafka's protocol
- `classes`: which records of a tail the region that took over has, too
- `provenance`: where a replayed record came from, and which orphans a topic has by that
- `replay`: appends a tail's records to a topic, each once
"""
