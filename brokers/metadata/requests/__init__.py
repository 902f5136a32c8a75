"""Converts commands that another node decides to requests (`brokers.wire`) and back.

Each command that an upper layer or a broker of this process submits has exactly one API. All functions are pure. They
raise `Refusal` INVALID_REQUEST for a received value that no command can have.

- `conversion`: the parts of the conversion of a command, and that of a `Refusal`
- `topics`: CreateTopics, which is Kafka's request; growing and deleting the topics of a link
- `mirrors`: creating mirror topics, changing their writer, raising leader epochs; `mirror_batches`: of many topics
- `configs`, `documents`: configurations that a link copies; opaque records that links keep in the metadata log
- `operations`: what the operator log gets of links
- `conversions`: all of them, by command and by API key
"""
