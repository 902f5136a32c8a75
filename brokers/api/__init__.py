"""Kafka's APIs, one file each; `versions` lists which listener serves which.

Each file gives `KEY`, `VERSIONS` (first and last that are advertised) and a handler: a class that receives what it uses
by its constructor and answers with `handle(request, now) -> effects`. `ports` names what handlers use of their node.
"""
