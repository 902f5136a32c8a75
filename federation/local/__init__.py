"""A federation of processes on one machine, for trying things and for black-box tests.

- `federation`: up, status, down; `layout`: the files and the saved state
- `settings`: writes and reads the nodes' TOML; `processes`: starts and stops nodes; `answering`: whether a node answers
"""
