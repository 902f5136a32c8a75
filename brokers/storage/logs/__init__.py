"""One open log.

`local_log`: its segments. `reads`: ranges of the open logs. `timestamps`: offsets by timestamp. `rolling`: the next
segment. `truncation`: the removal of a log's end. `orphans`: ends of logs that are sealed before. `discarding`: of
those that an operator discards. `appends`: what is written at the end of the open logs. `writing`: appends that a
worker thread writes. `syncing`: fsyncs that a worker thread does. `digests`: sealed segments that wait for their
digest. `saving_behind`: leader epochs and indexes that are written later. `failed_syncs`: logs of which an fsync has
failed.
"""
