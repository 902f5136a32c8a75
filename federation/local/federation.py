"""Starts, describes and stops a local federation.

One command at a time uses a directory (a lock on `DIR/.lock`). A pid is saved as soon as its process exists, so that
`down` stops all processes even when `up` was interrupted.
"""

import contextlib
import fcntl
import json
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from federation.local import answering, processes
from federation.local.layout import (
    Federation,
    LocalError,
    LocalNode,
    Region,
    check_region_names,
    load,
    save,
)
from federation.local.settings import NodeFiles, assigned_ports, check_racks, write_settings

DEFAULT_REGIONS = ("west", "east")
TIMEOUT_S = 30.0
STOP_TIMEOUT_S = 10.0
_POLL_S = 0.02
_LOG_TAIL_LINES = 15


def up(
    directory: Path,
    names: tuple[str, ...] = (),
    *,
    nodes: int | None = None,
    racks: tuple[str, ...] = (),
) -> Federation:
    """Start every node of the named regions that doesn't run, and return when all of them answer.

    Without names: the regions of the directory, or west and east. A new region gets `nodes` nodes (None: one), in these
    racks in turn; a known region of several nodes gets more, up to `nodes`. Raises LocalError when a node ends or does
    not answer, after stopping the nodes that this call started.
    """
    check_region_names(names)
    if not all(racks):
        raise LocalError("a rack without a name", "give --racks as a,b,c")
    directory = directory.absolute()
    _make_directory(directory)
    with _locked(directory):
        federation, chosen = _with_regions(directory, names, nodes, racks)
        return _start_missing(directory, federation, chosen)


def prepare(directory: Path, names: tuple[str, ...]) -> Federation:
    """Write the settings of those of the regions that are new, and start no node: they may be edited before `up`."""
    check_region_names(names)
    directory = directory.absolute()
    _make_directory(directory)
    with _locked(directory):
        federation, _ = _with_regions(directory, names, None, ())
        save(directory, federation)
    return federation


def _with_regions(
    directory: Path, names: tuple[str, ...], nodes: int | None, racks: tuple[str, ...]
) -> tuple[Federation, tuple[str, ...]]:
    """The federation with these regions, and which they are."""
    federation = load(directory)
    chosen = names or tuple(region.name for region in federation.regions) or DEFAULT_REGIONS
    for name in chosen:
        known = federation.region(name)
        count = nodes or (len(known.nodes) if known else 1)
        if known is not None and racks and count == len(known.nodes):
            check_racks([node.settings for node in known.nodes], racks)
        if known is None or count != len(known.nodes):
            federation = federation.with_region(_region(directory, name, known, count, racks))
    return federation, chosen


def down(directory: Path, names: tuple[str, ...] = ()) -> tuple[Federation, list[int], list[int]]:
    """Stop every node, or those of the named regions; data, settings and logs stay.

    Returns the federation, the pids that were stopped, and those of them that were killed.
    """
    directory = directory.absolute()
    existing(directory, names)
    with _locked(directory):
        federation = load(directory)
        running = [
            (region, node)
            for region, node in federation.nodes()
            if (not names or region.name in names) and processes.runs(node.pid, node.settings)
        ]
        pids = [node.pid for _, node in running if node.pid is not None]
        killed = processes.stop(
            [(node.pid, node.settings) for _, node in running if node.pid is not None],
            timeout_s=STOP_TIMEOUT_S,
        )
        for region, node in running:
            federation = federation.with_pid(region.name, node.id, None)
        save(directory, federation)
    return federation, pids, killed


def existing(directory: Path, names: tuple[str, ...] = ()) -> Federation:
    """The federation of a directory, or only the named regions of it. Raises LocalError where they are not there."""
    federation = load(directory.absolute())
    if not federation.regions:
        raise LocalError(
            f"there is no local federation in {directory}",
            f"start one: causeway local up --dir {directory}",
        )
    for name in names:
        if federation.region(name) is None:
            known = ", ".join(region.name for region in federation.regions)
            raise LocalError(f"there is no region {name} in {directory}", f"there are: {known}")
    chosen = [one for one in federation.regions if not names or one.name in names]
    return Federation(tuple(chosen))


def state(node: LocalNode) -> str:
    """`running` (it answers), `silent` (it runs and doesn't answer) or `stopped`."""
    if not processes.runs(node.pid, node.settings):
        return "stopped"
    return "running" if answering.answers_kafka(node.kafka) else "silent"


