"""What all coordinators of internal topics share (Kafka's coordinator-common).

- `runtime`: loads, runs and unloads one coordinator; `effects`: what it asks of the runtime
- `coordinators`: all of a node
- `loader`: replays a partition, and `load_times`, how long that took; `partition_writer`: appends to it
"""
