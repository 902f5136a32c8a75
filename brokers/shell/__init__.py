"""Everything of a node that awaits or touches the machine.

The process: `process` (a node from its settings to its end), `binding` (its ports), `node` (the loop that feeds the
core), `backlog` (work on many logs, in slices), `clock`, `memory`, `logs` (what it says to operators).

Connections: `server` (all of them), `connection` (one client), `request_buffer` (bytes to frames), `response_writer`
(responses to the socket), `sending` (files to the socket), `room` (sockets that were full), `peers` (requests to other
nodes).

Disks: `disks` (the log directories), `identity` (whose they are), `files` (system calls), `handles` (open files),
`appending`, `streams` (files that threads read or write), `refusals` (what the system refused).

Watching: `http`, `metrics` (the page), `health`, `meter` (times each request), `process_stats`.
"""