def log_tail(node: LocalNode, begins_at: int = 0) -> str:
    """The last lines of a node's log, from byte `begins_at` on."""
    with Path(node.log).open("rb") as log:
        log.seek(begins_at)
        lines = log.read().decode(errors="replace").splitlines()
    return "\n".join(f"  | {line}" for line in lines[-_LOG_TAIL_LINES:])


def _make_directory(directory: Path) -> None:
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as refusal:
        raise LocalError(
            f"{directory} cannot be made: {refusal.strerror}", "choose another --dir"
        ) from refusal


@contextlib.contextmanager
def _locked(directory: Path) -> Iterator[None]:
    with (directory / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as held:
            raise LocalError(
                f"another `causeway local` is at work in {directory}", "wait for it, then repeat"
            ) from held
        yield


def _region(
    directory: Path, name: str, known: Region | None, count: int, racks: tuple[str, ...]
) -> Region:
    """A new region, or a known one with more nodes; existing nodes stay as they are."""
    had = known.nodes if known else ()
    if count < len(had):
        raise LocalError(
            f"{name} has {len(had)} nodes, and what they hold is not taken off them by starting fewer",
            "leave --nodes out to start it as it is",
        )
    folder = directory / name
    folder.mkdir(exist_ok=True)
    places = [
        NodeFiles(number, folder / f"node-{number}.toml", folder / f"node-{number}")
        for number in range(1, count + 1)
    ]
    chosen = write_settings(places, racks, assigned_ports(directory))
    made = tuple(
        LocalNode(id=place.node_id, pid=None, kafka=where.kafka, data=str(place.data),
             log=str(place.settings.with_suffix(".log")), metrics=where.metrics)
        for place, where in zip(places, chosen, strict=True)
    )  # fmt: skip
    nodes = (*had, *made[len(had) :])
    bootstrap = ",".join(node.kafka for node in nodes)
    return Region(name=name, bootstrap=bootstrap, admin=chosen[0].admin, nodes=nodes)


def _start_missing(directory: Path, federation: Federation, names: tuple[str, ...]) -> Federation:
    started: list[tuple[int, Path]] = []
    waiting: list[tuple[Region, LocalNode, _Start | None]] = []
    try:
        for region, node in list(federation.nodes()):
            if region.name not in names:
                continue
            start = None
            if not processes.runs(node.pid, node.settings):
                start = _Start(node)
                started.append((start.process.pid, node.settings))
                federation = federation.with_pid(region.name, node.id, start.process.pid)
                save(directory, federation)
            waiting.append((region, node, start))
        for region, node, start in waiting:
            _wait_until_it_answers(region, node, start)
    except BaseException:  # also after Ctrl-C
        processes.stop(started, timeout_s=STOP_TIMEOUT_S)
        raise
    return federation


class _Start:
    """A node that is starting; `begins_at` is the byte at which its part of the log begins."""

    def __init__(self, node: LocalNode) -> None:
        log = Path(node.log)
        self._log = log
        self.begins_at = log.stat().st_size if log.exists() else 0
        self.process: subprocess.Popen[bytes] = processes.start(node.settings, log)

    def is_ready(self) -> bool:
        """Whether the node has printed its ready line: another process may answer at its address."""
        with self._log.open("rb") as log:
            log.seek(self.begins_at)
            return any(self._is_ready_line(line) for line in log)

    def _is_ready_line(self, line: bytes) -> bool:
        if not line.startswith(b"{") or not line.endswith(b"}\n"):
            return False
        try:
            ready = json.loads(line)
        except ValueError:
            return False
        return ready.get("ready") is True and ready.get("pid") == self.process.pid


def _wait_until_it_answers(region: Region, node: LocalNode, start: _Start | None) -> None:
    until = time.monotonic() + TIMEOUT_S
    while time.monotonic() < until:
        if start and start.process.poll() is not None:
            raise LocalError(
                f"node {node.id} of {region.name} ended at once with exit code "
                f"{start.process.returncode}; its last lines:\n{log_tail(node, start.begins_at)}",
                f"mend what they say ({node.settings}), then `causeway local up` again",
            )
        if (start is None or start.is_ready()) and _answers(region, node):
            return
        time.sleep(_POLL_S)
    begins_at = start.begins_at if start else 0
    raise LocalError(
        f"node {node.id} of {region.name} does not answer at {node.kafka} after "
        f"{TIMEOUT_S:.0f} s; its last lines:\n{log_tail(node, begins_at)}",
        "`causeway local down`, then `causeway local up` again",
    )


def _answers(region: Region, node: LocalNode) -> bool:
    """Whether the node answers; the first node of a region must accept connections for administration too."""
    is_first = node is region.nodes[0]
    return answering.answers_kafka(node.kafka) and (not is_first or answering.accepts(region.admin))
