"""Replication between brokers (Kafka's Fetch of followers).

    a follower      `replica_fetcher_manager` has one `replica_fetcher` a leader, which fetches in lanes (`fetch_lane`),
                    each with a fetch session (`fetch_session_handler`); `partition_fetch` is one fetched partition
    a leader        `fetch_sessions` hold what each follower fetches, `follower_fetches` begins a Fetch request,
                    `fetch_validation` checks it, `delayed_fetch` answers it; `isolation` detects that the controller
                    does not answer
    the controller  `alter_partition_manager` sends it changes of in-sync sets (AlterPartition)
    clients         `replica_selector` finds the closest replica (KIP-392); `current_leader`, `next_leader` and
                    `offline_replicas` are in responses to clients

`replication_quota` throttles replicas that catch up (KIP-73), `settings` are the node's settings, `host` is what this
package needs of a node, `replica_manager` holds all of it for one node. One replica is in `brokers.partition`.
"""
