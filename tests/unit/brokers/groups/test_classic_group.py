"""A group's members, its leader and the protocol they share."""

from hypothesis import assume, given
from hypothesis import strategies as st

from brokers.groups.classic_group import ClassicGroup, GroupMember
from brokers.groups.group_state import GroupState
from tests.playbooks.groups.consumer import subscription

NAMES = st.lists(
    st.sampled_from(["range", "sticky", "roundrobin", "cooperative"]), min_size=1, unique=True
)


def member(name: str, *protocols: str, instance_id: str | None = None) -> GroupMember:
    return GroupMember(
        id=name,
        instance_id=instance_id,
        client_id="c",
        client_host="/here",
        rebalance_timeout_ms=1,
        session_timeout_ms=1,
        protocols=tuple((each, subscription([each])) for each in protocols or ("range",)),
    )


def group(*members: GroupMember) -> ClassicGroup:
    made = ClassicGroup("g", 0)
    for each in members:
        made.add(each, "consumer")
    return made


@given(st.lists(NAMES, min_size=1, max_size=6))
def test_the_protocol_is_known_to_all_and_wins_the_vote(preferences: list[list[str]]) -> None:
    shared = set.intersection(*map(set, preferences))
    assume(shared)
    made = group(*[member(f"m{index}", *names) for index, names in enumerate(preferences)])
    votes = [next(name for name in names if name in shared) for names in preferences]
    chosen = made.select_protocol()
    assert chosen in shared
    assert votes.count(chosen) == max(map(votes.count, votes))


@given(st.lists(NAMES, max_size=4), NAMES)
def test_who_is_accepted_shares_a_protocol_with_all(
    members: list[list[str]], names: list[str]
) -> None:
    made = ClassicGroup("g", 0)
    for index, each in enumerate(members):
        if made.supports_protocols("consumer", each, besides=None):
            made.add(member(f"m{index}", *each), "consumer")
    inside = [set(dict(each.protocols)) for each in made.members.values()]
    expected = bool(set(names).intersection(*inside))
    assert made.supports_protocols("consumer", names, besides=None) == expected
    if inside:
        assert made.select_protocol() in set.intersection(*inside)
        assert not made.supports_protocols("connect", names, besides=None)


def test_a_member_is_measured_against_the_others_only() -> None:
    made = group(member("a", "range"), member("b", "range", "sticky"))
    former = made.members["a"]
    assert made.supports_protocols("consumer", ["sticky"], besides=former)
    assert not made.supports_protocols("consumer", ["other"], besides=former)


def test_the_first_member_leads_and_the_next_one_inherits() -> None:
    made = group(member("a"), member("b"), member("c"))
    assert made.leader == "a"
    made.remove(made.members["a"])
    assert made.leader == "b"
    made.remove(made.members["c"])
    made.remove(made.members["b"])
    assert made.leader is None


def test_a_leader_that_has_not_joined_makes_room_for_one_that_has() -> None:
    made = group(member("a"), member("b"))
    assert not made.elect_joined_leader()
    assert made.leader == "a"
    made.members["b"].awaiting_join = 1
    assert made.elect_joined_leader()
    assert made.leader == "b"
    made.members["a"].awaiting_join = 2
    assert made.elect_joined_leader()
    assert made.leader == "b"


def test_a_renamed_member_keeps_its_place_its_lead_and_its_duty() -> None:
    made = group(member("a", instance_id="i"), member("b"))
    made.pending_sync_members = {"a": None, "b": None}
    renamed = made.members["a"]
    made.replace_static_member(renamed, "a2")
    assert list(made.members) == ["a2", "b"]
    assert made.members["a2"] is renamed
    assert renamed.id == "a2"
    assert made.leader == "a2"
    assert set(made.pending_sync_members) == {"a2", "b"}
    assert made.static_members == {"i": "a2"}


def test_a_group_reads_what_any_of_its_members_may_read_by_any_protocol() -> None:
    made = group(member("a", "range"), member("b", "sticky"))
    assert made.is_subscribed_to_topic("range")
    assert made.is_subscribed_to_topic("sticky")
    assert not made.is_subscribed_to_topic("t")
    made.members["b"].protocols = (("sticky", b"?"),)
    assert made.is_subscribed_to_topic("t"), "what cannot be read covers everything"
    made.protocol_type = "connect"
    assert not made.is_subscribed_to_topic("range")


def test_a_group_is_blank_only_when_nothing_needs_it() -> None:
    assert ClassicGroup("g", 0).is_unused
    assert not group(member("a")).is_unused
    assert not ClassicGroup("g", 0, pending_members={"m": 1}).is_unused
    assert not ClassicGroup("g", 0, records_in_flight=[()]).is_unused
    assert not ClassicGroup("g", 0, state=GroupState.PREPARING_REBALANCE).is_unused
