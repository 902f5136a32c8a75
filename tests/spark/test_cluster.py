"""The audit on a standalone cluster: a master and two workers, from PySpark's own jars, on this machine."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.request import urlopen

import pyspark
import pytest

from federation.audit import java
from tests.spark.cases import planted
from tests.spark.test_live_regions import Regions, causeway

pytestmark = [pytest.mark.spark, pytest.mark.process, pytest.mark.timeout(240)]
TIMEOUT_S = 60


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def started(folder: Path, *arguments: str) -> "subprocess.Popen[bytes]":
    """One of Spark's daemons in the foreground; what it prints is in the folder."""
    home, java_home = Path(pyspark.__file__).parent, java.java_home(os.environ)
    command = [f"{java_home}/bin/java", "-Xmx256m", "-cp"]
    environment = {
        **os.environ,
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_SCALA_VERSION": "2.13",  # what Spark's own scripts would set, for the executors' class path
        "JAVA_HOME": java_home,
        # For executors, too: each lives for seconds, and would spend them on compiling well what runs once.
        "JDK_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    }
    with (folder / f"{arguments[-1].rpartition('/')[2]}.log").open("ab") as log:
        return subprocess.Popen(
            [*command, f"{home}/jars/*", *arguments],
            stdout=log,
            stderr=log,
            env=environment,
            cwd=folder,
        )


def workers_at(web_port: int) -> int:
    with urlopen(f"http://127.0.0.1:{web_port}/json/", timeout=5) as answer:
        return int(json.load(answer)["aliveworkers"])


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The master's URL, once two workers are with it."""
    folder = tmp_path_factory.mktemp("spark")
    port, web_port = free_port(), free_port()
    url = f"spark://127.0.0.1:{port}"
    with ExitStack() as stack:
        where = ["--host", "127.0.0.1", "--port", str(port), "--webui-port", str(web_port)]
        daemons = [started(folder, "org.apache.spark.deploy.master.Master", *where)]
        for _ in range(2):
            room = ["--host", "127.0.0.1", "--cores", "1", "--memory", "2g", "--webui-port", "0"]
            room += ["--work-dir", str(folder / "work")]
            worker = "org.apache.spark.deploy.worker.Worker"
            daemons.append(started(folder, worker, *room, url))
        for daemon in daemons:
            stack.callback(daemon.wait)
            stack.callback(daemon.terminate)
        give_up = time.monotonic() + TIMEOUT_S
        while True:
            try:
                if workers_at(web_port) == 2:
                    break
            except (OSError, ValueError):  # it answers before it knows what to say
                pass
            logs = "".join(path.read_text()[-2000:] for path in folder.glob("*.log"))
            assert time.monotonic() < give_up, logs
            time.sleep(0.2)
        yield url


@pytest.mark.parametrize(
    ("names", "code"), [pytest.param((), 0, marks=pytest.mark.soak), (("missing", "zeros"), 1)]
)
def test_an_audit_on_a_cluster_finds_what_it_finds_here(
    tmp_path: Path, cluster: str, names: tuple[str, ...], code: int
) -> None:
    case = planted(str(tmp_path), 3, names)
    sides = ["--source-dir", case.source, "--mirror-dir", case.mirror, "--replicas", "all"]
    found = []
    for engine, master in (("spark", cluster), ("local", "local[1]")):
        where = ["--engine", engine, "--master", master, "--out", str(tmp_path / engine)]
        command = [sys.executable, "-m", "federation", "audit", "run", *sides, *where, "--json"]
        ran = subprocess.run(command, capture_output=True, text=True)
        assert ran.returncode == code, ran.stderr
        said = json.loads(ran.stdout)
        found.append((said["verdict"], said["partitions"], said["findings"], said["sections"]))
    assert found[0] == found[1]


def test_an_audit_on_a_cluster_needs_no_shared_disk(tmp_path: Path, cluster: str) -> None:
    """Executors fetch what they compare from the brokers."""
    regions = Regions(tmp_path)
    try:
        regions.mirror()
        regions.produce("west", "lz4", 5_000)
        regions.audit_when_even()
        said = regions.audit_by_fetch("--master", cluster)
    finally:
        causeway("local", "down", "--dir", str(tmp_path), allowed=(0, 1))
    assert said["verdict"] == "kept", said
    assert said["totals"]["records"] == 5_000
    assert said["cut"]["source"]["data_dirs"] == said["cut"]["mirror"]["data_dirs"] == []
