"""The next release, made of this one: a copy of what ships, changed as releases change it.

What other releases must cope with is listed in `CHANGES`: a field in a tag, a later version of a request between nodes,
of a client's request and of one of our own, a version that is gone, a tagged field in a metadata record. Each of them
is written where a node of the next release uses it. A change whose place is not found fails: it moves with the code.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("brokers", "linker", "federation")
CREATE_TOPICS_NEXT = 8  # the highest version that the next release serves


class Change(NamedTuple):
    """`old` stands once in the files of this name below `brokers/`, and becomes `new`."""

    files: str
    old: str
    new: str


CHANGES = (
    # A client's request has a version more, which brokers use for topics that they need themselves.
    Change("topics.txt", "CreateTopics 2-7", "CreateTopics 2-8"),
    Change(
        "topics.txt",
        "      value string?\n  timeout_ms int32 = 60000\n",
        "      value string?\n  timeout_ms int32 = 60000\n  reason string? 8+ = null ignorable\n",
    ),
    Change(
        "*.py",
        "KEY = ApiKey.CREATE_TOPICS\nVERSIONS = (2, 7)",
        "KEY = ApiKey.CREATE_TOPICS\nVERSIONS = (2, 8)",
    ),
    Change(
        "*.py",
        "return CreateTopicsRequest(topics=topics, ",
        'return CreateTopicsRequest(reason="needed", topics=topics, ',
    ),
    # A request between nodes has a version more, and its first one is gone.
    Change("broker_lifecycle.txt", "BrokerHeartbeat 0-2", "BrokerHeartbeat 1-3"),
    Change(
        "broker_lifecycle.txt",
        "  want_shut_down bool\n",
        "  want_shut_down bool\n  uptime_ms int64 3+ ignorable\n",
    ),
    Change(
        "*.py",
        "KEY = ApiKey.BROKER_HEARTBEAT\nVERSIONS = (0, 2)",
        "KEY = ApiKey.BROKER_HEARTBEAT\nVERSIONS = (1, 3)",
    ),
    Change(
        "*.py",
        "return BrokerHeartbeatRequest(\n",
        "return BrokerHeartbeatRequest(\n            uptime_ms=7,\n",
    ),
    # A request of our own has a version more.
    Change("links.txt", "PutDocuments 0 flexible", "PutDocuments 0-1 flexible"),
    Change(
        "links.txt",
        "    partition_epochs []int32 tag 1\n",
        "    partition_epochs []int32 tag 1\n  reason string? 1+ = null ignorable\n",
    ),
    Change(
        "*.py",
        "return PutDocumentsRequest(\n",
        'return PutDocumentsRequest(\n        reason="next",\n',
    ),
    # Forwarding says more, in a tag.
    Change(
        "forwarding.txt",
        "  client_host_address bytes\n",
        "  client_host_address bytes\n  sent_at int64 tag 10002 = -1\n",
    ),
    Change("*.py", "return EnvelopeRequest(\n", "return EnvelopeRequest(\n        sent_at=7,\n"),
    # So does a metadata record.
    Change(
        "metadata_records.txt",
        "record TopicRecord type 2 0 flexible 0\n",
        "record TopicRecord type 2 0 flexible 0\n  made_by string? tag 10100 = null\n",
    ),
    Change(
        "*.py",
        "TopicRecord(name=name, topic_id=topic_id)",
        'TopicRecord(made_by="next", name=name, topic_id=topic_id)',
    ),
)


def next_release(directory: Path) -> Path:
    """The tree of the next release, in a new folder of `directory`."""
    tree = directory / "next"
    for package in PACKAGES:
        shutil.copytree(
            ROOT / package, tree / package, ignore=shutil.ignore_patterns("__pycache__")
        )
    for change in CHANGES:
        _apply(change, tree / "brokers")
    run(tree, "brokers.wire.generate")
    return tree


def _apply(change: Change, folder: Path) -> None:
    texts = {path: path.read_text() for path in folder.rglob(change.files)}
    found = [path for path, text in texts.items() for _ in range(text.count(change.old))]
    assert len(found) == 1, f"{change.old!r} is {len(found)} times in {change.files}"
    found[0].write_text(texts[found[0]].replace(change.old, change.new))


def environment(tree: Path) -> dict[str, str]:
    """What a process is started with that runs the code of a tree."""
    return {**os.environ, "PYTHONPATH": str(tree), "PYTHONSAFEPATH": "1"}


def run(tree: Path, module: str) -> None:
    """Runs a module of a tree to its end."""
    done = subprocess.run(
        [sys.executable, "-m", module],
        env=environment(tree),
        cwd=tree,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
