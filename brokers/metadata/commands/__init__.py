"""What one may ask of the controller: `commands`, `broker_commands`, `replica_commands`.

`decision` is what a rule answers: records, and the result to tell once they are committed.
"""
