"""What others build on Kafka's clients: Connect, Streams and MirrorMaker 2, unmodified, at regions of ours.

They keep their state in compacted topics that they create themselves, are killed, and go on from it. None of them may
need transactions, which these brokers don't have: all run with at-least-once. Skipped, with the reason, where Java or
Maven is missing.
"""
