"""`causeway region unregister`: forgets a broker that will not come back (KIP-631)."""

from typing import Final

import click

from brokers.errors import KafkaError
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.broker_lifecycle import UnregisterBrokerRequest
from federation.commands.answers import Failure, answer
from federation.commands.numbers import INT32_MAX
from federation.commands.outcomes import next_step, reason_of
from federation.commands.region.bootstrap import bootstrap_options, connect
from federation.commands.region.description import RegionDescription
from federation.commands.region.requests import describe_region

_HINTS: Final = {
    KafkaError.BROKER_ID_NOT_REGISTERED: "`causeway region brokers` shows those that are registered"
}


@click.command()
@click.argument("broker", metavar="BROKER", type=click.IntRange(0, INT32_MAX))
@click.option("--force", is_flag=True, help="Although it runs, or has replicas.")
@click.option("--dry-run", is_flag=True, help="Check only: say what would be done, or why not.")
@bootstrap_options
def unregister(bootstrap: str, broker: int, force: bool, dry_run: bool, as_json: bool) -> None:
    """Forget a broker that will not come back. It is registered again when it starts.

    Refused, unless forced, while the broker is active, or has replicas: they would be missing for good.
    """
    with connect(bootstrap) as client:
        found = describe_region(client, asks_quorum=True)
        if not force:
            _check(found, broker)
        if not dry_run:
            response = client.ask(
                ApiKey.UNREGISTER_BROKER, UnregisterBrokerRequest(broker_id=broker)
            )
            if response.error_code:
                hint = next_step(
                    [response.error_code], _HINTS, "look at the active controller's log"
                )
                raise Failure(
                    f"broker {broker} is not unregistered: {reason_of(response)}", hint=hint
                )
    is_voter = found.quorum is not None and found.quorum.voter(broker) is not None
    result = {
        "unregistered": None if dry_run else broker,
        "is_voter": is_voter,
        "validate_only": dry_run,
    }

    def show() -> None:
        click.echo(f"broker {broker}: {'would be ' if dry_run else ''}unregistered")
        if is_voter:
            click.echo(f"Next: it is a voter still; `causeway region voters remove {broker}`")

    answer(result, as_json, show)


def _check(found: RegionDescription, broker: int) -> None:
    known = next((each for each in found.brokers if each.id == broker), None)
    if known is None:
        # A region whose brokers do not tell of fenced ones may have it all the same.
        if any(each.fenced is None for each in found.brokers):
            return
        ids = ", ".join(str(each.id) for each in found.brokers)
        raise Failure(f"broker {broker} is not registered", hint=f"brokers there: {ids}")
    if known.fenced is False:
        raise Failure(f"broker {broker} is active", hint="stop it first, or give --force")
    held = [each for each in found.partitions if broker in each.replicas]
    if held:
        others = ",".join(
            str(each.id) for each in found.brokers if each.id != broker and not each.fenced
        )
        topics = ",".join(dict.fromkeys(each.topic for each in held))
        raise Failure(
            f"broker {broker} has replicas of {len(held)} partitions, such as {held[0].topic}-{held[0].partition}",
            hint=f"move them first: `causeway region reassign generate --topics {topics} --broker-list {others}`;"
            " or give --force",
        )
