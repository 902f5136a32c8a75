"""How the replicas of a partition on different brokers become equal (Kafka's Fetch between brokers).

    a follower     `fetcher` asks one leader for all that it leads, in `lanes`; `asking` is what a session has listed,
                   `taking` what is done with an answer
    a leader       `sessions` remember what each follower asked for, `serving` answers with what is new
    the controller `proposals` carry changes of in-sync sets to it
    consumers      `selector` says which replica is the closest (KIP-392)

`replication` ties them to a node. The rules of one partition are in `brokers.partition`.
"""
