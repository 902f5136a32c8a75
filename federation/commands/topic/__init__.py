"""`causeway topic`: creates, changes, deletes and describes topics, as `kafka-topics` and `kafka-configs` do.

- `command`: the commands; `changes`: those that change topics
- `options`: what their options mean: configurations, replica assignments, placements, expressions of names
- `requests`: the Kafka requests that change topics
- `description`: topics with their partitions and configurations, as tables and as JSON
"""
