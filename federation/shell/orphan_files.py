"""The orphan stores of this broker's log directories, for operators: listed, read and discarded over `admin.listener`.

Nothing else removes what lies there. A name is looked up among those that are listed, so a path can't lead elsewhere.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from brokers.ids import id_text
from brokers.ports import DiskError
from brokers.shell.files import DiskFiles
from brokers.storage.logs.discarding import discard
from brokers.storage.logs.orphans import DISCARDED_SUFFIX, MANIFEST, ORPHANS, UNFINISHED_SUFFIX
from linker.commands import Command, RecordDiscardedOrphans
from linker.wire.v1 import admin_pb2 as pb

READ_BYTES_MAX: Final = 1 << 20


class NoSuchOrphan(Exception):
    """This broker has no sealed tail, or no such file of it, by that name."""


class OrphanFiles:
    """The methods of the administration that this broker's disks answer. They block: not for the event loop."""

    def __init__(self, log_dirs: Sequence[str]) -> None:
        self._log_dirs = [Path(each) for each in log_dirs]
        self.methods: Mapping[str, tuple[Any, Any, Callable[[Any], Any]]] = {
            "ListOrphans": (pb.ListOrphansRequest, pb.OrphansReply, self.list_all),
            "ReadOrphan": (pb.ReadOrphanRequest, pb.OrphanBytesReply, self.read),
            "DiscardOrphans": (pb.DiscardOrphansRequest, pb.OrphansReply, self.discard),
        }

    def answer(self, method: str, data: bytes) -> bytes:
        """The reply to a request; raises DecodeError for bytes that are none."""
        request_type, reply_type, handle = self.methods[method]
        request = request_type.FromString(data)
        try:
            reply = handle(request)
        except NoSuchOrphan as error:
            hint = "`causeway orphans list` names those there are"
            reply = reply_type(
                error=pb.Error(code="INVALID_REQUEST", message=str(error), hint=hint)
            )
        except (OSError, DiskError) as error:
            reply = reply_type(error=pb.Error(code="KAFKA_STORAGE_ERROR", message=str(error)))
        return bytes(reply.SerializeToString())

    def recorded(self, method: str, data: bytes) -> Command | None:
        """What the operator log gets first: the tails that this request discards. Raises DecodeError."""
        if method != "DiscardOrphans":
            return None
        request = pb.DiscardOrphansRequest.FromString(data)
        if request.validate_only:
            return None
        names = tuple(name for name, _, _ in self._folders() if name in set(request.names))
        return RecordDiscardedOrphans(names) if names else None

    def list_all(self, request: Any) -> Any:
        found = (_described(*each) for each in self._folders())
        return pb.OrphansReply(
            orphans=[each for each in found if request.topic in ("", each.topic)]
        )

    def totals(self) -> tuple[int, int] | None:
        """How many tails there are, and the bytes of their files; None while a log directory can't be read, or a tail
        is being discarded."""
        try:
            for log_dir in self._log_dirs:
                log_dir.stat()  # a glob finds nothing where there is no directory
            folders = [path for _, path, _ in self._folders()]
            sizes = [file.stat().st_size for path in folders for file in path.iterdir()]
        except OSError:
            return None
        return len(folders), sum(sizes)

    def read(self, request: Any) -> Any:
        path = self._folder(request.name)[1]
        if request.file not in {each.name for each in path.iterdir()}:
            raise NoSuchOrphan(f"{request.name} has no file {request.file!r}")
        with (path / request.file).open("rb") as file:
            file.seek(max(0, request.position))
            return pb.OrphanBytesReply(data=file.read(READ_BYTES_MAX))

    def discard(self, request: Any) -> Any:
        """Those that this broker has: `storage/logs/discarding.py`."""
        wanted = set(request.names)
        gone = [each for each in self._folders() if each[0] in wanted]
        described = [_described(*each) for each in gone]
        if not request.validate_only:
            for log_dir in self._log_dirs:
                discard(DiskFiles(log_dir), [name for name, _, home in gone if home == log_dir])
        return pb.OrphansReply(orphans=described)

    def _folder(self, name: str) -> tuple[str, Path, Path]:
        for each in self._folders():
            if each[0] == name:
                return each
        raise NoSuchOrphan(f"this broker has no orphan tail {name!r}")

    def _folders(self) -> Iterator[tuple[str, Path, Path]]:
        """(name, folder, log directory) of each that is complete."""
        for log_dir in self._log_dirs:
            for path in sorted((log_dir / ORPHANS).glob("*/*")):
                if path.is_dir() and not path.name.endswith((UNFINISHED_SUFFIX, DISCARDED_SUFFIX)):
                    yield f"{path.parent.name}/{path.name}", path, log_dir


def _described(name: str, path: Path, log_dir: Path) -> Any:
    try:
        manifest = json.loads((path / MANIFEST).read_bytes())
        return _orphan(name, manifest, log_dir)
    except (OSError, ValueError, KeyError, TypeError) as error:
        return pb.Orphan(name=name, log_dir=str(log_dir), damage=f"{MANIFEST}: {error!r}")


def _orphan(name: str, manifest: Mapping[str, Any], log_dir: Path) -> Any:
    return pb.Orphan(
        name=name,
        topic=manifest["topic"],
        partition=manifest["partition"],
        topic_id=id_text(UUID(bytes=bytes.fromhex(manifest["topic_id"]))),
        base_offset=manifest["base_offset"],
        next_offset=manifest["next_offset"],
        bytes=manifest["bytes"],
        batches=manifest["batches"],
        records=manifest["records"],
        leader_epochs=[
            pb.OrphanEpoch(leader_epoch=epoch, start_offset=start)
            for epoch, start in manifest["leader_epochs"]
        ],
        reason=manifest["reason"],
        sealed_at_ms=manifest["sealed_at"],
        files=[
            pb.OrphanFile(
                name=each["file"],
                base_offset=each["base_offset"],
                bytes=each["bytes"],
                sha256=each["sha256"],
            )
            for each in manifest["files"]
        ],
        log_dir=str(log_dir),
        readers=[
            pb.OrphanReader(group=group, committed_offset=offset)
            for group, offset in manifest.get("readers", ())
        ],
    )
