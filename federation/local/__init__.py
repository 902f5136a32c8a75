"""A federation of processes on one machine, for trying things and for black-box tests.

`layout` says where things lie and what is remembered, `settings` writes a node's TOML once, `processes` starts and
stops nodes, `answering` asks one whether it answers, `federation` puts them together: up, status, down.
"""
