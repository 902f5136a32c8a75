"""The audit on Spark: the only module that imports pyspark.

Segment bytes never pass the JVM: it carries the plan's numbers to Python tasks, which read both sides of their units
from the files (or a shared file system, on a cluster) and answer with a few lines. No shuffle, since both sides of
a unit stand in one task.
"""

import atexit
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from federation.audit import java
from federation.audit.compare import Outcome, Unit, compare, outcome_from_row, unit_from_row
from federation.audit.plan import EngineFailed, pack

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CONFIG = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # 30 ms a Python task instead of 57: over TCP each one waits for a delayed acknowledgement.
    "spark.python.unix.domain.socket.enabled": "true",
    "spark.sql.catalogImplementation": "in-memory",
}
LOG_SETTINGS = """\
rootLogger.level = error
rootLogger.appenderRef.stderr.ref = stderr
logger.python.name = org.apache.spark.api.python.PythonGatewayServer
logger.python.level = error
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %p %c{1}: %m%n
"""
LOCAL = {
    # All that the JVM does here is to schedule: it is not worth compiling it well.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto",
    "spark.driver.memory": "512m",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}


def open_session(master: str) -> "SparkSession":
    """A session on `master`, or the one that is already open; raises EngineFailed."""
    from pyspark.sql import SparkSession

    try:
        _settle_environment(local=master.startswith("local"))
    except java.NoJava as error:
        raise EngineFailed(str(error)) from error
    builder = SparkSession.builder.appName("causeway audit").master(master)
    for key, value in {**CONFIG, **(LOCAL if master.startswith("local") else {})}.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def _settle_environment(*, local: bool) -> None:
    """What the JVM reads before any session is configured: which Java, which Python, where to listen, what to log."""
    os.environ["JAVA_HOME"] = java.java_home(os.environ)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if local:
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    if "SPARK_CONF_DIR" not in os.environ:
        settings = tempfile.mkdtemp(prefix="causeway-spark-")
        atexit.register(shutil.rmtree, settings, ignore_errors=True)
        with open(os.path.join(settings, "log4j2.properties"), "w", encoding="utf-8") as file:
            file.write(LOG_SETTINGS)
        os.environ["SPARK_CONF_DIR"] = settings


def run(
    units: Sequence[Unit], *, master: str, payload: bool, seen: Callable[[int], None]
) -> list[Outcome]:
    """Outcomes of all units, in no particular order; `seen` is told of all bytes at the end.

    Raises EngineFailed when there is no Spark to run them on, or when it gave up on a task.
    """
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    if not units:
        return []
    mine = SparkSession.getActiveSession() is None
    try:
        session = open_session(master)
        try:
            found = _collected(session, units, payload)
        finally:
            if mine:
                session.stop()
    except (PySparkException, Py4JError) as error:
        raise EngineFailed(f"Spark on {master}: {str(error).strip().splitlines()[0]}") from error
    seen(sum(unit.size for unit in units))
    return found


def _collected(session: "SparkSession", units: Sequence[Unit], payload: bool) -> list[Outcome]:
    tasks = pack(units, session.sparkContext.defaultParallelism)
    plan = [json.dumps(task) for task in tasks]
    rows = session.range(0, len(plan), 1, len(plan))
    found = rows.mapInArrow(_comparing(plan, payload), "outcome string").collect()
    return [outcome_from_row(json.loads(row.outcome)) for row in found]


def _comparing(plan: list[str], payload: bool) -> Callable[[Iterator[Any]], Iterator[Any]]:
    def compare_tasks(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow

        for batch in batches:
            numbers = batch.column("id").to_pylist()
            units = (unit_from_row(row) for number in numbers for row in json.loads(plan[number]))
            found = [json.dumps(compare(unit, payload)) for unit in units]
            yield pyarrow.RecordBatch.from_pydict({"outcome": found})

    return compare_tasks
