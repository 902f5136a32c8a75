"""One region of several nodes under faults: `python -m tests.sim --region --seed 7`.

scenario, storms   how the region is built and what may go wrong, drawn from the seed; and who makes it go wrong
keepers           whose disk a storm must spare
cluster           the nodes, their disks and the evidence about them
routes            how a client of a region finds who leads
racks             where brokers stand, and which of them only observe
producers, readers, members, admins, electors   the clients
statements        what clients were told
checking, checks  the invariants of a region, judged by what clients were told and what disks hold, never by the cores
inspection        whether all is well again, as clients and disks show it
runs              faults, then healing within bounded time, then the verdict
"""
