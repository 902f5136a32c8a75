"""Runs a transcript: lines that begin with `>` are what happens, indented ones what the coordinator does.

Clients have names and remember the member id and generation of their last result; `id=`, `gen=` and so on override.
Member ids are printed as `client#1`. Times are milliseconds. `python -m tests.playbooks.groups.transcript` rewrites the
expected lines of every file: review the difference.
"""

import re
import shlex
from pathlib import Path

from brokers.coordinator.effects import AppendRecords, CoordinatorReply
from brokers.effects import Changed
from brokers.errors import KafkaError
from brokers.groups import records
from brokers.groups.config import GroupCoordinatorConfig
from brokers.groups.requests import (
    CommitRequest,
    HeartbeatRequest,
    JoinRequest,
    JoinResult,
    LeaveRequest,
    LeaveResult,
    MemberName,
    SyncRequest,
    SyncResult,
)
from brokers.ids import OffsetAndMetadata, TopicPartition
from brokers.region import GroupOffsetsChanged
from tests.playbooks.groups.consumer import subscription
from tests.playbooks.groups.world import START, World

FOLDER = Path(__file__).parent
UNIQUE = re.compile(r"-([0-9a-f]{8})-0000-4000-8000-([0-9a-f]{12})")


class Script:
    """Interprets commands against a world; one method per command."""

    def __init__(self) -> None:
        self.world = World()
        self.lines: list[str] = []
        self.clients: dict[str, dict[str, object]] = {}
        self.waiting: dict[int, tuple[str, str]] = {}  # ticket -> (client, verb)
        self._seen = 0

    def run(self, command: str) -> list[str]:
        verb, *words = shlex.split(command)
        options = dict(
            word.split("=", 1) for word in words if "=" in word and "-" not in word.split("=")[0]
        )
        plain = [word for word in words if word.split("=")[0] not in options or "=" not in word]
        self.lines = []
        getattr(self, f"do_{verb}")(plain, options)
        fresh, self._seen = self.world.told[self._seen :], len(self.world.told)
        for effect in fresh:
            self.lines += self._say(effect)
        return [self._shorten(line) for line in self.lines]

    # --- what happens ---

    def do_config(self, words, options):
        self.world = World(
            GroupCoordinatorConfig(
                **{
                    "offsets_partitions": 3,
                    "initial_rebalance_delay_ms": 0,
                    **{name: int(value) for name, value in options.items()},
                }
            )
        )
        self._seen = len(self.world.told)

    def do_join(self, words, options):
        client = self._client(words[0])
        client.update(
            group=options.get("group", client["group"]),
            instance=options.get("instance", client["instance"]),
        )
        version = int(options.get("v", 9))
        names = options.get("protocols", "range").split(",")
        topics = [topic for topic in options.get("topics", "t").split(",") if topic]
        request = JoinRequest(
            group=client["group"],
            member_id=options.get("id", client["id"]),
            instance_id=client["instance"],
            client_id=words[0],
            client_host="/here",
            protocol_type=options.get("type", "consumer"),
            protocols=tuple((name, subscription(topics)) for name in names),
            session_timeout_ms=int(options.get("session", 10_000)),
            rebalance_timeout_ms=int(options.get("rebalance", 60_000)),
            requires_member_id=version >= 4,
            supports_skipping_assignment=version >= 9,
        )
        self._ask(words[0], "join", request)

    def do_sync(self, words, options):
        client = self._client(words[0])
        given = [word.split(":", 1) for word in words[1:]]
        request = SyncRequest(
            group=client["group"],
            generation=int(options.get("gen", client["gen"])),
            member_id=options.get("id", client["id"]),
            instance_id=client["instance"],
            protocol_type=options.get("type"),
            protocol=options.get("protocol"),
            assignments={str(self._client(name)["id"]): part.encode() for name, part in given},
        )
        self._ask(words[0], "sync", request)

    def do_heartbeat(self, words, options):
        client = self._client(words[0])
        request = HeartbeatRequest(
            group=client["group"],
            generation=int(options.get("gen", client["gen"])),
            member_id=options.get("id", client["id"]),
            instance_id=client["instance"],
        )
        self._ask(words[0], "heartbeat", request)

    def do_leave(self, words, options):
        clients = [self._client(word) for word in words]
        names = [
            MemberName(str(options.get("id", client["id"])), client["instance"])
            for client in clients
        ]
        self._ask("+".join(words), "leave", LeaveRequest(clients[0]["group"], tuple(names)))

    def do_commit(self, words, options):
        client = self._client(words[0])
        request = CommitRequest(
            group=options.get("group", client["group"]),
            generation=int(options.get("gen", client["gen"])),
            member_id=options.get("id", client["id"]),
            instance_id=client["instance"],
            offsets={
                _partition(name): OffsetAndMetadata(
                    int(offset), metadata=options.get("metadata", "")
                )
                for name, offset in (word.split("=") for word in words[1:])
            },
            retention_ms=int(options["retention"]) if "retention" in options else None,
        )
        self._ask(words[0], "commit", request)

    def do_link(self, words, options):
        offsets = {
            _partition(name): OffsetAndMetadata(int(offset))
            for name, offset in (word.split("=") for word in words)
        }
        ticket = self.world.ticket("link")
        self.waiting[ticket] = ("link", "commit")
        group = options.get("group", "g")
        self.world.perform(
            self.world.coordinator.commit_from_link(ticket, group, offsets, self.world.now)
        )

    def do_fetch(self, words, options):
        fetched = self.world.coordinator.fetch_offsets(options.get("group", "g"), None)
        offsets = [f"{name}={found.offset}" for name, found in fetched.offsets.items()]
        self.lines.append(
            " ".join(["offsets", *([fetched.error.name] if fetched.error else []), *offsets])
        )

    def do_wait(self, words, options):
        self.world.wait(int(words[0]))

    def do_settle(self, words, options):
        self.world.settle()

    def do_written(self, words, options):
        self.world.write_all()

    def do_lost(self, words, options):
        self.world.lose(KafkaError[words[0]])

    def do_gone(self, words, options):
        """The connection of a client's waiting request breaks."""
        self.world.disconnect(
            *[ticket for ticket, (name, _) in self.waiting.items() if name == words[0]]
        )

    def do_restart(self, words, options):
        self.world.restart()

    def do_unload(self, words, options):
        for partition in self.world.log:
            self.world.unload(partition)

    def do_delete(self, words, options):
        ticket = self.world.ticket("delete")
        self.waiting[ticket] = ("admin", "delete")
        self.world.perform(self.world.coordinator.delete(ticket, words, self.world.now))

    def do_forget(self, words, options):
        """OffsetDelete."""
        ticket = self.world.ticket("forget")
        self.waiting[ticket] = ("admin", "forget")
        partitions = [_partition(word) for word in words]
        group = options.get("group", "g")
        self.world.perform(
            self.world.coordinator.delete_offsets(ticket, group, partitions, self.world.now)
        )

    def do_drop(self, words, options):
        """Topics are deleted."""
        self.world.perform(self.world.coordinator.on_topics_deleted(words, self.world.now))

    def do_describe(self, words, options):
        (found,) = self.world.coordinator.describe([options.get("group", "g")])
        head = [found.state.value, found.protocol_type or "-", found.protocol or "-"]
        if found.error:
            head.append(found.error.name)
        self.lines.append(" ".join(head))
        self.lines += [
            f"  {member.member_id} {member.assignment.decode() or '-'}"
            + (f" instance={member.instance_id}" if member.instance_id else "")
            for member in found.members
        ]

    # --- what is said of it ---

    def _client(self, name):
        return self.clients.setdefault(name, {"id": "", "gen": -1, "group": "g", "instance": None})

    def _ask(self, name, verb, request):
        ticket = self.world.ticket(request)
        self.waiting[ticket] = (name, verb)
        self.world.perform(getattr(self.world.coordinator, verb)(ticket, request, self.world.now))

    def _say(self, effect):
        match effect:
            case CoordinatorReply(ticket, response):
                name, verb = self.waiting.pop(ticket)
                return [f"{name} {verb}: {self._told(name, response)}"]
            case AppendRecords():
                return [
                    "append " + self._record(records.decode(key, value))
                    for key, value in effect.records
                ]
            case GroupOffsetsChanged(group, offsets) if not offsets:
                return [f"links hear of {group}"]
            case GroupOffsetsChanged(group, offsets):
                changed = [
                    f"{name}={found.offset if found else None}" for name, found in offsets.items()
                ]
                return [f"committed {group} {' '.join(changed)}"]
            case Changed(what, to, why):
                return [f"{what} -> {to}: {why}"]

    def _told(self, name, response):
        client = self._client(name)
        match response:
            case JoinResult():
                if response.error in (KafkaError.NONE, KafkaError.MEMBER_ID_REQUIRED):
                    client["id"] = response.member_id
                if response.error:
                    return f"{response.error.name} id={response.member_id or '-'}"
                client["gen"] = response.generation
                members = " ".join(member.member_id for member in response.members)
                skip = " skip" if response.skip_assignment else ""
                return (
                    f"generation {response.generation} {response.protocol} "
                    f"leader={response.leader}{skip} [{members}]"
                )
            case SyncResult():
                return (
                    response.error.name
                    if response.error
                    else f"assigned {response.assignment.decode() or '-'}"
                )
            case LeaveResult(error, members):
                return " ".join([error.name, *(each.name for _, each in members)])
        errors = getattr(response, "errors", None)
        if errors:
            return " ".join(f"{key}:{error.name}" for key, error in errors.items())
        return response.error.name

    def _record(self, record):
        if isinstance(record, records.OffsetCommitRecord):
            found = record.offset
            return f"{record.group} {record.partition} {found.offset if found else None}"
        if record.image is None:
            return f"{record.group} None"
        members = " ".join(
            f"{each.id}:{each.assignment.decode() or '-'}" for each in record.image.members
        )
        return f"{record.group} generation {record.image.generation} leader={record.image.leader or '-'} [{members}]"

    def _shorten(self, line):
        return UNIQUE.sub(lambda match: f"#{int(match.group(2), 16)}", line).replace(
            str(START), "START"
        )


def _partition(name):
    topic, _, index = name.rpartition("-")
    return TopicPartition(topic, int(index))


def played(text: str) -> str:
    """The transcript with what really happens."""
    script, out = Script(), []
    for line in text.splitlines():
        if line.startswith("> "):
            out.append(line)
            out += [f"  {said}" for said in script.run(line[2:].split("  # ")[0])]
        elif not line.startswith("  "):
            out.append(line)
    return "\n".join(out) + "\n"


def transcripts() -> list[Path]:
    return sorted(FOLDER.glob("*.txt"))


if __name__ == "__main__":
    for path in transcripts():
        path.write_text(played(path.read_text()))
