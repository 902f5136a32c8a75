"""A link's configuration: names and defaults of the dialect, all problems at once, nothing silently ignored."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokers.metadata.configs.config_keys import INDEPENDENT_OF_SOURCE, TOPIC_KEYS
from linker.administration.drift import class_of
from linker.answers import SyncClass
from linker.config import SETTINGS, LinkConfigError, altered, parse
from linker.config_values import ALWAYS_SYNCED, SYNCABLE, SYNCED_BY_DEFAULT
from linker.filters import EVERYTHING, Filter, Pattern

MINIMAL = {"bootstrap.servers": "one:9092, [::1]:9093"}

# Every name of Cluster Linking's with its default, which is none or "" for some.
DIALECT = {
    "link.mode": "DESTINATION",
    "connection.mode": "OUTBOUND",
    "cluster.link.paused": "false",
    "cluster.link.prefix": "",
    "cluster.link.retry.timeout.ms": "300000",
    "availability.check.ms": "60000",
    "availability.check.consecutive.failure.threshold": "5",
    "auto.create.mirror.topics.enable": "false",
    "auto.create.mirror.topics.filters": "",
    "mirror.start.offset.spec": "earliest",
    "consumer.offset.sync.enable": "false",
    "consumer.offset.sync.ms": "30000",
    "consumer.offset.group.filters": "",
    "consumer.group.prefix.enable": "false",
    "acl.sync.enable": "false",
    "acl.sync.ms": "5000",
    "acl.filters": "",
    "topic.config.sync.ms": "5000",
    "num.cluster.link.fetchers": "1",
    "metadata.max.age.ms": "300000",
    "request.timeout.ms": "30000",
    "retry.backoff.ms": "100",
    "replica.fetch.max.bytes": "1048576",
    "replica.fetch.min.bytes": "1",
    "replica.fetch.wait.max.ms": "500",
    "replica.fetch.backoff.ms": "1000",
    "replica.socket.timeout.ms": "30000",
    "security.protocol": "PLAINTEXT",
    "sasl.mechanism": "",
    "sasl.jaas.config": "",
    "local.security.protocol": "PLAINTEXT",
    "local.sasl.mechanism": "",
    "local.sasl.jaas.config": "",
    "local.listener.name": "",
}
# Those whose default is another here, by reason of what they do here, and other names of the same.
TAKEN = {
    **DIALECT,
    "local.listener": "",
    "topic.config.sync.include": "cleanup.policy,max.message.bytes,message.timestamp.type,retention.ms",
    "replica.fetch.response.max.bytes": "10485760",
    "replica.socket.receive.buffer.bytes": "65536",
    "confluent.cluster.link.io.max.bytes.per.second": "9223372036854775807",
}


def test_defaults_are_those_users_know() -> None:
    effective = {
        name: value for name, value, is_default in parse(MINIMAL).effective() if is_default
    }
    assert DIALECT.items() <= effective.items()


@pytest.mark.parametrize(("name", "default"), TAKEN.items())
def test_the_defaults_that_users_know_may_be_given(name: str, default: str) -> None:
    given = {**MINIMAL, name: default}
    assert len(parse(given).given) == len(given)
    assert altered(parse(given), {}, (name,)).given == MINIMAL


@pytest.mark.parametrize(
    ("name", "needs"),
    [
        ("ssl.truststore.location", "TLS"),
        ("ssl.keystore.password", "TLS"),
        ("ssl.endpoint.identification.algorithm", "TLS"),
        ("local.ssl.truststore.location", "TLS"),
        ("sasl.mechanism", "SASL"),
        ("local.sasl.jaas.config", "SASL"),
        ("sasl.login.callback.handler.class", "SASL"),
        ("acl.sync.enable", "ACLs"),
        ("acl.sync.ms", "ACLs"),
        ("acl.filters", "ACLs"),
    ],
)
def test_what_is_not_there_yet_is_refused_by_name(name: str, needs: str) -> None:
    with pytest.raises(LinkConfigError, match=f"{name}: needs {needs}, which there is not yet"):
        parse({**MINIMAL, name: "true"})


def test_every_setting_of_topics_follows_the_source_or_is_each_regions_own() -> None:
    classes = sorted((*SYNCABLE, *INDEPENDENT_OF_SOURCE))
    assert classes == sorted(TOPIC_KEYS), "a key without a class, with two, or unknown"
    assert set(ALWAYS_SYNCED) <= set(SYNCED_BY_DEFAULT) <= set(SYNCABLE)


@pytest.mark.parametrize("name", TOPIC_KEYS)
def test_a_setting_that_is_named_is_kept_in_step_and_one_that_cannot_be_is_refused(
    name: str,
) -> None:
    given_names = {**MINIMAL, "topic.config.sync.include": name}
    if class_of(name) is SyncClass.NEVER:
        with pytest.raises(LinkConfigError, match="cannot be kept in step"):
            parse(given_names)
    else:
        assert name in parse(given_names).value("topic.config.sync.include")


def test_addresses_are_split() -> None:
    assert parse(MINIMAL).bootstrap_servers == ("one:9092", "[::1]:9093")


def test_all_problems_are_told_at_once() -> None:
    with pytest.raises(LinkConfigError) as failure:
        parse({"security.protocol": "SSL", "no.such": "x", "consumer.offset.sync.ms": "10"})
    assert len(failure.value.problems) == 4
    text = str(failure.value)
    assert "no.such: unknown" in text
    assert "security.protocol: SSL is not supported yet" in text
    assert "consumer.offset.sync.ms: a whole number from 1000" in text


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("bootstrap.servers", "nohost"),
        ("bootstrap.servers", "a:0"),
        ("bootstrap.servers", "a:65536"),
        ("bootstrap.servers", ""),
        ("security.protocol", "SSL"),
        ("security.protocol", "plain"),
        ("connection.mode", "inbound"),
        ("cluster.link.paused", "yes"),
        ("cluster.link.prefix", "a" * 13),
        ("cluster.link.prefix", "no blanks"),
        ("mirror.start.offset.spec", "yesterday"),
        ("mirror.start.offset.spec", "1950-01-01T00:00:00Z"),
        ("consumer.offset.group.filters", "{"),
        ("consumer.offset.group.filters", '{"topicFilters":[]}'),
        ("consumer.offset.group.filters", '{"groupFilters":[{"name":"a"}]}'),
        ("topic.config.sync.include", "min.insync.replicas"),
        ("acl.sync.enable", "true"),
        ("acl.filters", "{}"),
        ("auto.create.mirror.topics.filters", "{}"),
        ("num.cluster.link.fetchers", "17"),
        ("replica.fetch.max.bytes", "1"),
        ("availability.check.ms", "1.5"),
        ("availability.check.ms", "9" * 30),
        ("availability.check.ms", "١٠٠٠"),  # Arabic digits
        ("bootstrap.servers", "a:١٠٠"),
    ],
)
def test_what_is_wrong_or_not_there_yet_is_refused(name: str, value: str) -> None:
    with pytest.raises(LinkConfigError) as failure:
        parse({**MINIMAL, name: value})
    assert len(failure.value.problems) == 1
    assert failure.value.problems[0].startswith(f"{name}: ")


@pytest.mark.parametrize("name", SETTINGS)
def test_every_default_may_be_given(name: str) -> None:
    without = {key: value for key, value in MINIMAL.items() if key != name}
    mode = {"connection.mode": "INBOUND"} if name == "bootstrap.servers" else {}
    given = {**without, **mode, name: SETTINGS[name].default}
    assert parse(given).value(name) == parse({**without, **mode}).value(name)


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({}, "bootstrap.servers: required"),
        ({"link.mode": "SOURCE"}, "bootstrap.servers: required"),
        ({**MINIMAL, "connection.mode": "INBOUND"}, "bootstrap.servers: not with"),
        ({"link.mode": "SOURCE", "connection.mode": "INBOUND"}, "connection.mode: with link.mode"),
        (
            {**MINIMAL, "link.mode": "SOURCE", "cluster.link.prefix": "w."},
            "cluster.link.prefix: has an effect in the destination region only",
        ),
        (
            {"connection.mode": "INBOUND", "replica.socket.receive.buffer.bytes": "1000"},
            "replica.socket.receive.buffer.bytes: not with connection.mode=INBOUND",
        ),
        (
            {**MINIMAL, "consumer.group.prefix.enable": "true"},
            "consumer.group.prefix.enable: needs cluster.link.prefix",
        ),
        (
            {
                **MINIMAL,
                "link.mode": "BIDIRECTIONAL",
                "cluster.link.prefix": "w.",
                "consumer.group.prefix.enable": "true",
            },
            "consumer.group.prefix.enable: not with link.mode=BIDIRECTIONAL",
        ),
    ],
)
def test_modes_that_do_not_go_together_are_refused(given: dict[str, str], problem: str) -> None:
    with pytest.raises(LinkConfigError) as failure:
        parse(given)
    (found,) = failure.value.problems
    assert found.startswith(problem)


def test_a_link_of_either_mode_is_taken() -> None:
    assert parse({"connection.mode": "INBOUND"}).is_dialed
    assert parse({**MINIMAL, "link.mode": "SOURCE"}).is_source


def test_groups_are_filtered_only_while_they_are_carried() -> None:
    filters = '{"groupFilters":[{"name":"b","patternType":"PREFIXED","filterType":"INCLUDE"}]}'
    off = parse({**MINIMAL, "consumer.offset.group.filters": filters})
    assert off.group_filters == ()
    on = parse({**off.given, "consumer.offset.sync.enable": "TRUE"})
    assert on.group_filters == (Filter("b", Pattern.PREFIXED),)
    everything = parse({**MINIMAL, "consumer.offset.sync.enable": "true"})
    assert everything.group_filters == EVERYTHING


def test_topics_are_filtered_only_while_mirrors_are_created_for_them() -> None:
    filters = '{"topicFilters":[{"name":"b","patternType":"PREFIXED","filterType":"INCLUDE"}]}'
    off = parse({**MINIMAL, "auto.create.mirror.topics.filters": filters})
    assert off.topic_filters == ()
    on = parse({**off.given, "auto.create.mirror.topics.enable": "true"})
    assert on.topic_filters == (Filter("b", Pattern.PREFIXED),)
    with pytest.raises(LinkConfigError, match="nothing is mirrored"):
        parse({**MINIMAL, "auto.create.mirror.topics.enable": "true"})


def test_what_a_mirror_needs_is_always_in_step() -> None:
    config = parse({**MINIMAL, "topic.config.sync.include": ""})
    assert config.value("topic.config.sync.include") == (
        "cleanup.policy",
        "max.message.bytes",
        "message.timestamp.type",
    )


def test_values_are_changed_and_go_back_to_their_defaults() -> None:
    config = altered(parse(MINIMAL), {"availability.check.ms": "7"}, ())
    assert config.number("availability.check.ms") == 7
    assert altered(config, {}, ("availability.check.ms",)).given == MINIMAL


def test_what_is_fixed_at_creation_stays() -> None:
    with pytest.raises(LinkConfigError) as failure:
        altered(
            parse(MINIMAL), {"cluster.link.prefix": "x", "oh": "no"}, ("bootstrap.servers", "uh")
        )
    assert len(failure.value.problems) == 4
    assert altered(parse(MINIMAL), {"link.mode": "DESTINATION"}, ()).value("link.mode")


@given(st.dictionaries(st.sampled_from(sorted(SETTINGS)), st.text(max_size=12), max_size=6))
def test_any_text_is_a_value_or_a_problem(given_configs: dict[str, str]) -> None:
    problems: tuple[str, ...] = ()
    try:
        config = parse({**MINIMAL, **given_configs})
    except LinkConfigError as failure:
        problems = failure.problems
    else:
        said = {name for name, _, is_default in config.effective() if not is_default}
        assert said == {*MINIMAL, *given_configs}
    assert len(problems) <= len(given_configs)


def test_confluent_s_name_of_a_limit_is_taken_for_ours() -> None:
    alias = "confluent.cluster.link.io.max.bytes.per.second"
    config = parse({**MINIMAL, alias: "7"})
    assert config.number("io.max.bytes.per.second") == 7
    assert altered(config, {alias: "8"}, ()).number("io.max.bytes.per.second") == 8
    assert altered(config, {}, (alias,)).number("io.max.bytes.per.second") == 0
    with pytest.raises(LinkConfigError, match="another name of"):
        parse({**MINIMAL, alias: "7", "io.max.bytes.per.second": "8"})


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("earliest", "earliest"),
        ("latest", "latest"),
        ("2026-01-01T00:00:00Z", 1_767_225_600_000),
        ("2026-01-01T01:00:00.250+01:00", 1_767_225_600_250),
        ("2026-01-01", 1_767_225_600_000),  # UTC
    ],
)
def test_mirrors_start_at_an_end_or_a_time(text: str, start: str | int) -> None:
    assert parse({**MINIMAL, "mirror.start.offset.spec": text}).start == start
