"""A voter or observer of the metadata log's quorum: Raft in Kafka's dialect (KIP-595, 630, 853, 996), as a core.

- `ids`, `state`, `voters`, `control`, `config`: what there is, and what of it lies on the disk
- `roles`, `ballot`, `progress`: what a member is just now, with what each role has to remember
- `member`: what all rooms stand on, and the changes from one role to another
- `voting` (Vote), `announcing` (BeginQuorumEpoch, EndQuorumEpoch), `leading` (append, commit, check-quorum),
  `serving` (answers Fetch), `handing_out` (answers FetchSnapshot), `following` (sends Fetch), `downloading` (sends
  FetchSnapshot), `changes` (AddRaftVoter and its kin), `joining` (asks for them), `describing` (DescribeQuorum)
- `raft`: all of it behind one door, which routes and owns no rule
"""
