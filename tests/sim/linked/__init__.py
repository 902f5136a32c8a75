"""Federations of regions of several nodes, under faults.

- `federation`: two regions, their network, and what is checked at each write to a mirror; `names`: what a mirror and
  its groups are called there
- `event_checks`: what else is checked when it happens: `reads` (P3), `removals` from logs and `sealings` (P5), `gaps`
  and `compacted_gaps` (P8), and `repeats` (P10); `known_offsets`: the highest that any node has known; `left_out`: what
  compacted logs were copied without; `starts_before`: where a log began before it is cut; `takeovers`: what a failover
  may cut
- `readers`: of regions that are taken over, and come back
- `operators`: makes the topic, the link and the mirror, and ends it
- `checks`: what must be true of a mirror at the end; `verdict`: of every region; `orphans`: reads orphan stores;
  `audits`: P11, what the audit says of the stopped regions
- `foreign_writers`: write to mirrors, which must be refused
- `runs`: one run of one seed; `restores`: with the way back; `reversals`: regions that change places; `holds`: with
  retention at the source
- `rounds`: both in turns, with a group of `followers`; `unclean`: a source with `usurpers`, which loses records, and
  may find them again (`lost_batches`)
- `fan_in`: two regions with a topic of one name, and a third one that mirrors both
- `windows`: a long path and a backlog, over which the windows of streams grow
- `returns`: a source that is taken over while it is down, and comes back
- `retention`: a source that removes what its mirror does not have yet, unless the link asks it to wait
- `transitions`: every verb of an operator that changes a link, a mirror or an old primary, and what must be so
  afterwards; `transition_runs`: one of them without faults; `steps`: a crash at one of its steps, or a process that
  stands still from there on; `everywhere`: at each
- what these operators do: `cancellations`: begun and taken back; `link_changes`: links that are paused, get another
  secret or make mirrors by themselves, and topics that are unfenced; `hold_changes`: retention holds; `hole_changes`:
  holes that are accepted; `cut_backs`: mirrors whose source has lost what they hold; `replays`: sealed tails that are
  written again; `discards`: tails that are discarded; `pending_failovers`: failovers in the middle of a reversal
- compacted topics: `--compacted` with these (`compacting_everywhere` of `scenario`)
- `plants`, `event_plants`, `transition_plants`: bugs that the simulator has to find
"""
