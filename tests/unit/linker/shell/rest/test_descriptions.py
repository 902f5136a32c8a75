"""A link as Kafka REST v3 has it, with what is ours."""

import pytest

from linker.shell.rest.descriptions import link_data
from linker.shell.rest.schemas import ResourceMetadata
from linker.wire.v1 import admin_pb2 as pb


@pytest.mark.parametrize("waits", [None, 0, 4200])
def test_a_link_says_how_long_writes_wait_for_its_other_end(waits: int | None) -> None:
    link = pb.LinkDescription(link_name="l", link_mode="SOURCE", writes_wait_ms=waits)
    data = link_data(link, ResourceMetadata(self="http://h/links/l"))
    assert data.model_dump()["writes_wait_ms"] == waits
