"""Everything of a node that awaits or makes system calls.

The process: `process` (a node from its settings to its end), `settings` (the file of these), `binding` (its ports),
`node` (the loop that feeds the core), `backlog` (work on many logs, in slices), `clock`, `memory`, `logs` (the log for
operators), `log_levels`.

Connections: `server` (all of them), `connection` (one client), `request_buffer` (bytes to frames), `receive_threshold`
(how many bytes wake the loop), `response_writer` (responses to the socket), `sending` (files to the socket), `room`
(sockets that were full), `recompressing` (batches of another codec than their topic's, before the node gets them),
`peers` (requests to other nodes).

Disks: `disks` (the log directories), `stopped_metadata` (the metadata log of a node that does not run), `identity`
(meta.properties and locks), `files` (system calls), `handles` (open files), `appending`, `replacing`, `preallocation`,
`streams` (files that threads read or write), `unlinking`, `cleaners`, `cleaner_process`, `reading_ahead`,
`syncing_behind` and `cleaner_jobs` (compaction), `refusals` (errors of system calls).

Monitoring: `http`, `metrics` (the page), `health`, `meter` (times each request), `timed_request` (one of them),
`slow_requests` (their log), `process_stats`.
"""
