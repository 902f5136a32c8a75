"""Clients of other languages at a region of three nodes, whose leaders are killed and stopped under them.

`franz` (Go) and `kafkajs` (JavaScript) are programs that produce numbered values at a pace, read them back as a group
all the while, and say in lines of JSON what was acknowledged and what was read, as Kafka's verifiable tools do.
"""
