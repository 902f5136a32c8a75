"""How a region is named on the command line: Kafka addresses (`HOST:PORT,...`), or a name in a local federation."""

from pathlib import Path
from typing import Any, Final

import click

from federation.commands.answers import Failure
from federation.local import layout

UNREACHABLE_EXIT: Final = 4
_PORT_MAX: Final = 65_535


class AddressList(click.ParamType[str]):
    """A malformed address is a usage error, raised before any connection is made."""

    name = "addresses"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        addresses = [item for item in (each.strip() for each in value.split(",")) if item]
        wrong = next((each for each in addresses if not _is_address(each)), None)
        if wrong is not None or not addresses:
            self.fail(f"{wrong or value!r} is not HOST:PORT.", param, ctx)
        return ",".join(addresses)


def _is_address(text: str) -> bool:
    host, _, port = text.rpartition(":")
    is_number = port.isascii() and port.isdecimal()
    return bool(host) and is_number and 0 < int(port) <= _PORT_MAX


def check_one_way(bootstrap: str | None, directory: object, region: str | None) -> None:
    """Raises UsageError unless a region is named by either --bootstrap-server, or --dir and --region."""
    given = [each is not None for each in (bootstrap, directory, region)]
    if given not in ([True, False, False], [False, True, True]):
        raise click.UsageError("Give --bootstrap-server, or --dir and --region.")


def local_region(directory: Path, name: str) -> layout.Region:
    """A region of a local federation. Raises Failure where there is none of that name."""
    try:
        federation = layout.load(directory)
    except layout.LocalError as error:
        raise Failure(str(error), hint=error.hint) from error
    region = federation.region(name)
    if region is None:
        known = ", ".join(one.name for one in federation.regions) or "none"
        raise Failure(
            f"{directory} has no region {name}",
            hint=f"regions there: {known}; `causeway local up` makes them",
        )
    return region
