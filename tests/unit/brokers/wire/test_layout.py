"""What a layout says of a message, seen by what the compiled functions then do."""

from random import Random

import pytest

from brokers.wire import codec
from brokers.wire.decoding import compile_decoder, decoder_source
from brokers.wire.encoding import compile_encoder, encoder_source
from brokers.wire.layout import OTHER_ELEMENTS_MAX, REQUEST_ELEMENTS_MAX
from tests.unit.brokers.wire.samples import Sampler


@pytest.mark.parametrize("name", codec.SCHEMAS)
def test_arrays_of_the_shortest_elements_are_not_taken_for_too_long(name: str) -> None:
    versions = codec.SCHEMAS[name].versions
    for version in range(versions.first, versions.last + 1):
        layout = codec.layout(name, version)
        encode, decode = compile_encoder(layout), compile_decoder(layout)
        sampler = Sampler(Random(layout.title), lengths=(0,))
        for _ in range(8):
            message = sampler.message(layout)
            encoded = b"".join(encode(message))
            assert decode(encoded, 0, len(encoded)) == (message, len(encoded))


@pytest.mark.parametrize("name", codec.SCHEMAS)
def test_nothing_is_shorter_than_its_least_size(name: str) -> None:
    layout = codec.layout(name, codec.SCHEMAS[name].versions.last)
    sampler = Sampler(Random(name), lengths=(0,))
    encoded = [b"".join(compile_encoder(layout)(sampler.message(layout))) for _ in range(20)]
    assert min(map(len, encoded)) >= layout.struct_size_min(layout.struct(name))


def test_fields_are_inline_tagged_or_absent() -> None:
    layout = codec.layout("FetchRequest", 12)
    struct = layout.struct("FetchRequest")
    assert [field.name for field in layout.tagged(struct)] == ["cluster_id"]
    assert [field.name for field in layout.absent(struct)] == ["replica_state"]
    assert [field.name for field in layout.inline(struct)][:2] == ["replica_id", "max_wait_ms"]


def test_tags_are_in_the_order_of_their_numbers() -> None:
    layout = codec.layout("PartitionChangeRecord", 2)
    assert [field.tag for field in layout.tagged(layout.struct("PartitionChangeRecord"))] == [
        *range(9),
        10_000,
        10_001,
    ]


def test_requests_may_have_fewer_elements_than_what_we_asked_for() -> None:
    assert codec.layout("FetchRequest", 12).elements_max == REQUEST_ELEMENTS_MAX
    assert codec.layout("FetchResponse", 12).elements_max == OTHER_ELEMENTS_MAX


def test_the_source_of_a_codec_can_be_read() -> None:
    layout = codec.layout("HeartbeatResponse", 4)
    assert decoder_source(layout).text().startswith("def decode(buffer, position, limit):\n")
    assert encoder_source(layout).text().startswith("def encode(m):\n")


def test_a_run_of_fixed_fields_is_one_struct() -> None:
    text = decoder_source(codec.layout("HeartbeatResponse", 3)).text()
    assert text.count("buffer, position)") == 1
