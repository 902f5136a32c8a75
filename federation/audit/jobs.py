"""The audit on Spark: the only module that imports pyspark.

Segment bytes never pass the JVM: it carries the plan's tasks to Python workers, which read both sides of their units
from the files (on a cluster: from a file system that all share) and answer with a few lines. No shuffle, since both
sides of a unit stand in one task. A plain RDD, not a DataFrame: for a job of a few tasks the SQL engine and Arrow would
double what a cold start costs (12 CPU-seconds instead of 6, measured) and do nothing.
"""

import atexit
import json
import os
import shutil
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from federation.audit import java
from federation.audit.comparison.compare import compare
from federation.audit.comparison.unit import Unit, UnitOutcome, outcome_from_row, unit_from_row
from federation.audit.plan import EngineFailed, pack

if TYPE_CHECKING:
    from py4j.java_gateway import JavaGateway  # type: ignore[import-untyped]
    from pyspark import SparkConf, SparkContext

TASKS_PER_CORE = 4
LOG_FILE = "spark.log"
EXECUTOR_SECONDS = 60
LOG_LINES = 10  # of it are shown when Spark fails
CONFIG = {
    "spark.app.name": "causeway audit",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # Over TCP each Python task waits for a delayed acknowledgement.
    "spark.python.unix.domain.socket.enabled": "true",
}
LOCAL = {
    # All that the JVM does here is to schedule: it is not worth compiling it well.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.driver.memory": "512m",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
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


def run(
    units: Sequence[Unit], *, master: str, payload: bool, done: Callable[[list[UnitOutcome]], None]
) -> None:
    """`done` is called with the outcomes of some tasks at a time, in no particular order.

    A job takes a few tasks for each core, so that a long audit shows its progress and can be taken up again. Runs in
    the Spark context that is open, or in one of its own on `master`. Raises EngineFailed when there is no Spark to run
    on, or when it gave up on a task.
    """
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]
    from pyspark import SparkContext
    from pyspark.errors import PySparkException

    if not units:
        return
    mine = SparkContext._active_spark_context is None
    try:
        context = open_context(master)
        try:
            tasks = [json.dumps(task) for task in pack(units, context.defaultParallelism)]
            at_once = TASKS_PER_CORE * context.defaultParallelism
            for start in range(0, len(tasks), at_once):
                job = tasks[start : start + at_once]
                rows = context.parallelize(job, len(job)).flatMap(partial(_compared, payload))
                done([outcome_from_row(json.loads(row)) for row in rows.collect()])
        finally:
            if mine:
                context.stop()
    except (PySparkException, Py4JError) as error:
        raise EngineFailed(_because(master, error)) from error


def _compared(payload: bool, task: str) -> Iterator[str]:
    """One task, in a Spark worker: units as JSON in, outcomes as JSON out."""
    for row in json.loads(task):
        yield json.dumps(compare(unit_from_row(row), payload))


def open_context(master: str) -> "SparkContext":
    """A context on `master`, or the one that is open already; raises EngineFailed."""
    from pyspark import SparkConf, SparkContext

    local = master.startswith("local")
    try:
        _settle_environment(local=local)
    except java.NoJava as error:
        raise EngineFailed(str(error)) from error
    if SparkContext._active_spark_context is not None:
        return SparkContext._active_spark_context
    settings = {**CONFIG, **(LOCAL if local else {}), "spark.master": master}
    conf = SparkConf().setAll(list(settings.items()))
    gateway = SparkContext._gateway or _launch(conf)
    context = SparkContext(conf=conf, gateway=gateway)
    if not local:
        _await_executors(context)
        context.addPyFile(_package())
    return context


def _await_executors(context: "SparkContext") -> None:
    """Spark itself would wait for ever; raises EngineFailed."""
    give_up = time.monotonic() + EXECUTOR_SECONDS
    while len(context._jsc.sc().statusTracker().getExecutorInfos()) < 2:  # one is the driver
        if time.monotonic() >= give_up:
            context.stop()
            raise EngineFailed(
                f"{context.master} gave no executor within {EXECUTOR_SECONDS} s:"
                " do its workers run, and have the cores and the memory that are free?"
            )
        time.sleep(0.2)


def _launch(conf: "SparkConf") -> "JavaGateway":
    """Spark's JVM; what it and its workers print goes to `LOG_FILE`, for the terminal is the report's.

    Workers whose context is stopped print stack traces which mean nothing.
    """
    from pyspark.java_gateway import launch_gateway

    with (_settings_folder() / LOG_FILE).open("ab") as log:
        return launch_gateway(conf, popen_kwargs={"stdout": log, "stderr": log})  # type: ignore[no-untyped-call]


def _because(master: str, error: Exception) -> str:
    """Why Spark gave up: its exception's first line, and the last lines that it printed, stack frames apart."""
    log = _settings_folder() / LOG_FILE
    printed = log.read_text(errors="replace").splitlines() if log.exists() else []
    lines = [line for line in printed if not line.startswith("\tat ")][-LOG_LINES:]
    first = str(error).strip().splitlines()[0]
    return "\n  ".join([f"Spark on {master}: {first}", *lines])


@cache
def _settings_folder() -> Path:
    return _until_exit("causeway-spark-")


def _settle_environment(*, local: bool) -> None:
    """What the JVM reads before anything is configured: which Java, which Python, where to listen, what to log."""
    os.environ["JAVA_HOME"] = java.java_home(os.environ)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if local:
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    if "SPARK_CONF_DIR" not in os.environ:
        settings = _settings_folder()
        (settings / "log4j2.properties").write_text(LOG_SETTINGS, encoding="utf-8")
        os.environ["SPARK_CONF_DIR"] = str(settings)


def _package() -> str:
    """This package as a zip file, for workers elsewhere: they need its wheels (xxhash, crc32c, cramjam), not itself."""
    archive = _until_exit("causeway-package-") / "federation_audit.zip"
    here = Path(__file__).parent
    with zipfile.ZipFile(archive, "w") as file:
        file.write(here.parent / "__init__.py", "federation/__init__.py")
        for source in sorted(here.rglob("*.py")):
            file.write(source, f"federation/audit/{source.relative_to(here)}")
    return str(archive)


def _until_exit(prefix: str) -> Path:
    folder = tempfile.mkdtemp(prefix=prefix)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)
