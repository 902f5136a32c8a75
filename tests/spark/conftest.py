"""One Spark context for all tests here: starting it takes most of their time."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from federation.audit import jobs

if TYPE_CHECKING:
    from pyspark import SparkContext


@pytest.fixture(scope="session")
def spark() -> "Iterator[SparkContext]":
    context = jobs.open_context("local[2]")
    yield context
    context.stop()
