"""Nodes of different releases: what is sent, at which version, and what is not."""

import asyncio
import struct
from typing import Any

from brokers.api.versions import advertised
from brokers.events import AskFailure, Listener
from brokers.node import broker_probes
from brokers.quorum import messages as quorum_messages
from brokers.replication import fetch_lane
from brokers.wire.codec import VERSIONS
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.fetch import (
    FetchRequest,
    FetchResponse,
    ReplicaState,
)
from brokers.wire.messages.metadata import MetadataRequest
from tests.unit.brokers.shell.peer_doubles import FETCH, METADATA, Answerer, Asker, run, say


def test_a_peer_of_another_release_is_asked_at_the_highest_version_that_both_speak() -> None:
    async def play() -> None:
        asked: list[tuple[int, int]] = []

        def act(header: Any, writer: asyncio.StreamWriter) -> None:
            asked.append((header.api_key, header.api_version))
            say(header, writer, FetchResponse())

        asker, older = Asker(), Answerer(act, {FETCH[0]: (4, 13)})
        port = await older.start()
        before = [
            asker.ask(port, (FETCH[0], highest), message=FetchRequest()) for highest in (18, 5)
        ]
        assert await asker.heard(2) == [(ticket, AskFailure.NONE) for ticket in before]
        after = asker.ask(port, (FETCH[0], 18), message=FetchRequest())
        assert await asker.heard(1) == [(after, AskFailure.NONE)]
        assert asked == [(FETCH[0], 13), (FETCH[0], 5), (FETCH[0], 13)]

    run(play)


def test_what_a_peer_does_not_serve_is_not_sent_and_harms_no_other_request() -> None:
    async def play() -> None:
        asked: list[int] = []

        def act(header: Any, writer: asyncio.StreamWriter) -> None:
            asked.append(header.api_key)
            say(header, writer, FetchResponse())

        asker, older = Asker(), Answerer(act, {FETCH[0]: (4, 11), METADATA[0]: (13, 14)})
        port = await older.start()
        by_epoch = FetchRequest(
            replica_state=ReplicaState(replica_id=1)
        )  # has its place from 15 on
        for _ in ("before the versions are known", "and after"):
            missing = asker.ask(port)
            above = asker.ask(port, METADATA, message=MetadataRequest())
            inexpressible = asker.ask(port, FETCH, message=by_epoch)
            served = asker.ask(port, FETCH, message=FetchRequest())
            assert dict(await asker.heard(4)) == {
                missing: AskFailure.UNSUPPORTED_VERSION,
                above: AskFailure.UNSUPPORTED_VERSION,
                inexpressible: AskFailure.UNSUPPORTED_VERSION,
                served: AskFailure.NONE,
            }
        assert asked == [FETCH[0], FETCH[0]] and older.connections == 1

    run(play)


def test_a_peer_that_comes_back_with_another_release_is_asked_anew_what_it_serves() -> None:
    async def play() -> None:
        asked: list[int] = []

        def act(header: Any, writer: asyncio.StreamWriter) -> None:
            asked.append(header.api_version)
            if len(asked) % 2:
                say(header, writer, FetchResponse())
            else:
                writer.transport.abort()

        asker, peer = Asker(), Answerer(act)
        port = await peer.start()
        for last in (12, 17, 4):
            peer.serves = {FETCH[0]: (4, last)}
            for came_of_it in (AskFailure.NONE, AskFailure.CLOSED):
                ticket = asker.ask(port, (FETCH[0], 18), message=FetchRequest())
                assert await asker.heard(1) == [(ticket, came_of_it)]
        assert asked == [12, 12, 17, 17, 4, 4]

    run(play)


def test_a_peer_that_refuses_to_say_what_it_serves_is_unreadable() -> None:
    async def play() -> None:
        async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readexactly(4)
            writer.write(struct.pack(">iihi", 10, 0, 35, 0))

        server = await asyncio.start_server(refuse, "127.0.0.1", 0)
        asker = Asker()
        port = server.sockets[0].getsockname()[1]
        first, second = asker.ask(port), asker.ask(port)
        assert await asker.heard(2) == [(first, AskFailure.UNREADABLE), (second, AskFailure.CLOSED)]
        server.close()

    run(play)


def test_each_listener_names_all_that_other_nodes_ask_of_it() -> None:
    sent = (
        ApiKey.ALTER_PARTITION,
        ApiKey.ENVELOPE,
        ApiKey.BROKER_REGISTRATION,
        ApiKey.BROKER_HEARTBEAT,
        ApiKey.ALLOCATE_PRODUCER_IDS,
        ApiKey.CONTROLLER_REGISTRATION,
        ApiKey.ASSIGN_REPLICAS_TO_DIRS,
    )
    of_controllers = {key: VERSIONS[key][1] for key in sent} | {**quorum_messages.VERSIONS}
    of_brokers = {
        ApiKey.FETCH: fetch_lane.FETCH_VERSION,
        ApiKey.API_VERSIONS: broker_probes.VERSION,
    }
    for listener, asked in ((Listener.CONTROLLER, of_controllers), (Listener.DATA, of_brokers)):
        named = advertised(listener)
        assert [key for key, version in asked.items() if named[key][1] < version] == []
