"""Connections of an HTTP listener: in all and of one address; who waits makes room for who comes."""

from brokers.connection_quotas import ConnectionLimits, ConnectionQuotas


class Listener:
    """`dropped` had to make quotas."""

    def __init__(self, total: int, per_ip: int) -> None:
        self.dropped: list[str] = []
        self.quotas = ConnectionQuotas[str](ConnectionLimits(total, per_ip), self.dropped.append)

    def accepts(self, *names: str) -> list[bool]:
        """The address is the first letter of the name. Each waits for a request then."""
        return [self._accepts(name, name[0]) for name in names]

    def _accepts(self, name: str, ip: str) -> bool:
        self.quotas.make_room(ip)
        if not self.quotas.has_room(ip):
            return False
        self.quotas.add(name, ip)
        self.quotas.waits(name)
        return True


def test_one_of_an_address_that_has_its_share_makes_room_and_no_other() -> None:
    listener = Listener(total=4, per_ip=2)
    assert listener.accepts("b1", "a1", "a2", "a3") == [True] * 4
    assert listener.dropped == ["a1"]


def test_the_one_that_has_waited_longest_makes_room_where_all_are_taken() -> None:
    listener = Listener(total=3, per_ip=2)
    assert listener.accepts("b1", "a1", "a2", "c1") == [True] * 4
    assert listener.dropped == ["b1"]


def test_those_that_are_answered_stay_and_a_later_one_of_the_address_is_refused() -> None:
    listener = Listener(total=4, per_ip=2)
    listener.accepts("a1", "a2")
    for name in ("a1", "a2"):
        listener.quotas.works(name)
    assert listener.accepts("a3", "b1") == [False, True]
    assert listener.dropped == []
    assert listener.quotas.has_room("a", beyond=1)
    listener.quotas.waits("a1")
    assert listener.accepts("a3") == [True] and listener.dropped == ["a1"]
    listener.quotas.remove("a3")
    assert listener.accepts("a4") == [True] and len(listener.quotas) == 3
