"""`causeway region voters`: who votes in the metadata quorum, and changes of that (KIP-853)."""

from typing import Any, Final
from uuid import UUID

import click
from rich.table import Table

from brokers.errors import KafkaError
from brokers.ids import parse_id
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.cluster import DescribeClusterRequest
from brokers.wire.messages.quorum_voters import (
    AddRaftVoterRequest,
    RemoveRaftVoterRequest,
    VoterListener,
)
from federation.commands.answers import Failure, answer, screen, show_table
from federation.commands.numbers import INT32_MAX
from federation.commands.outcomes import next_step, reason_of
from federation.commands.region.bootstrap import bootstrap_options, connect
from federation.commands.region.client import QUICK_SECONDS, Client, NoAnswer
from federation.commands.region.quorum import (
    QuorumInfo,
    VoterState,
    describe_quorum,
    spare,
)

_TIMEOUT_MS: Final = 25_000
_CONTROLLERS: Final = 2  # endpoint type (KIP-919)
_DEFAULT_LISTENER: Final = "CONTROLLER"
_NO_LEADER_HINT: Final = (
    "most of the voters must run, for one of them to be elected; see `causeway region describe`"
)
_HINTS: Final = {
    KafkaError.REQUEST_TIMED_OUT: "see `causeway region voters describe`, then try again",
    KafkaError.UNSUPPORTED_VERSION: "finalize kraft.version 1 (kafka-features), then try again",
    KafkaError.DUPLICATE_VOTER: "`causeway region voters describe` shows the voters",
    KafkaError.VOTER_NOT_FOUND: "`causeway region voters describe` shows the voters",
}
_OTHERWISE: Final = "see `causeway region voters describe`, and the log of the active controller"


@click.group()
def voters() -> None:
    """Show who votes in the metadata quorum; add and remove voters, one at a time."""


force_option = click.option(
    "--force", is_flag=True, help="Leave out the checks of this command; the region has its own."
)
dry_run_option = click.option(
    "--dry-run", is_flag=True, help="Check only: say what would be done, or why not."
)
directory_option = click.option(
    "--directory-id",
    metavar="ID",
    help="As in the node's meta.properties; found by itself where it is known.",
)


@voters.command(name="describe")
@bootstrap_options
def describe_voters(bootstrap: str, as_json: bool) -> None:
    """Show voters and observers, how far each is behind, and how many losses the quorum survives."""
    with connect(bootstrap) as client:
        quorum = _quorum(client)
    rows = {
        "voters": [_document(each) for each in quorum.voters],
        "observers": [_document(each) for each in quorum.observers],
    }
    result = {
        "leader": quorum.leader,
        "leader_epoch": quorum.leader_epoch,
        "high_watermark": quorum.high_watermark,
        "survives_losses": max(0, quorum.spare),
        **rows,
    }
    answer(result, as_json, lambda: _show(quorum))


