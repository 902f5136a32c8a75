"""A node's settings: Kafka's names, all problems at once, nothing guessed."""

import pytest

from brokers.config.broker_config import ConfigError, parse
from brokers.ids import Peer

LEAST = 'node.id = 1\nlog.dirs = "data"\n'


def problems(text: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        parse(text)
    return caught.value.problems


def test_dotted_keys_are_kafkas_names_and_defaults_are_kafkas() -> None:
    config = parse(LEAST + "log.segment.bytes = 2097152\n")
    assert (config.node_id, config.log_segment_bytes, config.message_max_bytes) == (
        1,
        2097152,
        1048588,
    )
    assert {name: value for name, value, _ in config.by_kafka_name()}["num.partitions"] == 1


def test_every_problem_is_listed_at_once() -> None:
    found = problems('node.id = -1\nno.such.key = 3\nlog.segment.bytes = "big"\n')
    assert [line.split(":")[0] for line in sorted(found)] == [
        "log.dirs",
        "log.segment.bytes",
        "no.such.key",
        "node.id",
    ]


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ('listeners = "SSL://h:1"', "listeners"),
        ('listeners = "PLAINTEXT://a:1,PLAINTEXT://b:2"', "listeners"),
        ('listeners = "PLAINTEXT://h:70000"', "listeners"),
        ('listeners = "PLAINTEXT://a:1,OTHER://b:2"', "listeners"),
        ('listeners = "CONTROLLER://a:1"', "listeners"),
        (
            'listeners = "PLAINTEXT://a:1,ONE://a:2,TWO://a:3"\ncontroller.listener.names = "ONE,TWO"',
            "listeners",
        ),
        ('advertised.listeners = "CONTROLLER://h:1"', "advertised.listeners"),
        ('controller.listener.names = ""', "controller.listener.names"),
        ('controller.listener.names = "PLAINTEXT"', "controller.listener.names"),
        ('process.roles = "broker,worker"', "process.roles"),
        ('process.roles = "broker,broker"', "process.roles"),
        (
            'controller.quorum.voters = "1@h:1,1@h:2"',
            "controller.quorum.voters: Value error, node 1 is given twice",
        ),
        ('controller.quorum.voters = "1@h:0"', "controller.quorum.voters"),
        ('controller.quorum.voters = "h:1"', "controller.quorum.voters"),
        ('controller.quorum.voters = ""', "controller.quorum.voters"),
        ("broker.heartbeat.interval.ms = 5000", "broker.heartbeat.interval.ms"),
        ('admin.listener = "nowhere"', "admin.listener"),
        ("default.replication.factor = 0", "default.replication.factor"),
        ('log.dirs = "a,,b"', "log.dirs"),
        ('log.dirs = "a, b ,a"', "log.dirs"),
        ("node_id = 1", "node_id"),
        ("log.retention.ms = -2", "log.retention.ms"),
        ("auto.create.topics.enable = 1", "auto.create.topics.enable"),
        (
            "group.min.session.timeout.ms = 10\ngroup.max.session.timeout.ms = 9",
            "group.min.session.timeout.ms",
        ),
    ],
)
def test_a_value_out_of_range_is_refused_by_name(line: str, name: str) -> None:
    text = (LEAST if "log.dirs" not in line else "node.id = 1\n") + line + "\n"
    assert any(problem.startswith(name) for problem in problems(text))


def test_what_is_not_toml_is_said_to_be_so() -> None:
    assert "not TOML" in problems("node.id = = 1")[0]


def test_a_key_that_is_the_beginning_of_another_one_needs_quotes() -> None:
    """TOML has a table or a value at a name."""
    both = "{} = 40\nlink.max.streams.per.ip = 20\n"
    (problem,) = problems(LEAST + both.format("link.max.streams"))
    assert problem.endswith("a key that is the beginning of another one needs quotes")
    config = parse(LEAST + both.format('"link.max.streams"'))
    assert (config.link_max_streams, config.link_max_streams_per_ip) == (40, 20)


# --- roles, listeners and voters ---

VOTERS = 'controller.quorum.voters = "1@a:91,2@[::1]:92,3@c:93"\n'
CLUSTER = 'cluster.id = "one"\n'
BOTH = 'listeners = "PLAINTEXT://g:9092,CONTROLLER://h:91"\n'
ANYWHERE = 'listeners = "PLAINTEXT://:9092,CONTROLLER://:91"\n'


def test_a_lone_node_is_its_own_quorum() -> None:
    config = parse(LEAST)
    assert config.is_broker and config.is_controller and config.is_alone
    assert config.voters == (Peer(1, "127.0.0.1", 9092),)
    assert config.controller_address is None


def test_one_that_others_may_ask_is_not_alone() -> None:
    config = parse(LEAST + BOTH)
    assert config.decides_alone and not config.is_alone
    assert config.voters == (Peer(1, "h", 91),)


def test_a_node_of_many_knows_its_listeners_and_the_voters() -> None:
    config = parse(LEAST + VOTERS + CLUSTER + BOTH)
    assert not config.is_alone
    assert config.voters == (Peer(1, "a", 91), Peer(2, "::1", 92), Peer(3, "c", 93))
    assert (config.listeners_by_name["PLAINTEXT"], config.controller_address) == (
        ("g", 9092),
        ("h", 91),
    )
    assert (str(config.voters[1].host), config.controller_listener) == ("::1", "CONTROLLER")


