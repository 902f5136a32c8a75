"""The outside witness: do two regions hold the same thing? Read from what is stored, never from what they say.

It shares Kafka's formats with the system it audits, and none of its code. In reading order:

`read` segment bytes to batches; `logs` a replica's files; `checkpoints`, `ask`, `cut` which offsets an audit speaks
for; `plan` units and tasks; `digests` the fast path; `merge`, `classify`, `records` the slow path; `compare` one unit,
both paths; `findings`, `settle`, `holes` what was found; `lag`, `verdicts` what it means; `jobs` (Spark) and `pool`
(this machine's processes) the two engines; `run` an audit from end to end; `tables`, `pictures`, `report` what it leaves
behind; `java` for Spark; `cli` the command.
"""
