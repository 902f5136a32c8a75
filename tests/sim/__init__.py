"""Whole federations of the real cores on virtual time, with seeded faults: `python -m tests.sim --seed 7`.

world           virtual time, coroutines of clients, the trace and its hash
scenario, storms what may go wrong in a run, drawn from its seed; and who makes it go wrong
disks, files    a disk that forgets, fills up, refuses and kills in mid-step; `stored_file`: one file of it; `replacing`
network         pipes that are slow, blocked, cut, half-open
nodes           a process over a disk: the cores, hosted as the shells host them; its listeners, links and peers
clients         bytes on a connection; producers, readers, members of groups, a foreign writer, an operator
statements      what clients were told
evidence        what disks hold, and everything that was ever written
checking, checks one checker a promise, which sees the two above and nothing else
runs            faults, then calm, then the verdict
regions         the same for one region of several nodes: `python -m tests.sim --region --seed 7`
"""
