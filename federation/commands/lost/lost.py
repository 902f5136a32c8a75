"""`causeway mirror lost`."""

from typing import Any

import click
from rich.table import Table

from federation.commands.addresses import AddressList
from federation.commands.answers import Failure, answer, end, screen, show_table
from federation.commands.link.region_admin import refusal
from federation.commands.link.times import instant
from federation.commands.lost.search import Losses, LostRecord, Search
from federation.commands.numbers import INT32_MAX
from federation.commands.orphans import formats
from federation.commands.region.bootstrap import bootstrap_options, region_at
from linker.shell.administrator import Administrator, Unreachable, find_endpoint
from linker.shell.discovery import DiscoveryError
from linker.wire.v1 import admin_pb2 as pb

LOWER_BOUND_EXIT = 3
UNREACHABLE_EXIT = 4


@click.command()
@click.argument("topic")
@click.option("--decision", "decision_id", default="", help="Not the last one of the topic.")
@click.option(
    "--source-bootstrap-server",
    "source",
    type=AddressList(),
    metavar="HOST:PORT[,...]",
    help="Kafka addresses of the old primary. Without it: the link's bootstrap.servers.",
)
@click.option(
    "--limit",
    type=click.IntRange(0, INT32_MAX),
    default=100,
    show_default=True,
    help="Show at most so many records.",
)
@bootstrap_options
def lost(
    bootstrap: str, topic: str, decision_id: str, source: str | None, limit: int, as_json: bool
) -> None:
    """List the records of TOPIC that its last promotion or failover in this region cut off.

    The old primary is asked for what it committed beyond the cut, in its logs and in its orphan stores, so the
    list is exact once it answers. Before that, what was known at the cut is a lower bound, and the exit code is 3.
    So it is where records are gone by now: by retention, or with an orphan tail that was discarded.
    A record is "present" or "resent" where this region has the same content by now, and "replayed" where `causeway
    orphans replay` has appended it to the topic: it counts as lost all the same.
    """
    decision, source_topic, servers = _decision(bootstrap, topic, decision_id)
    silent, found = "", None
    try:
        old = source or servers
        cluster_id = _check_source(old, decision)
        search = Search(old, cluster_id, bootstrap, source_topic, topic)
        found = search.run(decision.cut.partitions, limit)
    except Failure as failure:
        if failure.exit_code != UNREACHABLE_EXIT:
            raise
        silent = failure.message
    result = _result(decision, found, silent)
    answer(result, as_json, lambda: _show(result, found))
    if not result["is_exact"]:
        end(LOWER_BOUND_EXIT)


def _decision(bootstrap: str, topic: str, decision_id: str) -> tuple[Any, str, str]:
    """The decision, the name of the topic at the source, and where the link finds the source. Raises Failure."""
    try:
        endpoint = find_endpoint(bootstrap)
        with Administrator(endpoint) as administrator:
            reply = administrator.ask("ListDecisions", pb.ListDecisionsRequest(topic=topic))
            if reply.HasField("error"):
                raise refusal(reply.error)
            decision = _chosen(reply.decisions, topic, decision_id)
            request = pb.LinkRequest(link_name=decision.link_name)
            configs = administrator.ask("DescribeLinkConfigs", request).configs
    except (DiscoveryError, Unreachable) as error:
        raise Failure(str(error), exit_code=UNREACHABLE_EXIT) from error
    settings = {one.name: one.value for one in configs}
    prefix = settings.get("cluster.link.prefix", "")
    return decision, topic.removeprefix(prefix), settings.get("bootstrap.servers", "")


def _chosen(decisions: Any, topic: str, decision_id: str) -> Any:
    known = [one for one in decisions if decision_id in ("", one.decision_id)]
    if not known:
        wanted = f"no decision {decision_id}" if decision_id else "no decision"
        raise Failure(
            f"{wanted} about {topic} in this region",
            hint="`causeway mirror decisions` lists those there are",
        )
    return known[-1]


def _check_source(old: str, decision: Any) -> str:
    """-> its cluster id. Raises Failure, with UNREACHABLE_EXIT where nobody answers."""
    if not old:
        raise Failure(
            f"link {decision.link_name} names no addresses of the source",
            hint="give --source-bootstrap-server",
            exit_code=UNREACHABLE_EXIT,
        )
    cluster_id = region_at(old).cluster_id
    if decision.origins and cluster_id != decision.origins[0]:
        raise Failure(
            f"{old} is region {cluster_id}; the topic was mirrored from {decision.origins[0]}",
            hint="give --source-bootstrap-server of the old primary",
        )
    return cluster_id


def _result(decision: Any, found: Losses | None, silent: str) -> dict[str, Any]:
    known = max(decision.known_missing, 0)
    if found is None:
        cut = [
            {"partition": one.partition, "cut_offset": one.offset, "because": silent}
            for one in decision.cut.partitions
        ]
        return _head(decision, known, None, silent) | {"partitions": cut, "records": []}
    partitions = [
        {
            "partition": one.partition,
            "cut_offset": one.cut_offset,
            "lost_records": one.records,
            "unique_records": one.unique,
            "replayed_records": one.replayed,
            "missing_offsets": one.missing,
            "because": one.because,
        }
        for one in found.partitions
    ]
    because = found.because
    lost_records = max(known, found.lower_bound) if because else found.records
    records = [_as_json(one) for one in found.shown]
    head = _head(decision, lost_records, found.replayed, because)
    return head | {"partitions": partitions, "records": records}


def _head(decision: Any, lost_records: int, replayed: int | None, because: str) -> dict[str, Any]:
    """`replayed`: of those that are found; None where none is looked for."""
    return {
        "topic": decision.topic,
        "decision_id": decision.decision_id,
        "kind": decision.kind,
        "cut_at_ms": decision.cut.at_ms,
        "is_exact": not because,
        "because": because,
        "lost_records": lost_records,
        "replayed_records": replayed,
    }


def _as_json(one: LostRecord) -> dict[str, Any]:
    where = {"partition": one.partition, "held_in": one.held_in}
    return where | formats.as_json(one.orphan, one.found)


def _show(result: dict[str, Any], found: Losses | None) -> None:
    what = f"{result['kind']} {result['decision_id']} of {result['topic']}"
    if result["is_exact"]:
        screen().print(f"{what} lost {result['lost_records']} records{_replayed(result)}.")
    else:
        because = result["because"] if found is None else "not all of them are found"
        count = f"{result['lost_records']} records{_replayed(result)}"
        screen().print(f"{what} lost at least {count}: {because}.")
        if found is None or found.is_silent:
            screen().print("Ask again when the old primary answers.")
    for one in result["partitions"]:
        if one["because"] and found is not None:
            screen().print(f"Partition {one['partition']}: {one['because']}", soft_wrap=True)
    if found is not None and found.shown:
        _show_records(found)


def _replayed(result: dict[str, Any]) -> str:
    count = result["replayed_records"]
    return f", {count} of which were replayed to the topic since" if count else ""


def _show_records(found: Losses) -> None:
    table = Table("Partition", "Offset", "Time", "Class", "HeldIn", "Key", "Value")
    for one in found.shown:
        record = one.orphan.record
        table.add_row(
            str(one.partition),
            str(record.offset),
            instant(record.timestamp),
            one.found.value,
            one.held_in,
            formats.short(record.key),
            formats.short(record.value),
        )
    show_table(table)
    left = found.records - len(found.shown)
    if left:
        screen().print(f"{left} more: --limit")