@voters.command()
@click.argument("node", metavar="NODE", type=click.IntRange(0, INT32_MAX))
@directory_option
@click.option(
    "--listener",
    metavar="[NAME://]HOST:PORT",
    help="Where the other voters reach it; found by itself where the controllers can be asked.",
)
@force_option
@dry_run_option
@bootstrap_options
def add(
    bootstrap: str,
    node: int,
    directory_id: str | None,
    listener: str | None,
    force: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Make a running controller a voter, once it has caught up.

    It must run with process.roles controller, and follow the quorum already. With 2 voters a quorum survives no more
    losses than with 1, and with 4 no more than with 3: add voters in pairs.
    """
    with connect(bootstrap) as client:
        quorum = _quorum(client)
        if quorum.voter(node) is not None:
            raise Failure(
                f"node {node} is a voter already", hint=_HINTS[KafkaError.DUPLICATE_VOTER]
            )
        directory = _directory(directory_id, node, quorum.observers)
        name, host, port = _listener(listener, node, quorum)
        after = spare(len(quorum.voters) + 1, len(quorum.away))
        _check(quorum, after, force=force)
        if not dry_run:
            request = AddRaftVoterRequest(
                cluster_id=None,
                timeout_ms=_TIMEOUT_MS,
                voter_id=node,
                voter_directory_id=directory,
                listeners=[VoterListener(name=name, host=host, port=port)],
            )
            _change(client, ApiKey.ADD_RAFT_VOTER, request, f"node {node} is not added")
    _done("added", node, after, len(quorum.voters) + 1, dry_run=dry_run, as_json=as_json)


@voters.command()
@click.argument("node", metavar="NODE", type=click.IntRange(0, INT32_MAX))
@directory_option
@force_option
@dry_run_option
@bootstrap_options
def remove(
    bootstrap: str,
    node: int,
    directory_id: str | None,
    force: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Remove a voter, one that is gone for good above all; what it has on its disk stays.

    Refused where what is left has no majority, or survives fewer losses than now, unless forced. A node that its
    settings name as a voter stays an observer once it was removed.
    """
    with connect(bootstrap) as client:
        quorum = _quorum(client)
        voter = quorum.voter(node)
        if voter is None:
            raise Failure(f"node {node} is no voter", hint=_HINTS[KafkaError.VOTER_NOT_FOUND])
        directory = _directory(directory_id, node, quorum.voters)
        left = len(quorum.voters) - 1
        if left == 0:
            raise Failure(f"node {node} is the last voter", hint="add another one first")
        after = spare(left, len(quorum.away) - voter.is_away)
        _check(quorum, after, force=force)
        if not dry_run:
            request = RemoveRaftVoterRequest(
                cluster_id=None, voter_id=node, voter_directory_id=directory
            )
            _change(client, ApiKey.REMOVE_RAFT_VOTER, request, f"node {node} is not removed")
    _done("removed", node, after, left, dry_run=dry_run, as_json=as_json)


# --- before ---


def _quorum(client: Client) -> QuorumInfo:
    if not client.serves(ApiKey.DESCRIBE_QUORUM):
        raise Failure(
            f"the broker at {client.address} knows no quorum", hint="this needs a region with KRaft"
        )
    found = describe_quorum(client.address)
    if found is None:
        raise Failure("the quorum has no leader that answers", hint=_NO_LEADER_HINT)
    return found


def _directory(given: str | None, node: int, known: tuple[VoterState, ...]) -> UUID:
    """The directory id of a node that fetches the metadata log. Raises Failure where it does not, or with several."""
    here = [each for each in known if each.id == node]
    found = [each.directory for each in here if each.directory]
    if here and not found and given is None:
        raise Failure(
            f"the directory of node {node} is not known: the quorum is static (kraft.version 0), or a voter is down",
            hint="start all voters; finalize kraft.version 1 (Apache Kafka: kafka-features); then try again",
        )
    text = given or (found[0] if len(found) == 1 else None)
    if text is None:
        because = "fetches with several directories" if found else "does not follow the quorum"
        raise Failure(
            f"node {node} {because}",
            hint="start it, with controller.quorum.bootstrap.servers or .voters that name this quorum;"
            " or give --directory-id, as its meta.properties has it",
        )
    try:
        return parse_id(text)
    except ValueError as error:
        raise click.UsageError(f"--directory-id: {error}.") from None


def _listener(given: str | None, node: int, quorum: QuorumInfo) -> tuple[str, str, int]:
    name = quorum.listener or _DEFAULT_LISTENER
    if given is None:
        return (name, *_registered(node, quorum))
    head, separator, rest = given.rpartition("://")
    host, colon, port = rest.rpartition(":")
    if not colon or not host or not port.isdecimal() or int(port) >= 1 << 16:
        raise click.UsageError(f"--listener {given!r} is not [NAME://]HOST:PORT.")
    return head if separator else name, host.strip("[]"), int(port)


def _registered(node: int, quorum: QuorumInfo) -> tuple[str, int]:
    """Where the controllers say that this one listens."""
    addresses = ",".join(each.endpoint for each in quorum.voters if each.endpoint)
    try:
        with Client(addresses, QUICK_SECONDS) as client:
            request = DescribeClusterRequest(endpoint_type=_CONTROLLERS)
            found = client.ask(ApiKey.DESCRIBE_CLUSTER, request)
    except NoAnswer as error:
        raise Failure(
            f"no controller can be asked where node {node} listens: {error}",
            hint="give --listener HOST:PORT",
        ) from error
    for each in found.brokers:
        if each.broker_id == node:
            return each.host, each.port
    raise Failure(
        f"node {node} is not registered as a controller",
        hint="start it with process.roles controller, or give --listener HOST:PORT",
    )


def _check(quorum: QuorumInfo, after: int, *, force: bool) -> None:
    """Raises Failure where no majority would be left, or fewer losses be survived, unless forced."""
    if force:
        return
    away = ", ".join(str(each.id) for each in quorum.away)
    if after < 0:
        raise Failure(
            f"the quorum could not go on: too few voters would be heard of (now away: {away or 'none'})",
            hint="bring back, or remove, the voters that are away first; --force leaves it to the region",
        )
    if after < quorum.spare:
        survived = f"the loss of {after}" if after else "no loss"
        raise Failure(
            f"the quorum would survive {survived} then, and {quorum.spare} now",
            hint="add another voter first; or, as a step on the way to that, give --force",
        )


# --- after ---


def _change(client: Client, key: int, request: Any, what: str) -> None:
    if not client.serves(key):
        raise Failure(
            f"{what}: the brokers do not know such changes", hint="this needs Kafka 3.9 or newer"
        )
    response = client.ask(key, request)
    if response.error_code:
        hint = next_step([response.error_code], _HINTS, _OTHERWISE)
        raise Failure(f"{what}: {reason_of(response)}", hint=hint)


def _done(verb: str, node: int, after: int, count: int, *, dry_run: bool, as_json: bool) -> None:
    result = {
        verb: None if dry_run else node,
        "voters": count,
        "survives_losses": max(0, after),
        "validate_only": dry_run,
    }

    def show() -> None:
        click.echo(f"node {node}: {'would be ' if dry_run else ''}{verb}")
        survives = f"survive the loss of {after}" if after > 0 else "survive no loss"
        click.echo(
            f"{count} voters{' then' if dry_run else ''} {survives}" if count > 1 else "1 voter"
        )

    answer(result, as_json, show)


def _document(voter: VoterState) -> dict[str, Any]:
    return {
        "id": voter.id,
        "directory": voter.directory,
        "endpoint": voter.endpoint,
        "lag": voter.lag,
        "silent_ms": voter.silent_ms,
        "is_away": voter.is_away,
    }


def _show(quorum: QuorumInfo) -> None:
    table = Table("Node", "Status", "DirectoryId", "Endpoint", "Lag", "LastFetch")
    for each, is_voter in [
        *((one, True) for one in quorum.voters),
        *((one, False) for one in quorum.observers),
    ]:
        status = "Leader" if each.id == quorum.leader else "Follower" if is_voter else "Observer"
        table.add_row(
            str(each.id),
            f"[red]{status}, away[/]" if is_voter and each.is_away else status,
            each.directory or "unknown",
            each.endpoint or "",
            "unknown" if each.lag is None else str(each.lag),
            "unknown" if each.silent_ms is None else f"{each.silent_ms} ms ago",
        )
    show_table(table)
    style = "green" if quorum.survives_a_loss else "red"
    screen().print(
        f"leader epoch {quorum.leader_epoch}, high watermark {quorum.high_watermark}: [{style}]{quorum.sentence}[/]",
        highlight=False,
        soft_wrap=True,
    )
