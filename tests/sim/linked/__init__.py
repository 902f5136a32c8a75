"""Federations of regions of several nodes, in bad weather.

- `federation`: two regions, their network, and what is checked at each write to a mirror
- `operators`: makes the topic, the link and the mirror, and ends it
- `checks`: what must be true at the end; `runs`: one run of one seed; `restores`: with the way back
- `plants`: bugs that the simulator has to find
"""
