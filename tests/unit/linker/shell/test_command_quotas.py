"""Room for commands and their bytes: in all, and of one address."""

import asyncio
from collections.abc import Callable
from contextlib import ExitStack, suppress
from typing import Any

import pytest

from linker.peer_limits import CommandLimits
from linker.shell.command_quotas import CommandQuotas, LateRequest, QuotaExceeded, ip_of


async def settle() -> None:
    """Everybody has gone as far as he can."""
    for _ in range(5):
        done = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().call_soon(done.set_result, None)
        await done


def test_an_address_is_told_from_its_port() -> None:
    assert [ip_of(one) for one in ("10.0.0.7:4321", "[::1]:4321", "unix:", "")] == [
        "10.0.0.7", "[::1]", "unix", "",
    ]  # fmt: skip


def test_who_fills_its_share_is_refused_and_others_go_on_until_all_is_taken() -> None:
    quotas = CommandQuotas(CommandLimits(total=3, per_ip=2))
    with ExitStack() as kept:
        for _ in range(2):
            kept.enter_context(quotas.command("east"))
        with pytest.raises(QuotaExceeded, match=r"^2 commands of this .*admin.max.commands.per.ip"):
            kept.enter_context(quotas.command("east"))
        kept.enter_context(quotas.command("west"))
        with pytest.raises(QuotaExceeded, match=r"^3 commands are .*admin.max.commands\)"):
            kept.enter_context(quotas.command("west"))
    with quotas.command("east"), quotas.command("east"):
        pass


class Request:
    """One that comes when it is told."""

    def __init__(self, quotas: CommandQuotas, ip: str) -> None:
        self.comes: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self.is_read, self.ends = False, asyncio.Event()
        self.task = asyncio.ensure_future(self._run(quotas, ip))

    async def _run(self, quotas: CommandQuotas, ip: str) -> None:
        async with quotas.request(ip, self._read):
            await self.ends.wait()

    async def _read(self) -> bytes:
        self.is_read = True
        return await self.comes


def scene(
    act: Callable[[CommandQuotas], Any],
    limits: CommandLimits,
    seconds: float = 60,
    contended_seconds: float = 60,
) -> None:
    async def run() -> None:
        await act(CommandQuotas(limits, seconds, contended_seconds))

    asyncio.run(run())


def test_a_request_is_read_once_there_is_room_for_the_longest_and_then_counts_as_it_is() -> None:
    async def act(quotas: CommandQuotas) -> None:
        first, second, third, other = (Request(quotas, ip) for ip in ("a", "a", "a", "b"))
        await settle()
        read = [each.is_read for each in (first, second, third, other)]
        assert read == [True, True, False, True] and quotas.queued_bytes == 300
        first.comes.set_result(b"1" * 10)
        await settle()
        assert not third.is_read, "ten bytes and two of the longest are more than a share"
        first.ends.set()
        await settle()
        assert third.is_read and quotas.queued_bytes == 300
        for each in (second, third, other):
            each.comes.set_result(b"")
            each.ends.set()
            await each.task
        assert quotas.queued_bytes == 0

    # A share of 200 bytes, of 400.
    scene(act, CommandLimits(total=4, per_ip=2, request_bytes=100, queued_bytes=400))


def test_a_request_that_is_late_is_given_up_and_leaves_its_room() -> None:
    async def act(quotas: CommandQuotas) -> None:
        with pytest.raises(LateRequest, match="not whole"):
            await Request(quotas, "a").task
        assert quotas.queued_bytes == 0

    scene(act, CommandLimits(), seconds=0.01)


def test_a_request_that_is_slow_is_given_up_sooner_where_others_wait() -> None:
    async def act(quotas: CommandQuotas) -> None:
        slow = Request(quotas, "a")
        await settle()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.shield(slow.task), 0.1)
        waiting = Request(quotas, "b")
        waiting.comes.set_result(b"")
        waiting.ends.set()
        with pytest.raises(LateRequest, match="while others wait"):
            await slow.task
        await waiting.task

    limits = CommandLimits(request_bytes=100, queued_bytes=100)
    scene(act, limits, contended_seconds=0.02)


def test_a_command_that_waits_for_its_answer_leaves_room_for_others_of_its_address() -> None:
    """A failover takes as long as it takes, and may be cancelled from where it was asked for."""

    async def act(quotas: CommandQuotas) -> None:
        failover = Request(quotas, "a")
        failover.comes.set_result(b"failover")
        await settle()
        cancel = Request(quotas, "a")
        cancel.comes.set_result(b"cancel")
        cancel.ends.set()
        await cancel.task
        assert not failover.task.done()
        failover.ends.set()
        await failover.task

    scene(act, CommandLimits(), seconds=0.01)


def test_what_finds_no_room_in_time_is_refused() -> None:
    async def act(quotas: CommandQuotas) -> None:
        first, second = Request(quotas, "a"), Request(quotas, "b")
        first.comes.set_result(b"1")
        with pytest.raises(QuotaExceeded, match=r"admin.queued.max.bytes"):
            await second.task
        assert not first.task.done()
        first.ends.set()
        await first.task
        assert quotas.queued_bytes == 0

    scene(act, CommandLimits(request_bytes=100, queued_bytes=100), seconds=0.01)


def test_a_request_that_is_cancelled_while_it_waits_takes_nothing() -> None:
    async def act(quotas: CommandQuotas) -> None:
        first, second = Request(quotas, "a"), Request(quotas, "b")
        await settle()
        second.task.cancel()
        first.task.cancel()
        for each in (first, second):
            with suppress(asyncio.CancelledError):
                await each.task
        assert quotas.queued_bytes == 0

    scene(act, CommandLimits(request_bytes=100, queued_bytes=100))
