"""Our text against Prometheus' own client library: what it writes, and what it reads."""

from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.parser import text_string_to_metric_families

from brokers.telemetry.exposition import family, labelled

# A carriage return is the one character on which the library's reader and the format's description differ.
values = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\r"), max_size=20)
rows = st.lists(st.tuples(values, values), min_size=1, max_size=5, unique=True)


@given(rows)
def test_labels_are_read_as_they_were_meant(pairs: list[tuple[str, str]]) -> None:
    samples = ((index, labelled(a=a, b=b)) for index, (a, b) in enumerate(pairs))
    text = "".join(family("x", "gauge", "About x", samples))
    (read,) = text_string_to_metric_families(text)
    assert [tuple(one.labels.values()) for one in read.samples] == pairs
    assert [one.value for one in read.samples] == [*range(len(pairs))]


class Library:
    """The same families, told to the client library."""

    def collect(self):  # type: ignore[no-untyped-def]
        gauge = GaugeMetricFamily("some_gauge", 'A "gauge" \\ two\nlines', labels=["topic"])
        gauge.add_metric(['a\n"b"\\'], 2.5)
        counter = CounterMetricFamily("some", "A counter")
        counter.add_metric([], 7.0)
        return [gauge, counter]


def test_the_page_is_byte_for_byte_what_the_client_library_writes() -> None:
    registry = CollectorRegistry()
    registry.register(Library())
    ours = [
        *family(
            "some_gauge", "gauge", 'A "gauge" \\ two\nlines',
            iter([(2.5, labelled(topic='a\n"b"\\'))]),
        ),
        *family("some_total", "counter", "A counter", iter([(7.0, "")])),
    ]  # fmt: skip
    assert "".join(ours).encode() == generate_latest(registry)
