"""`causeway region reassign generate`: proposes a plan."""

from pathlib import Path

import click

from federation.commands.answers import Failure, answer
from federation.commands.numbers import INT16_MAX
from federation.commands.reassign import requests
from federation.commands.reassign.checks import brokers_of, named_topics
from federation.commands.reassign.log_dir_moves import current_directories
from federation.commands.reassign.log_dirs import cordoned_brokers, describe_log_dirs
from federation.commands.reassign.plan import (
    CURRENT,
    by_name,
    commas,
    plan_document,
    plan_text,
    replicas_of,
)
from federation.commands.region.bootstrap import bootstrap_options, connect
from federation.commands.region.requests import describe_region
from federation.commands.topic_names import topic_names


@click.command()
@click.option(
    "--topics-to-move-json-file",
    "path",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The topics to move.",
)
@topic_names()
@click.option(
    "--broker-list", metavar="1,2,...", required=True, help="The brokers that get the replicas."
)
@click.option("--disable-rack-aware", is_flag=True, help="Ignore racks.")
@click.option(
    "--replication-factor",
    "factor",
    type=click.IntRange(1, INT16_MAX),
    help="Replicas of each partition; the default is as many as it has.",
)
@click.option(
    "--save",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    help="Write the proposal to this file too.",
)
@bootstrap_options
def generate(
    bootstrap: str,
    path: Path | None,
    topics: tuple[str, ...],
    broker_list: str,
    disable_rack_aware: bool,
    factor: int | None,
    save: Path | None,
    as_json: bool,
) -> None:
    """Propose a plan: replicas spread over racks, hosts and brokers, or as each topic's placement requires.

    Among equally good plans, the command proposes one that moves few replicas. A broker whose disks are nearly full
    gets replicas only where no other one is left.
    """
    names = named_topics(path, topics)
    with connect(bootstrap) as client:
        found = describe_region(client, names)
        brokers = brokers_of(broker_list, found)
        cordoned = cordoned_brokers(each for each in found.brokers if each.id in brokers)
        proposed = requests.propose(
            client,
            found,
            brokers,
            minds_racks=not disable_rack_aware,
            factor=factor,
            cordoned=cordoned,
        )
    current = {name: each.replicas for name, each in by_name(found.partitions).items()}
    current_dirs = current_directories(describe_log_dirs(found.brokers, replicas_of(current)))

    def show() -> None:
        click.echo(f"{CURRENT}\n{plan_text(current, current_dirs)}\n")
        click.echo(f"Proposed partition reassignment configuration\n{plan_text(proposed, {})}")
        if cordoned:
            click.echo(f"\n{_cordoned_line(cordoned)}", err=True)

    if save is not None:
        _save(save, plan_text(proposed, {}))
    result = {
        "current": plan_document(current, current_dirs),
        "proposed": plan_document(proposed, {}),
        "cordoned": cordoned,
    }
    answer(result, as_json, show)


def _cordoned_line(cordoned: list[int]) -> str:
    return (
        f"The disks of broker {commas(cordoned)} are nearly full: it gets replicas only where no other broker is left,"
        " and `execute` refuses those that it does not have."
    )


def _save(path: Path, plan: str) -> None:
    try:
        path.write_text(plan + "\n")
    except OSError as error:
        raise Failure(
            f"{path} cannot be written: {error.strerror}",
            hint="give --save another file; nothing has been moved",
        ) from error
