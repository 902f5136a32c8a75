"""What a node knows of one partition's log, and what it decides about it. Pure: files are the business of `storage`.

`config`: the settings of one log. `segments`: what is known of a segment. `epochs`: leader epochs and their offsets.
`producers`: idempotent producers and their last batches. `snapshots`: producers as the bytes of a `.snapshot` file.
`recovered`: what recovery found of a log. `log`: the log itself.
"""
