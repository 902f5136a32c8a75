"""The group coordinator between clients, a log and a clock: events in, effects out.

`world` hosts it, `transcript` runs the `.txt` files beside it and compares what they say.
"""
