"""One cluster link: configuration, state, metadata, transitions.

On every broker of the destination:

- `cluster_link`: a link; makes the parts below and passes on what happens
- `link_settings`: its record and configuration; `availability`: its state
- `source_brokers`: the streams to the source's brokers; `source_connection`: one of them
- `stream_requests`: the streams that a source that dials is asked for
- `mirror_topics`: its mirrors as the metadata log has them; `mirror_topic`: one;
  `topic_settings`: what its topic is made with
- `mirror_replicators`: the replicators of the partitions that this broker leads; `mirror_status`: what it knows of them
- `hole_policy`: whether a mirror skips what its source deleted too early, pauses, or fails
- `orphan_sealing`: what a restored topic has beyond its source, of the replicas that this broker holds
- `cut_clamp`: group offsets past a cut, of the groups that this broker coordinates; `group_clamp`: one attempt
- `hold_requests`: asks the source to keep what the mirrors do not hold yet

Of both ends: `connection`, which keeps a stream open that this end dials.

On the link coordinator:

- `mirror_reports`: what all brokers know of the mirror partitions that they lead; `look_pace`: how often they are asked
- `broker_questions`: the questions to them; `region_reports`: one to each for the mirrors of several links
- `failover`: promote and failover of a mirror topic, up to the cut; `mirror_handover`: after it
- `failover_phases`: the phases of both; `mirror_proof`: those in which a promotion or reversal is proved
- `writer_changes`: who writes a mirror topic from now on, if its record is still the one that was decided upon
- `reversing`: what a link tells its source of reversals; `reversal_checks`: what it asks it before
- `pending_mirror`: the source that becomes the mirror
- `restore`: truncate-and-restore of a topic; `divergence_cuts`: what it cuts, for the hole ledger
- `superseding`: tells the source what was taken over, and what is mirrored
- `stop_lists`: promotes, fails over and reverses several topics by one decision, whatever crashes
- `cancelling`: what is taken back before the cut
- `mirror_cut`: where a mirror topic is cut; `mirror_refusals`: why its state is not changed
- `group_sync`: consumer-group offsets, never past the mirror's data; `group_watch`: whose the source is asked for
- `ledger_retention`: how long the hole ledger outlives its topics
- `auto_mirrors`: mirrors that are created by themselves
- `source_topics`: which topics the source is asked about; `source_probe`: who it is, before a link is made

On every broker of the source:

- `source_fencing`: topics that a destination has taken over are read-only
- `source_destinations`: which regions mirror topics; `startup_wait`: for them, before writes are taken;
  `write_holds`: all that writes wait for
- `source_reversals`: topics that are to become the mirrors of their own mirrors
- `source_holds`: what retention leaves alone for mirrors in other regions
- `chained_lag`: how far a topic that is a mirror itself is behind its origin
- `source_link`: a link with which the source dials; `wanted_streams`: where to
- `source_stream`: the source's side of a stream
- `source_metadata`: the topics, groups and brokers that it sends; `older_destinations`: what some do not get
"""
