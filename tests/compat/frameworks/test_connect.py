"""Two workers of Connect move lines from a file into a topic and from there into another file, and are killed."""

import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.compat.frameworks.connect import STORES, Worker
from tests.compat.frameworks.region import configs, partitions_of, topics_in, values_in
from tests.process.members import Members

TOPIC = "lines"
SOURCE = "org.apache.kafka.connect.file.FileStreamSourceConnector"
SINK = "org.apache.kafka.connect.file.FileStreamSinkConnector"
MORE = 500  # lines at a time
PARTITIONS = {"config": 1, "offset": 25, "status": 5}  # Kafka's defaults


class Pipeline:
    """The two files, and all lines so far."""

    def __init__(self, directory: Path) -> None:
        self.source, self.sink = directory / "source.txt", directory / "sink.txt"
        self.source.touch()
        self.lines: list[str] = []

    def create(self, worker: Worker) -> None:
        worker.create(
            "source", connector_class=SOURCE, tasks_max="1", file=str(self.source), topic=TOPIC
        )
        worker.create(
            "sink", connector_class=SINK, tasks_max="1", file=str(self.sink), topics=TOPIC
        )

    def write(self) -> None:
        more = [f"line {number}" for number in range(len(self.lines), len(self.lines) + MORE)]
        with self.source.open("a") as file:
            file.write("".join(f"{line}\n" for line in more))
        self.lines += more

    def has_arrived(self) -> bool:
        return self.sink.exists() and set(self.lines) <= set(self.sink.read_text().splitlines())

    def is_stored(self, worker: Worker) -> bool:
        """The source's position is at the end of its file."""
        return worker.offsets("source") == [self.source.stat().st_size]


@pytest.fixture
def workers(members: Members, tmp_path: Path) -> Iterator[tuple[Worker, Worker]]:
    replicas = len(members.ids)
    pair = [Worker(tmp_path, name, members.bootstrap, replicas) for name in ("first", "second")]
    yield pair[0], pair[1]
    for worker in pair:
        worker.end()


def moved(pipeline: Pipeline, worker: Worker) -> None:
    """More lines arrive, and how far the source has read is stored."""
    pipeline.write()
    worker.wait(lambda: pipeline.has_arrived() and pipeline.is_stored(worker))


def test_lines_move_while_workers_are_killed_and_the_cluster_is_rebalanced(
    members: Members, workers: tuple[Worker, Worker], tmp_path: Path
) -> None:
    first, second = workers
    pipeline = Pipeline(tmp_path)
    first.start()
    # It answers before it has made them all.
    first.wait(lambda: topics_in(members.bootstrap) >= {f"connect-{store}" for store in STORES})
    for store in STORES:
        topic = f"connect-{store}"
        assert configs(members.bootstrap, topic)["cleanup.policy"] == "compact"
        assert partitions_of(members.bootstrap, topic) == PARTITIONS[store]
    pipeline.create(first)
    moved(pipeline, first)
    # The only worker dies: the next one reads connectors, offsets and states from the topics.
    first.program.kill()
    pipeline.write()
    first.start()
    first.wait(lambda: {*first.runs_on("source"), *first.runs_on("sink")} == {first.id})
    first.wait(lambda: pipeline.has_arrived() and pipeline.is_stored(first))
    assert Counter(values_in(members.bootstrap, TOPIC)) == Counter(pipeline.lines)
    # Another one joins and takes its share, and dies.
    second.start()
    both = {first.id, second.id}
    first.wait(lambda: {*first.runs_on("source"), *first.runs_on("sink")} == both)
    moved(pipeline, first)
    if len(members.ids) > 1:
        members.end(members.leader(TOPIC, 0), signal.SIGKILL)
        moved(pipeline, first)
        members.up()
    second.program.kill()
    first.wait(lambda: {*first.runs_on("source"), *first.runs_on("sink")} == {first.id})
    moved(pipeline, first)
    assert set(values_in(members.bootstrap, TOPIC)) == set(pipeline.lines)
    first.program.stop()
