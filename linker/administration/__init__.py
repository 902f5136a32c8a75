"""What operators ask of links, and the answers.

- `administration`: routes each command; `reading`: those that change nothing
- `link_administration`: links; `link_listing`: all of them; `registry`: finds links and mirrors by name
- `mirror_creation`: makes mirror topics; `mirror_queries`: what there are
- `mirror_changes`: pause, resume, promote, failover, reversals and cancel of mirror topics; `reversal_dry_runs`: what
  the source would refuse
- `restore_administration`: truncate-and-restore, with `each_topic`
- `taken_over`: topics that another region has taken over; `unfencing`: they are written here again
- `transitions`: what mirror topics are in the middle of
- `status`: the descriptions of both; `replicas`: replicas of the region's own partitions
- `forecast`: what a failover would cost; `drift`: how mirrors differ from their sources
- `operation_log`: what of all that is in the operator log
- `known_names`: refuses names that this region does not know
- `lineage_facts`: where a topic's records come from
- `holds`: what this region keeps for mirrors in others; `destinations`: which regions mirror its topics
- `region_facts`: what an audit must know of the region
"""
