"""Folders of partitions that are held no more go; nothing else in the data directory is touched."""

from brokers.effects import CloseLog, OpenLog, RemoveStrays
from brokers.events import StraysRemoved
from brokers.ids import METADATA_PARTITION, TopicPartition
from brokers.ports import DiskError
from brokers.storage.storage import Storage
from tests.sim.files import SimFiles
from tests.unit.brokers.storage.driver import NOW, TOPIC_ID

KEPT, LEFT = TopicPartition("orders", 0), TopicPartition("or-ders", 11)


def data_directory() -> SimFiles:
    files = SimFiles()
    storage = Storage(files)
    for partition in (KEPT, LEFT, METADATA_PARTITION):
        storage.perform(OpenLog(partition, TOPIC_ID), NOW)
    files.make_directory("notes-2024")
    files.append("notes-2024/read.me", [b"an operator's"])
    files.make_directory("orders-0.abc-stray")
    storage.close()
    return files


def test_only_partitions_that_are_not_kept_are_removed() -> None:
    files = data_directory()
    storage = Storage(files)
    storage.perform(OpenLog(METADATA_PARTITION, TOPIC_ID), NOW)
    [removed] = storage.perform(RemoveStrays(frozenset([KEPT])), NOW)
    assert removed == StraysRemoved(("or-ders-11",))
    assert not files.exists("or-ders-11")
    assert files.exists("orders-0") and files.exists("notes-2024/read.me")
    assert storage.perform(RemoveStrays(frozenset([KEPT])), NOW) == []
    storage.close()
    assert b"or-ders" not in bytes(files.read("recovery-point-offset-checkpoint", 0, 999))


def test_a_log_that_is_open_is_no_stray() -> None:
    files = data_directory()
    storage = Storage(files)
    storage.perform(OpenLog(LEFT, TOPIC_ID), NOW)
    storage.perform(RemoveStrays(frozenset([KEPT])), NOW)
    assert files.exists("or-ders-11")
    storage.perform(CloseLog(LEFT, delete=False), NOW)
    storage.perform(RemoveStrays(frozenset([KEPT])), NOW)
    assert not files.exists("or-ders-11")


def test_one_of_the_longest_name_is_removed() -> None:
    class Real(SimFiles):
        def rename(self, path: str, new_path: str) -> None:
            if len(new_path) > 255:
                raise DiskError(f"{new_path}: File name too long")
            super().rename(path, new_path)

    files = Real()
    longest = TopicPartition("x" * 249, 0)
    Storage(files).perform(OpenLog(longest, TOPIC_ID), NOW)
    assert Storage(files).perform(RemoveStrays(frozenset()), NOW) == [
        StraysRemoved((str(longest),))
    ]


def test_a_disk_that_refuses_is_asked_again_at_the_next_start() -> None:
    class Refusing(SimFiles):
        def rename(self, path: str, new_path: str) -> None:
            self.read("no such file", 0, 1)

    files = data_directory()
    files.__class__ = Refusing
    assert Storage(files).perform(RemoveStrays(frozenset([KEPT])), NOW) == []
    assert files.exists("or-ders-11")
