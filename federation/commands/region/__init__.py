"""`causeway region`: a region described, and elections.

`view` has the commands, `description` the region as one of its brokers describes it, `requests` the Kafka requests that
make a description, `elect` the elections of `kafka-leader-election`.
"""
