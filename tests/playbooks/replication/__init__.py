"""The replicas of one partition on several nodes: real cores and storage, a model controller, a bad network.

`world` runs time and messages, `node` hosts the cores of one broker, `controller` decides by Kafka's rules, `checker`
judges; `storms` puts them together, and `plants` are bugs for it to find.
"""
