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
    """`old` stands once in the file below `brokers/`, and becomes `new`."""

    file: str
    old: str
    new: str


CHANGES = (
    # A client's request has a version more, which brokers use for topics that they need themselves.
    Change("wire/schema/topics.txt", "CreateTopics 2-7", "CreateTopics 2-8"),
    Change(
        "wire/schema/topics.txt",
        "      value string?\n  timeout_ms int32 = 60000\n",
        "      value string?\n  timeout_ms int32 = 60000\n  reason string? 8+ = null ignorable\n",
    ),
    Change("api/create_topics.py", "VERSIONS = (2, 7)", "VERSIONS = (2, 8)"),
    Change(
        "metadata/requests/topics.py",
        "CreateTopicsRequest(topics=topics, ",
        'CreateTopicsRequest(reason="needed", topics=topics, ',
    ),
    # A request between nodes has a version more, and its first one is gone.
    Change("wire/schema/broker_lifecycle.txt", "BrokerHeartbeat 0-2", "BrokerHeartbeat 1-3"),
    Change(
        "wire/schema/broker_lifecycle.txt",
        "  want_shut_down bool\n",
        "  want_shut_down bool\n  uptime_ms int64 3+ ignorable\n",
    ),
    Change("api/broker_heartbeat.py", "VERSIONS = (0, 2)", "VERSIONS = (1, 3)"),
    Change(
        "node/broker_lifecycle.py",
        "return BrokerHeartbeatRequest(\n",
        "return BrokerHeartbeatRequest(\n            uptime_ms=7,\n",
    ),
    # So has a request of our own.
    Change("wire/schema/links.txt", "PutDocuments 0 flexible", "PutDocuments 0-1 flexible"),
    Change(
        "wire/schema/links.txt",
        "    expected_version int64 = -1\n",
        "    expected_version int64 = -1\n  reason string? 1+ = null ignorable\n",
    ),
    Change(
        "metadata/requests/documents.py",
        "return PutDocumentsRequest(\n",
        'return PutDocumentsRequest(\n        reason="next",\n',
    ),
    # Forwarding says more, in a tag.
    Change(
        "wire/schema/forwarding.txt",
        "  client_host_address bytes\n",
        "  client_host_address bytes\n  sent_at int64 tag 10002 = -1\n",
    ),
    Change(
        "membership/envelopes.py",
        "request_data=b",
        "sent_at=7, request_data=b",
    ),
    # So does a metadata record.
    Change(
        "wire/schema/metadata_records.txt",
        "record TopicRecord type 2 0 flexible 0\n",
        "record TopicRecord type 2 0 flexible 0\n  made_by string? tag 10100 = null\n",
    ),
    Change(
        "metadata/topics/creation.py",
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
        path = tree / "brokers" / change.file
        text = path.read_text()
        assert text.count(change.old) == 1, f"{change.file}: {change.old!r} is not there once"
        path.write_text(text.replace(change.old, change.new))
    run(tree, "brokers.wire.generate")
    return tree


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
