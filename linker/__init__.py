"""Between regions: cluster links, which keep mirror topics equal to their source, byte for byte, offset for offset.

A link promises P2 (same bytes, same offsets), P4 (nobody else writes), P6 (group offsets never point past the mirror's
data) and P8 (every hole is in the ledger). It knows a region through `brokers.region` only.

    linker      the one door: events in, effects out; routes, owns no rule
    desk        what every core here may use: the region's view, timers, questions that wait for an answer
    frames      what travels on the stream between two regions
    link, mirror        states as tables, and what the metadata log remembers of each
    session     who is at the other end of a stream
    source      sending side: which committed range goes next, within credit
    destination, feed   receiving side: a link that lives here, and one mirror partition
    lineage     where two leader-epoch histories agree
    topics      what a mirror topic should look like, following its source
    groups      consumer-group offsets, never past the mirror's data
    holes, lag  what is missing for good, and what is missing for now
    stopping    promote and failover: the cut
    admin, administration, status      what operators ask, and what they are told
    wire/       protobuf, in and out; wire/v1 is generated
    shell/      everything that awaits: gRPC server and client, discovery
"""
