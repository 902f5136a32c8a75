"""The files of the logs, in Kafka's formats, through the `Files` port.

`segments`: the files of one segment. `directories`: the files of a log directory around the logs. `logs`: one open
log. `cleaning`: compaction. `recovery`: the opening of a log. `pending_work`: what the host is to do later. `storage`:
all logs of one log directory. `moving`: moves a log to another directory. `log_manager`: all log directories of a node.
"""
