"""The disks that every test of the contract is run on."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from brokers.ports import Files
from brokers.shell.files import DiskFiles
from tests.sim.files import SimFiles


@pytest.fixture(params=["disk", "disk that keeps two files open", "simulated"])
def files(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Files]:
    if request.param == "simulated":
        yield SimFiles()
        return
    disk = DiskFiles(tmp_path, open_files_max=2 if "two" in request.param else 100)
    yield disk
    for name in list(disk.list("")):
        disk.close(name)
