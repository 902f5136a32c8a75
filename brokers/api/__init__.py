"""One file per Kafka API: a wire message in, calls on cores, a reply (now or parked) out.

Each module gives `KEY`, `VERSIONS` (what we advertise) and `handle(context, request, now) -> effects`;
`versions` gathers them. `context` is what a handler may touch.
"""
