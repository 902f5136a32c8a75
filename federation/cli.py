"""The command `causeway`: lists its commands, and imports a command only when it is used.

Otherwise `causeway --help` would import Spark and gRPC.

Exit codes, for every command: 0 success; 1 refused or failed, with the reason and what to do next on stderr; 2 usage
error (click's; with `--json` it is an object too). `local status` adds 3, `audit run` has its own,
both in their help.
"""

from typing import Any, Final

import click
from click.shell_completion import CompletionItem

from federation.commands.on_demand import imported

_AS_JSON: Final = "causeway.as_json"

COMMANDS = {
    "local": ("federation.commands.local:local", "A federation of processes on this machine."),
    "region": (
        "federation.commands.region.view:region",
        "Describe a region and its problems; elect leaders, move replicas.",
    ),
    "topic": (
        "federation.commands.topic.command:topic",
        "Topics: create, alter, delete, describe, list.",
    ),
    "group": (
        "federation.commands.group.command:group",
        "Consumer groups: offsets and lag, resets, deletion.",
    ),
    "replica": ("federation.commands.replica.status:replica", "The status of every replica."),
    "link": (
        "federation.commands.link.link:link",
        "Cluster links: create, describe, change their configs, delete.",
    ),
    "mirror": (
        "federation.commands.link.mirror:mirror",
        "Mirror topics: create, watch, promote, fail over.",
    ),
    "orphans": (
        "federation.commands.orphans.orphans:orphans",
        "What an old primary had beyond a failover.",
    ),
    "lineage": (
        "federation.commands.lineage.lineage:lineage",
        "Which region wrote which offsets of a topic.",
    ),
    "audit": (
        "federation.commands.audit.command:audit",
        "Prove from the stored data that two regions agree.",
    ),
    "demo": (
        "federation.commands.demo:demo",
        "Two regions, a link, an audit, a failover and the way back.",
    ),
    "node": ("federation.commands.node:node", "One node of a region, in the foreground."),
    "completion": (
        "federation.commands.completion:completion",
        "Have bash, zsh or fish complete commands with the Tab key.",
    ),
}


class Commands(click.Group):
    """A group whose commands are imported when they are used; `COMMANDS` has their one-line help."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[_AS_JSON] = "--json" in args  # after a usage error, no option has been parsed
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except click.UsageError as error:
            if not ctx.meta[_AS_JSON]:
                raise
            raise _usage_failure(error) from error

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return imported(COMMANDS[cmd_name][0]) if cmd_name in COMMANDS else None

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """As of any group, without importing its commands."""
        found = [
            CompletionItem(name, help=about)
            for name, (_, about) in COMMANDS.items()
            if name.startswith(incomplete)
        ]
        return [*found, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, about) for name, (_, about) in COMMANDS.items()])


def _usage_failure(error: click.UsageError) -> click.ClickException:
    from federation.commands.answers import Failure

    path = "causeway" if error.ctx is None else error.ctx.command_path
    failure = Failure(error.format_message(), hint=f"see `{path} --help`", exit_code=2)
    failure.as_json = True
    return failure


@click.command(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="causeway", prog_name="causeway")
def main() -> None:
    """Kafka-protocol regions, linked byte for byte, with failover you can rehearse and audits you can show."""
