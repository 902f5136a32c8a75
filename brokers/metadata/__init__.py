"""The metadata of a region: records of one log, written by one active controller, replicated by a quorum.

Lowest layer first:
- `commands`: the controller's commands; `image`: the state and its records; `configs`: configuration keys and values
- `partitions`, `topics`, `cluster`, `replicas`: rules that turn a command and an image into records
- `requests`: commands to and from the requests that carry them between nodes
- `controller`: passes commands to the rules; `log`: this node's replica of the metadata log
"""