def test_a_controller_may_wait_to_be_added_to_the_voters() -> None:
    config = parse(LEAST.replace("1", "4", 1) + VOTERS + CLUSTER + BOTH)
    assert config.is_controller and config.node_id not in [each.node_id for each in config.voters]


def test_roles_decide_which_listeners_a_node_has() -> None:
    broker = parse('node.id = 4\nlog.dirs = "data"\nprocess.roles = "broker"\n' + VOTERS + CLUSTER)
    assert (broker.is_controller, broker.controller_address) == (False, None)
    controller = parse(
        LEAST + VOTERS + CLUSTER
        + 'process.roles = "controller"\nlisteners = "ONE://h:91"\ncontroller.listener.names = "ONE,TWO"\n'
    )  # fmt: skip
    assert (controller.is_broker, controller.controller_address) == (False, ("h", 91))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (VOTERS + BOTH, {"cluster.id"}),
        (VOTERS, {"cluster.id", "listeners"}),
        (VOTERS + CLUSTER + ANYWHERE, {"advertised.listeners"}),
        (VOTERS.replace("1@a", "7@h") + BOTH + CLUSTER, {"controller.quorum.voters"}),
        ('process.roles = "broker"\n' + CLUSTER, {"controller.quorum.voters"}),
        ('process.roles = "broker"\n', {"controller.quorum.voters", "cluster.id"}),
        ('process.roles = "broker"\n' + VOTERS + CLUSTER, {"controller.quorum.voters"}),
        (
            'process.roles = "broker"\n' + VOTERS.replace("1@", "7@") + CLUSTER + BOTH,
            {"listeners"},
        ),
        ('process.roles = "controller"\n' + VOTERS + CLUSTER + BOTH, {"listeners"}),
        (
            'process.roles = "controller"\nadvertised.listeners = "PLAINTEXT://a:1"\n'
            + VOTERS + CLUSTER,
            {"listeners", "advertised.listeners"},
        ),
    ],
)  # fmt: skip
def test_what_does_not_go_together_is_said_all_at_once(text: str, expected: set[str]) -> None:
    found = problems(LEAST + text)
    assert {line.split(":")[0] for line in found} == expected, found


# --- controllers that know the voters (KIP-853) ---

BOTH_ROLES = 'listeners = "PLAINTEXT://h:9092,CONTROLLER://h:91"\n'


@pytest.mark.parametrize("where", ["h:91", "localhost:91", "127.0.0.1:91", "[::1]:91"])
def test_a_controller_that_names_only_itself_decides_alone(where: str) -> None:
    config = parse(LEAST + BOTH_ROLES + f'controller.quorum.bootstrap.servers = "{where}"\n')
    assert config.decides_alone and not config.joins_others


def test_a_broker_needs_no_voters_where_it_can_ask_controllers() -> None:
    config = parse(
        LEAST + CLUSTER + 'process.roles = "broker"\n'
        'controller.quorum.bootstrap.servers = "a:91, [::1]:92"\n'
    )  # fmt: skip
    assert config.voters == () and config.joins_others
    assert config.bootstrap_controllers == (("a", 91), ("::1", 92))


def test_a_controller_that_names_others_must_say_whether_it_joins_them() -> None:
    text = LEAST + CLUSTER + BOTH_ROLES + 'controller.quorum.bootstrap.servers = "h:91,other:91"\n'
    (problem,) = problems(text)
    assert problem.startswith("controller.quorum.bootstrap.servers: names other controllers")
    assert "controller.quorum.voters" in problem and "auto.join" in problem
    config = parse(text + "controller.quorum.auto.join.enable = true\n")
    assert config.voters == () and config.is_controller and not config.decides_alone


def test_voters_that_are_named_count_more_than_bootstrap_controllers() -> None:
    config = parse(
        LEAST + CLUSTER + VOTERS + BOTH_ROLES + 'controller.quorum.bootstrap.servers = "other:91"\n'
    )
    assert len(config.voters) == 3 and not config.joins_others


@pytest.mark.parametrize("value", ["h", "h:0", ":91", "h:91:92"])
def test_a_bootstrap_controller_is_an_address(value: str) -> None:
    found = problems(LEAST + f'controller.quorum.bootstrap.servers = "{value}"\n')
    assert any(line.startswith("controller.quorum.bootstrap.servers") for line in found)


@pytest.mark.parametrize("value", ["10.0.0.1", "host:3", "10.0.0.1:-1", "10.0.0.1:x"])
def test_a_limit_of_an_address_is_an_address_and_a_number(value: str) -> None:
    found = problems(LEAST + f'max.connections.per.ip.overrides = "{value}"\n')
    assert any(line.startswith("max.connections.per.ip.overrides") for line in found)


def test_limits_of_addresses_are_found_as_sockets_name_them() -> None:
    config = parse(LEAST + 'max.connections.per.ip.overrides = "127.0.0.1:5, [0:0::1]:7"\n')
    assert config.connections_by_ip == {"127.0.0.1": 5, "::1": 7}
