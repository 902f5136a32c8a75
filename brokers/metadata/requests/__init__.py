"""Commands that are decided on another node than the one that gives them, as requests (`brokers.wire`) and back.

A command that an upper layer or a broker of this process submits has exactly one request that carries it. All functions
are pure. What other nodes send is checked here as far as its form goes: `Refusal` INVALID_REQUEST for a value that no
command can have.

- `conversion`: what the conversion of a command consists of, and how a `Refusal` travels
- `topics`: CreateTopics, which is Kafka's request; growing and deleting the topics of a link
- `mirrors`: creating mirror topics, handing over their writer, raising leader epochs
- `configs`, `documents`: settings that a link keeps in step; what upper layers store in the metadata log
- `conversions`: all of them, by command and by API key
"""
