"""`causeway link`: the cluster links of a region, their destination."""

import textwrap
from functools import partial
from pathlib import Path
from typing import Any, Final

import click
from rich.table import Table

from federation.commands.answers import NOT_WELL_EXIT, answer, end, screen, show_fitting_table
from federation.commands.link.destinations import destinations, forget_destination
from federation.commands.link.dialect import filter_options, of_link, show_tasks
from federation.commands.link.drift import drift
from federation.commands.link.holds import drop_holds, holds
from federation.commands.link.lags import lag_text, link_lag_cells
from federation.commands.link.messages import as_dict
from federation.commands.link.region_admin import (
    RegionAdmin,
    region_options,
    settings,
    validating,
    with_configs,
)
from federation.commands.watching import watch_option, watched
from linker.shell.administrator import FAILOVER_SECONDS
from linker.wire.v1 import admin_pb2 as pb

_ERROR_COLUMNS: Final = 11  # as UNAVAILABLE has
secret_option = click.option(
    "--secret",
    envvar="CAUSEWAY_LINK_SECRET",
    default="",
    help="For the end of a link that dials where the other has connection.mode=INBOUND: what that one showed.",
)


@click.group()
def link() -> None:
    """Cluster links: a link copies topics from its source region to its destination region, or both ways."""


link.add_command(drift)
link.add_command(holds)
link.add_command(drop_holds)
link.add_command(destinations)
link.add_command(forget_destination)


@link.command()
@click.argument("name")
@click.option(
    "--source-bootstrap-server",
    metavar="HOST:PORT[,...]",
    help="Kafka addresses of the source region (the link's bootstrap.servers).",
)
@click.option(
    "--destination-bootstrap-server",
    metavar="HOST:PORT[,...]",
    help="Kafka addresses of the destination region: this one is the source, and dials (link.mode=SOURCE).",
)
@click.option(
    "--remote-bootstrap-server",
    metavar="HOST:PORT[,...]",
    help="Kafka addresses of the other region, which has a link of this name, too (link.mode=BIDIRECTIONAL).",
)
@click.option(
    "--source-cluster",
    "source_cluster_id",
    default="",
    help="The source's cluster id; any other is refused.",
)
@click.option(
    "--destination-cluster",
    "destination_cluster_id",
    default="",
    help="With --destination-bootstrap-server: the destination's cluster id.",
)
@click.option(
    "--remote-cluster",
    "remote_cluster_id",
    default="",
    help="Of a bidirectional link: the other region's cluster id.",
)
@secret_option
@with_configs
@filter_options
@validating("Check everything, create nothing.")
@click.option("--exclude-validate-link", "no_validate", is_flag=True, hidden=True)
@click.option(
    "--no-validate", is_flag=True, help="Create the link even if the source does not answer."
)
@region_options
def create(
    region: RegionAdmin,
    name: str,
    source_bootstrap_server: str | None,
    destination_bootstrap_server: str | None,
    remote_bootstrap_server: str | None,
    source_cluster_id: str,
    destination_cluster_id: str,
    remote_cluster_id: str,
    secret: str,
    pairs: tuple[str, ...],
    config_file: Path | None,
    validate_only: bool,
    no_validate: bool,
    as_json: bool,
) -> None:
    """Create link NAME in the region. The cluster id of the other region is checked first.

    Where nothing may be open towards the source, the source dials: create the link in the destination with
    `--config connection.mode=INBOUND`, then in the source with --destination-bootstrap-server, under the same name.

    A bidirectional link is created in both regions under one name, with --remote-bootstrap-server: each may mirror
    topics of the other, and mirrors can be reversed. Where one region cannot be dialed from the other, that one has
    `--config link.mode=BIDIRECTIONAL --config connection.mode=INBOUND` instead, and shows a secret for the other.
    """
    servers = {
        "DESTINATION": source_bootstrap_server,
        "SOURCE": destination_bootstrap_server,
        "BIDIRECTIONAL": remote_bootstrap_server,
    }
    configs = _without_contradiction(settings(pairs, config_file), _mode_configs(servers))
    _check_addresses(configs)
    clusters = {
        "DESTINATION": source_cluster_id,
        "SOURCE": destination_cluster_id,
        "BIDIRECTIONAL": remote_cluster_id,
    }
    _check_cluster(clusters, configs.get("link.mode", "DESTINATION"))
    request = pb.CreateLinkRequest(
        link_name=name,
        configs=configs,
        source_cluster_id=source_cluster_id or destination_cluster_id or remote_cluster_id,
        validate_only=validate_only,
        skip_validation=no_validate,
        secret=secret,
    )
    found = region.ask("CreateLink", request).link
    # Nothing was created that has a state.
    done = "could be created" if validate_only else f"created: {found.link_state}"
    answer(as_dict(found), as_json, lambda: _show_created(found, f"Link {name} {done}"))


