"""`causeway region`: describes a region, and elects leaders.

- `view`: the commands; `elect`: the elections of `kafka-leader-election`
- `description`: the region as one of its brokers describes it; `requests`: the Kafka requests that make a description
- `partition_rows`: a partition as text and as JSON
- `configs`: configurations of any resource, described and changed
- `quorum`: the metadata quorum and the losses it survives; `voters`: the commands that change who votes
- `unregister`: forgets a broker; `history`: the operator log; `log_level`: what brokers log
- `features`: shows and raises levels of features, as `feature_levels` finds them
- `config_check`: what becomes of each key of a node's file
- `disks`: log directories that failed or are short of space
- `client`: a connection to one broker of a region; `bootstrap`: the options that name a region, and the error of a
  command that gets no answer
"""
