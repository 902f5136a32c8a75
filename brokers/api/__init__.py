"""Kafka's APIs, one file each; `versions` lists which listener serves which.

Each file gives `KEY`, `VERSIONS` (first and last that are advertised) and a handler: a class that receives what it uses
by its constructor and answers with `handle(request, now) -> effects`. A handler of what only the active controller
decides has `serve` and `refusal` instead (`ports.ControllerApi`): brokers forward those requests to it. `ports` names
what handlers use of their node; `link_requests` answers APIs of our own.
"""
