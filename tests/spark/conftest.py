"""One Spark session for all tests here: starting it takes most of their time."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from federation.audit import jobs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def session() -> "Iterator[SparkSession]":
    session = jobs.open_session("local[2]")
    yield session
    session.stop()
