"""What a region agrees on: records of one log, decided by one controller, kept by a quorum. Lowest layer first:

- `commands`: what one may ask; `image`: the state and its records; `configs`: keys and values
- rules, which turn a command and an image into records: `partitions`, `topics`, `cluster`, `replicas`
- `requests`: commands to and from the requests that carry them between nodes
- `controller`: hands commands to the rules; `log`: this node's part in the log itself
"""
