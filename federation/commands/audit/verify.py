"""`causeway audit verify`: the chain of reports, from the last to the first."""

from typing import Any

import click

from federation.commands.answers import Failure, answer, json_option, show_table


@click.command()
@click.argument("report")
@json_option
def verify(report: str, as_json: bool) -> None:
    """Check that a report, and every earlier one that it goes on from, are as they were written.

    REPORT is an audit.json, or the folder that holds it. Exit codes: 0 all are there and unchanged, 1 one is not.
    """
    from federation.audit.since.last_report import NoReport, load

    links: list[dict[str, Any]] = []
    try:
        last = load(report)
        links.append(last.link._asdict())
        for link in reversed(last.chain):
            found = load(link.report)
            if found.digest != link.digest:
                raise NoReport(f"{link.report} is another report than {links[-1]['report']} names")
            links.append(link._asdict())
    except NoReport as error:
        raise Failure(str(error), hint="put the report back where it was") from error
    answer({"reports": links[::-1]}, as_json, lambda: _show(links[::-1]))


def _show(links: list[dict[str, Any]]) -> None:
    from rich.table import Table

    from federation.audit.report.page import instant

    table = Table("cut taken at", "sha-256", "report")
    for link in links:
        table.add_row(instant(link["at_ms"]), link["digest"], link["report"])
    show_table(table)