def _mode_configs(servers: dict[str, str | None]) -> dict[str, str]:
    """By link mode, the other region's addresses as they were given."""
    given = [(mode, address) for mode, address in servers.items() if address is not None]
    if len(given) > 1:
        raise click.UsageError(
            "give one of --source-bootstrap-server, --destination-bootstrap-server and --remote-bootstrap-server"
        )
    for mode, address in given:
        configs = {"bootstrap.servers": address}
        return configs if mode == "DESTINATION" else configs | {"link.mode": mode}
    return {}


def _without_contradiction(configs: dict[str, str], meant: dict[str, str]) -> dict[str, str]:
    """Both together. Raises click.UsageError where --config says otherwise than `meant`, of the addresses' option."""
    for key, value in meant.items():
        if configs.get(key, value) != value:
            raise click.UsageError(
                f"--config {key}={configs[key]} contradicts the option with the addresses, which means {key}={value}"
            )
    return configs | meant


def _check_addresses(configs: dict[str, str]) -> None:
    """Raises click.UsageError where this end dials, and nobody said whom."""
    if not configs.get("bootstrap.servers") and configs.get("connection.mode") != "INBOUND":
        raise click.UsageError(
            "give --source-bootstrap-server, the Kafka addresses of the source region "
            "(or --destination-bootstrap-server, or --remote-bootstrap-server of a bidirectional link)"
        )


_CLUSTER_OPTIONS = {
    "DESTINATION": "--source-cluster",
    "SOURCE": "--destination-cluster",
    "BIDIRECTIONAL": "--remote-cluster",
}


def _check_cluster(clusters: dict[str, str], link_mode: str) -> None:
    for mode, cluster_id in clusters.items():
        if cluster_id and mode != link_mode:
            option = _CLUSTER_OPTIONS[mode]
            raise click.UsageError(f"{option} goes with link.mode={mode}, this is {link_mode}")


@link.command("secret")
@click.argument("name")
@secret_option
@validating("Check everything, change nothing.")
@region_options
def set_secret(
    region: RegionAdmin, name: str, secret: str, validate_only: bool, as_json: bool
) -> None:
    """Make a new secret of link NAME, where it has connection.mode=INBOUND; with --secret, give it to the other end."""
    request = pb.SetLinkSecretRequest(link_name=name, secret=secret, validate_only=validate_only)
    found = region.ask("SetLinkSecret", request).link
    done = "could have" if validate_only else "has"
    answer(
        as_dict(found), as_json, lambda: _show_created(found, f"Link {name} {done} a new secret")
    )


def _show_created(found: Any, done: str) -> None:
    click.echo(f"{done}, {_other_end(found)}")
    if found.secret:
        click.echo(f"Secret, shown this once: {found.secret}")
        click.echo("Next: give it to the other region's half (`--secret`, or CAUSEWAY_LINK_SECRET)")


@link.command("list")
@watch_option
@region_options
def list_links(region: RegionAdmin, every_seconds: float | None, as_json: bool) -> None:
    """List the links of the region."""

    def once() -> None:
        links = region.ask("ListLinks", pb.ListLinksRequest()).links
        answer({"links": [as_dict(one) for one in links]}, as_json, lambda: _show_links(links))

    watched(every_seconds, once)


@link.command()
@click.argument("name")
@watch_option
@region_options
def describe(region: RegionAdmin, name: str, every_seconds: float | None, as_json: bool) -> None:
    """Show the state, mirrors and background tasks of link NAME. Exit code 3: the other region is not reached."""

    def once() -> Any:
        found = region.ask("DescribeLink", pb.LinkRequest(link_name=name)).link
        answer(as_dict(found), as_json, lambda: _show_link(found))
        return found

    found = watched(every_seconds, once)
    if found.link_error != "NO_ERROR" or found.link_error_message:
        end(NOT_WELL_EXIT)


@link.command()
@click.argument("name")
@click.option(
    "--force",
    is_flag=True,
    help="Fail over its active mirror topics first; or leave those of the other region without a link.",
)
@validating("Check everything, delete nothing.")
@region_options
def delete(region: RegionAdmin, name: str, force: bool, validate_only: bool, as_json: bool) -> None:
    """Delete link NAME. Active mirror topics need --force, and become writable.

    So does the half of a source that dials, over which another region mirrors topics: these stay mirrors, and wait.
    """
    request = pb.DeleteLinkRequest(link_name=name, force=force, validate_only=validate_only)
    reply = region.ask("DeleteLink", request, FAILOVER_SECONDS)
    topics = [topic.mirror_topic for topic in reply.topics]
    done = "could be deleted" if validate_only else "deleted"
    failed_over = f"; failed over: {', '.join(topics)}" if topics else ""
    answer(
        {"link_name": name, "deleted": not validate_only, "failed_over": topics},
        as_json,
        lambda: click.echo(f"Link {name} {done}{failed_over}"),
    )


