"""Every verb that changes something in a region has `--validate-only`, and `--dry-run` as another name of it."""

import click
import pytest

from federation.commands.link.link import link
from federation.commands.link.mirror import mirror
from federation.commands.orphans.orphans import orphans

# `orphans export` writes files of the caller's, which it never replaces.
READING = {
    "link": {"list", "describe", "drift", "holds", "destinations"},
    "mirror": {
        "list",
        "describe",
        "forecast",
        "holes",
        "decisions",
        "lost",
        "transitions",
        "taken-over",
    },
    "orphans": {"list", "show", "export"},
}


@pytest.mark.parametrize("group", [link, mirror, orphans], ids=lambda one: one.name)
def test_a_verb_has_a_dry_run_unless_it_only_reads(group: click.Group) -> None:
    names = {
        verb: {name for parameter in command.params for name in parameter.opts}
        for verb, command in group.commands.items()
        if not isinstance(command, click.Group)
    }
    with_both = {verb for verb, found in names.items() if {"--validate-only", "--dry-run"} <= found}
    assert with_both == names.keys() - READING[str(group.name)]
