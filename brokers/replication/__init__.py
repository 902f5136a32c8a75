"""How the replicas of a partition on different brokers become equal (Kafka's Fetch between brokers).

    a follower      `replica_fetcher_manager` has one `replica_fetcher` a leader, which fetches in lanes (`fetch_lane`),
                    each with a fetch session (`fetch_session_handler`); `partition_fetch` is one fetched partition
    a leader        `fetch_sessions` hold what each follower fetches, `follower_fetches` begins a Fetch request,
                    `fetch_validation` checks it, `delayed_fetch` answers it; `isolation` detects that the controller is
                    out of reach
    the controller  `alter_partition_manager` sends it changes of in-sync sets (AlterPartition)
    clients         `replica_selector` finds the closest replica (KIP-392); `current_leader`, `next_leader` and
                    `offline_replicas` are what a response says of leaders and replicas

`replication_quota` throttles replicas that catch up (KIP-73), `settings` are the node's settings, `host` is what this
package needs of a node, `replica_manager` is all of it for one node. The rules of one partition are in
`brokers.partition`.
"""
