"""The two regions that a command line names: as a local federation's, or by data directories."""

import json
import os
from typing import Any

import click

from federation.audit.cut.bounds import AuditedRegion
from federation.commands.answers import Failure
from federation.commands.audit import facts

COULD_NOT_RUN = 4


def refused(because: str, hint: str) -> Failure:
    return Failure(because, hint=hint, exit_code=COULD_NOT_RUN)


def regions(given: dict[str, Any]) -> tuple[AuditedRegion, AuditedRegion]:
    """Source and mirror, with their facts; ends the command where they are not named as they must be."""
    source, mirror = _from_directory(given) if given["directory"] else _from_data_dirs(given)
    shared = {os.path.realpath(path) for path in source.data_dirs} & {
        os.path.realpath(path) for path in mirror.data_dirs
    }
    if shared:
        raise refused(
            f"{', '.join(sorted(shared))} would be compared with itself",
            "name two different regions",
        )
    return (
        _with_facts(source, given["source_facts"]),
        _with_facts(mirror, given["mirror_facts"]),
    )


def _with_facts(region: AuditedRegion, path: str | None) -> AuditedRegion:
    """Out of the file, where one is named; else from the region, or what its directories hold of its metadata."""
    try:
        if path is not None:
            return region._replace(facts=facts.from_file(path), because="")
        return region._replace(facts=facts.find(region), because="")
    except facts.NoFacts as error:
        if path is not None:
            raise refused(str(error), "`causeway audit facts` writes such a file") from error
        if not region.data_dirs:
            raise refused(
                f"{region.name}: {error}", "without its directories the region itself must answer"
            ) from error
        return region._replace(because=str(error))


def _from_data_dirs(given: dict[str, Any]) -> tuple[AuditedRegion, AuditedRegion]:
    if given["source"] or given["mirror"]:
        raise click.UsageError(
            "--source and --mirror are names of regions in a local federation: give its --dir too"
        )
    for side in ("source", "mirror"):
        if not given[f"{side}_dir"] and not given[f"{side}_bootstrap"]:
            raise click.UsageError(
                "name two regions: "
                f"--dir with --source and --mirror, or --{side}-dir, or --{side}-bootstrap"
            )
    source, mirror = (
        AuditedRegion(given[f"{side}_name"], given[f"{side}_dir"], given[f"{side}_bootstrap"] or "")
        for side in ("source", "mirror")
    )
    return source, mirror


def _from_directory(given: dict[str, Any]) -> tuple[AuditedRegion, AuditedRegion]:
    if given["source_dir"] or given["mirror_dir"]:
        raise click.UsageError(
            "--dir finds the data directories itself: leave out --source-dir and --mirror-dir"
        )
    regions = _local(given["directory"])
    chosen = []
    for side in ("source", "mirror"):
        if given[side] not in regions:
            known = ", ".join(sorted(regions)) or "none"
            raise refused(
                f"--{side}: no region {given[side]} in {given['directory']}", f"there are: {known}"
            )
        found = regions[given[side]]
        address = given[f"{side}_bootstrap"]
        chosen.append(found if address is None else found._replace(bootstrap=address))
    return chosen[0], chosen[1]


def _local(directory: str) -> dict[str, AuditedRegion]:
    """The regions that `causeway local up` wrote down."""
    path = os.path.join(directory, "federation.json")
    try:
        with open(path, encoding="utf-8") as file:
            regions = json.load(file)["regions"]
        return {
            one["name"]: AuditedRegion(
                one["name"], tuple(node["data"] for node in one["nodes"]), one["bootstrap"]
            )
            for one in regions
        }
    except OSError as error:
        raise refused(f"{path}: {error.strerror}", "is a local federation there?") from error
    except (ValueError, KeyError, TypeError) as error:
        raise refused(
            f"{path} is not what `causeway local up` writes: {error!r}", "restore it"
        ) from error
