"""What operators ask of links, and the answers.

- `administration`: hands each command to what carries it out
- `link_administration`, `mirror_administration`: links, mirror topics; `registry`: finds those that are named
- `status`: what is shown of both; `replicas`: replicas of the region's own partitions
- `region_facts`: what an audit must know of the region
"""
