"""A voter or observer of the metadata log's quorum: Kafka's Raft (KIP-595, 630, 853, 996), as a core.

- `ids`, `config`, `messages`: replica keys and snapshot ids, the settings, what all requests have in common
- `voters`, `control_records`, `election_state`: the voter sets, the control records that hold them, the file
  quorum-state
- `epoch_states`, `epoch_election`, `progress_tracker`: Kafka's `EpochState` of each state, the votes of one election,
  how far each replica has fetched from the leader
- `quorum_state`: Kafka's `QuorumState`: the current epoch state and the transitions between epoch states
- `elections` (Vote), `quorum_epochs` (BeginQuorumEpoch, EndQuorumEpoch), `leader` (append, commit, check-quorum),
  `fetch_requests` (answers Fetch), `fetch_snapshot_requests` (answers FetchSnapshot), `log_fetcher` (sends Fetch),
  `snapshot_fetcher` (sends FetchSnapshot), `voter_requests` (answers AddRaftVoter, RemoveRaftVoter, UpdateRaftVoter),
  `voter_changes` (carries the changes out), `auto_join` (sends those requests), `describe_quorum` (answers
  DescribeQuorum)
- `raft_client`: Kafka's `KafkaRaftClient`, which passes each event on to these modules
"""
