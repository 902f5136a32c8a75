"""One open log.

`local_log`: its segments. `reads`: ranges of the open logs. `timestamps`: offsets by timestamp. `truncation`: the
removal of a log's end. `writing`: appends that a worker thread writes. `syncing`: fsyncs that a worker thread does.
`failed_syncs`: logs of which an fsync has failed.
"""
