"""A disk in memory behind the `Files` port, which forgets at a crash what was not synced, and can be full.

A sync that the device refuses is Linux's: what was appended since the last one can still be read, counts as synced from
then on, and is not on the disk unless it is written again.

`crash` keeps of each file what was synced and, of what was appended since, a part: a prefix, whose last sectors may
hold zeros or garbage instead (what a power cut leaves), or all of it as zeros. A file whose name was never synced may
be gone altogether; whatever syncs a folder syncs all names in it, as on a real disk. One that was written anew and not
synced may be what it was before.
A process that is merely killed loses nothing: open the same `SimFiles` again. What it was in the middle of changes the
disk no more: Python closes the generators of an ended life at any moment of the next one, and runs their `finally`.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial

from brokers.ids import Buffer, Buffers
from brokers.ports import DiskError, Rng, SyncError, Volume
from tests.sim.replacing import SimReplacing
from tests.sim.stored_file import SimRange, SimReader, StoredFile, drop, tear

ROOM = 1 << 40


class SimAppending:
    """`Appending` of a disk in memory, which knows no threads."""

    def __init__(self, files: "SimFiles", path: str, buffers: Buffers) -> None:
        self._files = files
        self._path = path
        self._buffers = buffers
        self._outcome: int | DiskError | None = None

    def run(self) -> int:
        if self._outcome is None:
            try:
                self._outcome = self._files.append(self._path, self._buffers)
            except DiskError as error:
                self._outcome = error
        if isinstance(self._outcome, DiskError):
            raise self._outcome
        return self._outcome

    def give_up(self) -> None:
        if self._outcome is None:
            self._outcome = DiskError(f"{self._path}: given up")


class SimWriter:
    """`FileWriter` of a disk in memory: every call is a change of the disk, until the process ends that made it."""

    def __init__(self, files: "SimFiles", path: str) -> None:
        self._files = files
        self._path = path
        self._temporary = f"{path}.tmp"
        self._life = files.life
        files.remove(self._temporary)
        files.append(self._temporary, [])

    def write(self, data: Buffer) -> None:
        assert self._is_alive, f"{self._path}: a process writes that has ended"
        self._files.append(self._temporary, [data])

    def finish(self) -> None:
        assert self._is_alive, f"{self._path}: a process writes that has ended"
        self._files.finish(self._temporary, self._path)

    def give_up(self) -> None:
        if self._is_alive:
            with suppress(DiskError):
                self._files.remove(self._temporary)

    @property
    def _is_alive(self) -> bool:
        return self._life == self._files.life


class SimFiles:
    """`Files` in memory, with the faults that a real disk has."""

    def __init__(self) -> None:
        self._files: dict[str, StoredFile] = {}
        self._unnamed: dict[str, StoredFile] = {}  # whose names were never synced
        self._directories: dict[str, None] = {"": None}
        # By folder, the files that had these names before each change that is not synced.
        self._unsure: dict[str, list[list[tuple[str, StoredFile | None]]]] = {}
        self._free: int | None = None  # bytes that the disk still takes; None: enough
        self._broken = ""  # part of the paths at which the device reports errors
        self.syncs = 0
        self.life = 0  # which process has the disk
        self.ailing = False  # the device refuses every sync

    def full_after(self, size: int | None) -> None:
        """Let the disk be full after so many more bytes; None gives it room again."""
        self._free = size

    def break_at(self, part: str) -> None:
        """Let writes and syncs of every path with this in it fail; empty repairs the device."""
        self._broken = part

    def end_process(self) -> None:
        """Nothing that it was in the middle of changes the disk from now on."""
        self.life += 1

    def crash(self, rng: Rng) -> None:
        """The power goes: what is not synced survives by luck."""
        self.end_process()
        self._take_back(rng)
        for path, file in list(self._files.items()):
            if not file.named and rng.random() < 0.5:
                del self._files[path]
                continue
            if file.former is not None and rng.random() < 0.5:
                file.content, file.synced = bytearray(file.former), len(file.former)
            file.former = None
            tear(file, rng)
            drop(file)
            file.synced, file.named = len(file.content), True
        self._unnamed.clear()
        for path in list(self._directories):
            if path and not any(self._below(path)) and rng.random() < 0.5:
                del self._directories[path]

    def _take_back(self, rng: Rng) -> None:
        """Names change on the disk in the order in which they changed in memory, up to some moment."""
        for changes in self._unsure.values():
            for before in reversed(changes[rng.randrange(0, len(changes) + 1) :]):
                for path, file in before:
                    if file is None:
                        self._files.pop(path, None)
                    else:
                        self._files[path] = file
        self._unsure.clear()

    def append(self, path: str, buffers: Buffers) -> int:
        self._check_device(path)
        file = self._files.get(path)
        if file is None:
            self._require_directory(path)
            file = self._files[path] = self._unnamed[path] = StoredFile()
        for buffer in buffers:
            taken = self._take(len(buffer))
            file.content += memoryview(buffer)[:taken]
            if taken < len(buffer):
                raise DiskError(f"{path}: the disk is full; free some space")
        return len(file.content)

    def begin_append(self, path: str, buffers: Buffers) -> "SimAppending":
        return SimAppending(self, path, buffers)

    def read(self, path: str, position: int, size: int) -> Buffer:
        return bytes(memoryview(self._file(path).content)[position : position + size])

    def refer(self, path: str, position: int, size: int) -> SimRange:
        file = self._file(path)
        return SimRange(file, position, max(0, min(size, len(file.content) - position)))

    def size(self, path: str) -> int:
        return len(self._file(path).content)

    def exists(self, path: str) -> bool:
        return path in self._files or path in self._directories

    def truncate(self, path: str, size: int) -> None:
        file = self._file(path)
        del file.content[size:]
        file.content += bytes(size - len(file.content))
        file.dropped = [range(each.start, min(each.stop, size)) for each in file.dropped]
        file.synced = size

    def sync(self, path: str) -> None:
        file = self._file(path)
        if self.ailing or self._is_broken(path):
            file.dropped.append(range(file.synced, len(file.content)))
            raise SyncError(f"{path}: the device reports errors; check the disk")
        self.syncs += 1
        file.synced, file.former = len(file.content), None
        self._sync_names(path)

    def space(self) -> Volume:
        self._check_device("")
        return Volume(ROOM, ROOM if self._free is None else self._free)

    def preallocate(self, path: str, size: int) -> None:
        self._file(path).preallocated = size

    def release(self, path: str) -> None:
        self._file(path).preallocated = 0

    def preallocated(self) -> dict[str, int]:
        """The files that have taken more of the disk than they hold, and how much in all."""
        return {path: each.preallocated for path, each in self._files.items() if each.preallocated}

    def touch(self, path: str) -> None:
        self.append(path, [])

    def reader(self, path: str) -> SimReader:
        return SimReader(self._file(path))

    def writer(self, path: str) -> SimWriter:
        return SimWriter(self, path)

    def finish(self, temporary: str, path: str) -> None:
        """The file is synced, its new name is not: a crash takes the name, and what had it before is gone."""
        self._check_device(path)
        file = self._file(temporary)
        if self.ailing:
            raise SyncError(f"{path}: the device reports errors; check the disk")
        file.synced, file.named = len(file.content), False
        self._move(temporary, path)
        self._unnamed[path] = file

    def rewrite(self, path: str, position: int) -> None:
        self._check_device(path)
        file = self._file(path)
        again = [each for each in file.dropped if each.stop > position]
        file.synced = min([file.synced, *(max(each.start, position) for each in again)])
        file.dropped = [range(each.start, min(each.stop, position)) for each in file.dropped]

    def replace(self, path: str, data: Buffer) -> None:
        self._check_device(path)
        self._require_directory(path)
        if self._take(len(data)) < len(data):
            raise DiskError(f"{path}: the disk is full; free some space")
        self._files[path] = self._unnamed[path] = StoredFile(bytearray(data), len(data))
        self._sync_names(path)

    def begin_replace(self, path: str, data: Buffer) -> SimReplacing:
        return SimReplacing(partial(self.replace, path, data))

    def write(self, path: str, data: Buffer) -> None:
        self._check_device(path)
        self._require_directory(path)
        if self._take(len(data)) < len(data):
            raise DiskError(f"{path}: the disk is full; free some space")
        before = self._files.get(path)
        file = self._files[path] = StoredFile(bytearray(data))
        if before is None or not before.named:
            self._unnamed[path] = file
        else:
            kept = before.content[: before.synced] if before.former is None else before.former
            file.named, file.former = True, bytes(kept)

    def rename(self, path: str, new_path: str) -> None:
        if not self.exists(path):
            raise DiskError(f"{path}: No such file or directory")
        self._require_directory(new_path)
        if path in self._files:
            self._move(path, new_path)
            self._sync_names(new_path)
            return
        for directory in [name for name in self._directories if _is_in(name, path)]:
            del self._directories[directory]
            self._directories[new_path + directory[len(path) :]] = None
        for name in list(self._below(path)):
            self._move(name, new_path + name[len(path) :])

    def remove(self, path: str) -> None:
        self._unsure.pop(_folder(path), None)
        for name in [path] if path in self._files else list(self._below(path)):
            del self._files[name]
            self._unnamed.pop(name, None)
        for directory in [name for name in self._directories if _is_in(name, path)]:
            del self._directories[directory]

    def remove_several(self, paths: Sequence[str]) -> None:
        for path in paths:
            self.remove(path)

    def begin_removal(self, paths: Sequence[str]) -> Callable[[], None]:
        self.remove_several(paths)
        return lambda: None

    def rename_several(self, renames: Sequence[tuple[str, str]]) -> None:
        for path, new_path in renames:
            self.rename(path, new_path)

    def begin_changes(
        self, removed: Sequence[str], renames: Sequence[tuple[str, str]]
    ) -> Callable[[], None]:
        for path in removed:
            self.change(path, None)
        for path, new_path in renames:
            self.change(path, new_path)
        return partial(self.sync_changes, [*removed, *(new_path for _, new_path in renames)])

    def change(self, path: str, new_path: str | None) -> None:
        """Remove a file, or rename it; a crash may take that back until the folder is synced."""
        self._check_device(path)
        paths = [path] if new_path is None else [path, new_path]
        before = [(each, self._files.get(each)) for each in paths]
        if new_path is not None:
            if path not in self._files:
                raise DiskError(f"{path}: No such file or directory")
            self._move(path, new_path)
        elif self._files.pop(path, None) is not None:
            self._unnamed.pop(path, None)
        self._unsure.setdefault(_folder(path), []).append(before)

    def sync_changes(self, paths: Sequence[str]) -> None:
        for path in paths:
            self._check_device(path)
            if self.ailing:
                raise DiskError(f"{path}: the device reports errors; check the disk")
            self._sync_names(path)

    def make_directory(self, path: str) -> None:
        parts = path.split("/")
        for length in range(1, len(parts) + 1):
            self._directories["/".join(parts[:length])] = None

    def list(self, path: str) -> Iterator[str]:
        prefix = f"{path}/" if path else ""
        names = {
            name.removeprefix(prefix).partition("/")[0]
            for name in (*self._files, *self._directories)
            if name.startswith(prefix) and name
        }
        return iter(sorted(names))

    def is_file(self, path: str) -> bool:
        return path in self._files

    def is_durable(self, path: str) -> bool:
        """Whether a crash at this moment would leave all of a file, with its name."""
        file = self._file(path)
        whole = file.synced == len(file.content) and not file.dropped and file.former is None
        return whole and file.named

    def everything(self) -> Iterator[tuple[str, bytes]]:
        """Every file that there is, by path."""
        for path in sorted(self._files):
            yield path, bytes(self._files[path].content)

    def close(self, path: str) -> None:
        pass  # nothing is cached

    def remove_all(self) -> None:
        self._files.clear()
        self._unnamed.clear()
        self._directories = {"": None}

    def damage(self, path: str, position: int, data: bytes) -> None:
        """Overwrite bytes behind everyone's back."""
        self._file(path).content[position : position + len(data)] = data

    def _file(self, path: str) -> StoredFile:
        if path not in self._files:
            raise DiskError(f"{path}: No such file or directory")
        return self._files[path]

    def _below(self, path: str) -> Iterator[str]:
        return (name for name in self._files if name.startswith(f"{path}/"))

    def _sync_names(self, path: str) -> None:
        directory = _folder(path)
        self._unsure.pop(directory, None)
        for name in [each for each in self._unnamed if each.rpartition("/")[0] == directory]:
            self._unnamed.pop(name).named = True

    def _move(self, path: str, new_path: str) -> None:
        self._files[new_path] = self._files.pop(path)
        self._unnamed.pop(new_path, None)
        if path in self._unnamed:
            self._unnamed[new_path] = self._unnamed.pop(path)

    def _require_directory(self, path: str) -> None:
        directory = path.rpartition("/")[0]
        if directory not in self._directories:
            raise DiskError(f"{path}: No such file or directory")

    def _is_broken(self, path: str) -> bool:
        return bool(self._broken) and self._broken in path

    def _check_device(self, path: str) -> None:
        if self._is_broken(path):
            raise DiskError(f"{path}: the device reports errors; check the disk")

    def _take(self, size: int) -> int:
        if self._free is None:
            return size
        taken = min(size, self._free)
        self._free -= taken
        return taken


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _is_in(name: str, directory: str) -> bool:
    return name == directory or name.startswith(f"{directory}/")
