"""The demo: two regions, a link, an audit, a failover, what the failover cost, and the way back.

- `steps`: the steps in order; `screen`: their progress; `summary`: the table at the end
- `flights`: the data; `producer`, `consumer`: the application, with stock clients
- `network`: between the regions, until it is cut; `relay`: its process
- `regions`: the operator's part, by the services that the command line uses; `audit`: runs the audit
- `costs`: what the failover cost, from what the application saw
- `way_back`: the first region returns; `tail`: what it had beyond the cut, and its replay
"""
