"""Kafka's APIs, one file each; `versions` lists which listener serves which.

Each file gives `KEY`, `VERSIONS` (first and last that are advertised) and a handler: a class that receives what it uses
by its constructor and answers with "handle(request, now) -> effects". A handler of what only the active controller
decides converts the request to a command, and its result to a response: `controller_apis`.

`broker_loggers` answers what is asked of a node's loggers, which are its own. `ports` names what handlers use of their
node, `config_outcomes` is shared by both APIs that change configurations, `controller_mutation_quota`
bounds the creation of topics by Metadata requests, `link_requests` answers APIs of our own,
`quorum_requests` those of Raft, `recompressions` finds what of Produce requests a host may do beforehand.
"""
