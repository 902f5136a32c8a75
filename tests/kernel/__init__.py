"""What all hosts of cores in tests share: they play the shell, in virtual time and without I/O.

- `timeline`: virtual time, what happens when, and an alarm for a core's deadline
- `process`: steps a core, has a storage do what can be done there, and feeds back what comes of it
- `background`: what else a process does with its files
- `requests`: what a client asks, as its bytes arrive, and the answers, as it reads them
- `exchange`: questions between nodes, each of which is answered once
- `planted_faults`: what raises where nobody meant it to
"""
