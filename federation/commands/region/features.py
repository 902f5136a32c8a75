"""`causeway region features`: which levels of features are finalized, and raising them (KIP-584)."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import click
from rich.table import Table

from brokers.errors import KafkaError
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.features import FeatureUpdateKey, UpdateFeaturesRequest
from federation.commands.answers import Failure, answer, show_table
from federation.commands.outcomes import next_step, reason_of
from federation.commands.region.bootstrap import bootstrap_options, connect
from federation.commands.region.client import Client
from federation.commands.region.feature_levels import (
    RegionFeatures,
    SupportedFeature,
    describe_features,
)

_TIMEOUT_MS: Final = 25_000
_UPGRADE: Final = 1  # upgrade type (KIP-584)
_VALIDATES_FROM: Final = 1  # version of UpdateFeatures
_RAISED_BY_ITSELF: Final = "kraft.version"
_SHOWS: Final = "`causeway region features describe` shows what each node supports"
_HINTS: Final = {
    KafkaError.INVALID_UPDATE_VERSION: _SHOWS,
    KafkaError.FEATURE_UPDATE_FAILED: _SHOWS,
}
_WARNING: Final = (
    "Levels are not lowered again: nodes of releases that do not support them cannot come back."
)


@click.group()
def features() -> None:
    """Show and raise the levels of features (metadata.version, causeway.version, ...), once all nodes support them."""


@features.command(name="describe")
@bootstrap_options
def describe(bootstrap: str, as_json: bool) -> None:
    """Show each feature: the level that is finalized, and what the brokers support.

    A level that could be higher is named: raise it once no node will go back to a release that does not know it.
    """
    with connect(bootstrap) as client:
        found = describe_features(client)
    rows = [_document(each, found) for each in found.features.values()]
    result = {
        "features": rows,
        "nodes": list(found.nodes),
        "silent": {str(node): reason for node, reason in found.silent.items()},
    }
    answer(result, as_json, lambda: _show(found))


@features.command()
@click.option(
    "--feature",
    "items",
    metavar="NAME=LEVEL",
    multiple=True,
    help="The level that a feature gets; may be repeated.",
)
@click.option("--latest", is_flag=True, help="Every feature: the highest level that all support.")
@click.option("--dry-run", is_flag=True, help="Check only: say what would be done, or why not.")
@bootstrap_options
def upgrade(
    bootstrap: str, items: tuple[str, ...], latest: bool, dry_run: bool, as_json: bool
) -> None:
    """Finalize higher levels of features: all that are named, or none. There is no way back.

    Every node must support the level; the active controller judges those that do not answer by their registrations.

    \b
    causeway region features upgrade --feature causeway.version=1 ...
    causeway region features upgrade --latest --dry-run ...
    """
    wanted = _parsed(items)
    if bool(wanted) == latest:
        raise click.UsageError("Give --feature NAME=LEVEL, or --latest.")
    with connect(bootstrap) as client:
        found = describe_features(client)
        levels = _latest(found) if latest else wanted
        changes = {name: level for name, level in levels.items() if _rises(found, name, level)}
        if changes:
            _update(client, changes, dry_run=dry_run)
    was = {name: found.features[name].finalized if name in found.features else 0 for name in levels}
    result = {
        "features": [
            {"feature": name, "from": was[name], "to": level} for name, level in changes.items()
        ],
        "unchanged": sorted(set(levels) - set(changes)),
        "validate_only": dry_run,
    }

    def show() -> None:
        for name, level in levels.items():
            if name in changes:
                verb = "would be raised" if dry_run else "raised"
                click.echo(f"{name}: {verb} from {was[name]} to {level}")
            else:
                click.echo(f"{name}: at {level} already")
        if not levels:
            click.echo("every feature is at the highest level that all brokers support")
        if changes and dry_run:
            click.echo(_WARNING)

    answer(result, as_json, show)


# --- before ---


def _parsed(items: Sequence[str]) -> dict[str, int]:
    """Raises UsageError."""
    wanted: dict[str, int] = {}
    for item in items:
        name, separator, level = (part.strip() for part in item.partition("="))
        if not (separator and name and level.isascii() and level.isdecimal()):
            raise click.UsageError(f"{item!r} is not NAME=LEVEL, with a level of 0 or more.")
        if name in wanted:
            raise click.UsageError(f"{name} is given twice.")
        if int(level) >= 1 << 15:
            raise click.UsageError(f"{item!r}: a level is at most 32767.")
        wanted[name] = int(level)
    return wanted


def _latest(found: RegionFeatures) -> dict[str, int]:
    """The features that can rise, but that one which the quorum raises itself."""
    return {
        name: highest
        for name, each in found.features.items()
        if name != _RAISED_BY_ITSELF and (highest := each.highest(found.nodes)) > each.finalized
    }


def _rises(found: RegionFeatures, name: str, level: int) -> bool:
    """Raises Failure for a level that is lower, or that a node does not support."""
    feature = found.features.get(name)
    if feature is None:
        known = ", ".join(found.features) or "none is told by its brokers"
        raise Failure(f"the region knows no feature {name}", hint=f"features there: {known}")
    if level < feature.finalized:
        raise Failure(
            f"{name} is at {feature.finalized}: it is not lowered to {level}",
            hint="Apache Kafka: `kafka-features downgrade`; metadata.version and causeway.version stay",
        )
    refusing = [
        node for node in found.nodes if level and not _contains(feature.supported.get(node), level)
    ]
    if refusing:
        raise Failure(
            f"{name} cannot become {level}: nodes {', '.join(map(str, refusing))} do not support it,"
            f" {feature.highest(found.nodes)} is the highest that all do",
            hint="upgrade these nodes first; " + _SHOWS,
        )
    return level > feature.finalized


def _contains(levels: tuple[int, int] | None, level: int) -> bool:
    return levels is not None and levels[0] <= level <= levels[1]


# --- the change ---


def _update(client: Client, changes: Mapping[str, int], *, dry_run: bool) -> None:
    what = f"{', '.join(changes)} not raised"
    if not client.serves(ApiKey.UPDATE_FEATURES):
        raise Failure(f"{what}: the brokers finalize no features", hint="this needs KRaft")
    if dry_run and client.version(ApiKey.UPDATE_FEATURES) < _VALIDATES_FROM:
        raise Failure("the brokers cannot check only", hint="this needs Kafka 3.3 or newer")
    updates = [
        FeatureUpdateKey(feature=name, max_version_level=level, upgrade_type=_UPGRADE)
        for name, level in changes.items()
    ]
    request = UpdateFeaturesRequest(
        timeout_ms=_TIMEOUT_MS, feature_updates=updates, validate_only=dry_run
    )
    response = client.ask(ApiKey.UPDATE_FEATURES, request)
    refused = [each for each in (response, *response.results) if each.error_code]
    if refused:
        errors = [each.error_code for each in refused]
        because = "; ".join(map(reason_of, refused))
        raise Failure(f"{what}: {because}", hint=next_step(errors, _HINTS, _SHOWS))


# --- shown ---


def _document(feature: SupportedFeature, found: RegionFeatures) -> dict[str, Any]:
    return {
        "feature": feature.name,
        "finalized": feature.finalized,
        "highest": feature.highest(found.nodes),
        "supported": {
            str(node): {"min": lowest, "max": highest}
            for node, (lowest, highest) in sorted(feature.supported.items())
        },
    }


def _show(found: RegionFeatures) -> None:
    table = Table("Feature", "Finalized", "Highest", *(f"Node {node}" for node in found.nodes))
    for each in found.features.values():
        ranges = (each.supported.get(node) for node in found.nodes)
        table.add_row(
            each.name,
            str(each.finalized),
            str(each.highest(found.nodes)),
            *("" if one is None else f"{one[0]} to {one[1]}" for one in ranges),
        )
    show_table(table)
    for node, reason in found.silent.items():
        click.echo(f"node {node} does not answer: {reason}")
    rising = [f"--feature {name}={level}" for name, level in _latest(found).items()]
    if rising:
        click.echo(f"Next: `causeway region features upgrade {' '.join(rising)}`. {_WARNING}")