@link.command()
@click.argument("name")
@with_configs
@click.option("--delete", "deletes", multiple=True, metavar="KEY", help="Reset KEY to its default.")
@validating("Check everything, change nothing.")
@region_options
def configs(
    region: RegionAdmin,
    name: str,
    pairs: tuple[str, ...],
    config_file: Path | None,
    deletes: tuple[str, ...],
    validate_only: bool,
    as_json: bool,
) -> None:
    """Show the configuration of link NAME, or change it with --config and --delete."""
    changes = settings(pairs, config_file)
    if changes or deletes:
        request = pb.AlterLinkConfigsRequest(
            link_name=name, set=changes, validate_only=validate_only
        )
        request.delete.extend(deletes)
        found = region.ask("AlterLinkConfigs", request).configs
    else:
        found = region.ask("DescribeLinkConfigs", pb.LinkRequest(link_name=name)).configs
    answer(
        {"link_name": name, "configs": [as_dict(one) for one in found]},
        as_json,
        lambda: _show_configs(found, is_dry_run=validate_only and bool(changes or deletes)),
    )


for group in of_link(configs):
    link.add_command(group)


def _other_end(found: Any) -> str:
    if found.link_mode == "SOURCE":
        return f"destination {found.destination_cluster_id or 'not known yet'}"
    what = "other region" if found.link_mode == "BIDIRECTIONAL" else "source"
    return f"{what} {found.source_cluster_id or 'not known yet'}"


def _show_links(links: Any) -> None:
    if links:
        show_fitting_table(partial(links_table, links))
    else:
        screen().print("No links. `causeway link create` makes one.")


def links_table(links: Any, between: str) -> Table:
    """Fits 100 columns with names of usual lengths. `between` is between a state and its error, and in a lag."""
    table = Table("Link", "Mode", "RemoteCluster", "State", "Mirrors", "Lag", "LagMs")
    for one in links:
        lag, lag_ms = link_lag_cells(one)
        table.add_row(
            one.link_name,
            one.link_mode,
            one.source_cluster_id or one.destination_cluster_id,
            between.join(_states(one, is_narrow=between == "\n")),
            str(len(one.topic_names)),
            between.join(lag.rsplit(" ", 1)),
            lag_ms,
        )
    return table


def _states(link: Any, *, is_narrow: bool) -> list[str]:
    """With the error where there is one; `is_narrow`: in short pieces, as names of errors are long."""
    error = "" if link.link_error == "NO_ERROR" else link.link_error
    words = error.replace("_", "_ ") if is_narrow else error
    lines = textwrap.wrap(
        words, _ERROR_COLUMNS if is_narrow else len(error) + 1, break_long_words=False
    )
    return [link.link_state, *(line.replace("_ ", "_") for line in lines)]


def _show_link(found: Any) -> None:
    console = screen()
    console.print(f"[bold]{found.link_name}[/] {found.link_state} (id {found.link_id})")
    console.print(f"link mode {found.link_mode}, {_other_end(found)}")
    if found.link_error != "NO_ERROR":
        console.print(f"{found.link_error}: {found.link_error_message}")
    elif found.link_error_message:
        console.print(found.link_error_message)
    if found.hint:
        console.print(f"Next: {found.hint}")
    if found.HasField("writes_wait_ms"):
        console.print(
            f"writes wait for the other region, {found.writes_wait_ms} ms more at most: it may have taken topics over"
        )
    if found.link_mode == "SOURCE":
        console.print("mirror topics: in the destination region")
        return
    counts = [f"{count} {name}" for name, count in sorted(found.category_counts.items()) if count]
    console.print(f"mirror topics: {', '.join(counts) or 'none'}")
    if counts:
        console.print(f"lag {lag_text(found)}")
    show_tasks(found.tasks)


def _show_configs(found: Any, *, is_dry_run: bool) -> None:
    if is_dry_run:
        click.echo("Nothing was changed. With these changes the configuration would be:")
    table = Table()
    # A filter list may be longer than the terminal is wide, and a name than what that leaves.
    table.add_column("Name", overflow="fold")
    table.add_column("Value", overflow="fold")
    table.add_column("")
    for one in found:
        table.add_row(one.name, one.value, "default" if one.is_default else "")
    screen().print(table)
