"""The whole product once through: two regions, a link, an audit, a failover, and what it cost.

`flights` is the data, `producer` and `consumer` are the application (stock clients, nothing of ours), `regions` is the
operator (the same command line that anyone has), `accounts` works out the costs from what the application saw,
`screen` shows progress, `closing` the table at the end, `steps` is the story in order.
"""
