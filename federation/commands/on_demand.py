"""A group of commands that imports the heavy ones only when they are asked for, as `causeway` itself does."""

import importlib
from collections.abc import Mapping
from typing import Any

import click


def imported(path: str) -> click.Command:
    """The command at `module:name`."""
    module, _, name = path.partition(":")
    command = getattr(importlib.import_module(module), name)
    assert isinstance(command, click.Command), command
    return command


class OnDemandGroup(click.Group):
    """`on_demand` has the `module:name` of each such command, by its name. The group's own help imports them all."""

    def __init__(self, *given: Any, on_demand: Mapping[str, str], **named: Any) -> None:
        super().__init__(*given, **named)
        self._on_demand = on_demand

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted([*super().list_commands(ctx), *self._on_demand])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        path = self._on_demand.get(cmd_name)
        return super().get_command(ctx, cmd_name) if path is None else imported(path)
