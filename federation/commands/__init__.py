"""The commands of `causeway`, one module or package per command group; `federation.cli` names them.

`addresses`               options that name a region, and their exit codes
`on_demand`               commands that are imported when they are used
`answers`                 how a command prints its result: a table or a sentence, or one JSON object
`outcomes`                what a request did to each of its items
`each_broker`             questions that each broker of a region answers for itself
`topic_names`             the names of topics, as arguments or as `--topics A,B`
`numbers`                 bounds of the numbers that commands take
`watching`                `--watch`: a result again and again
`node`, `local`, `demo`   a node in the foreground; a federation on one machine; the demo
`completion`              completion with the Tab key, in bash, zsh and fish
`region`                  brokers, topics, partitions, elections; the connection and options of commands about a region
`topic`                   `causeway topic`, as `kafka-topics` and `kafka-configs`
`group`                   `causeway group`, as `kafka-consumer-groups`
`metadata`                `causeway region metadata`: backups, and a quorum that is begun anew
`reassign`                `causeway region reassign`, as `kafka-reassign-partitions`
`replica`                 `causeway replica status`, as `kafka-replica-status`
`link`                    cluster links and mirror topics, over a region's admin endpoint
`lineage`                 `causeway lineage`: which region wrote what
`orphans`                 `causeway orphans`: what was removed from an old primary
`lost`                    `causeway mirror lost`: what a failover lost
`audit`                   `causeway audit`: the command line of the outside witness
"""
