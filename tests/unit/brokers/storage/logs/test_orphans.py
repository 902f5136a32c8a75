"""Ends of logs that are sealed before they are cut: complete and durable, or nothing."""

import hashlib
import json
from collections.abc import Mapping
from random import Random
from typing import Any

import pytest

from brokers.effects import SealTail
from brokers.events import TailSealed
from brokers.ids import Offset
from brokers.records.batch import iter_headers
from brokers.storage.logs import orphans
from tests.sim.files import SimFiles
from tests.unit.brokers.storage.driver import TOPIC_ID, TP, Driver, batch_at

HOME = f"orphans/{TP}"


def seal(
    driver: Driver, offset: Offset, store_bytes_max: int = -1, end: Offset = -1
) -> list[TailSealed]:
    """The answers until it is done, or refused."""
    answers: list[TailSealed] = []
    while not answers or not (answers[-1].done or answers[-1].error):
        (answer,) = driver.perform([SealTail(7, TP, offset, "test", store_bytes_max, end=end)])
        assert isinstance(answer, TailSealed)
        answers.append(answer)
    return answers


def sealed(files: SimFiles) -> dict[str, Mapping[str, Any]]:
    """The manifests by folder."""
    found = {}
    for name in files.list(HOME):
        if name.endswith(orphans.UNFINISHED_SUFFIX):
            continue
        path = f"{HOME}/{name}/{orphans.MANIFEST}"
        found[name] = json.loads(bytes(files.read(path, 0, files.size(path))))
    return found


def content(files: SimFiles, folder: str) -> bytes:
    """The batches, after a check of their checksums."""
    out = b""
    for file in sealed(files)[folder]["files"]:
        path = f"{HOME}/{folder}/{file['file']}"
        data = bytes(files.read(path, 0, files.size(path)))
        assert len(data) == file["bytes"] and hashlib.sha256(data).hexdigest() == file["sha256"]
        out += data
    return out


def of_20_batches() -> tuple[Driver, SimFiles]:
    """Two records each, several segments; the second half in leader epoch 1."""
    files = SimFiles()
    driver = Driver(files)
    for number in range(20):
        driver.append_next(2, size=200, leader_epoch=number // 10)
    assert len(driver.log.segments) > 3
    return driver, files


def test_a_tail_is_sealed_as_it_is() -> None:
    driver, files = of_20_batches()
    answers = seal(driver, 8)
    assert answers[-1].next_offset == 40
    (folder,) = sealed(files)
    manifest = sealed(files)[folder]
    assert folder == "8-40.e1"
    assert manifest["topic_id"] == TOPIC_ID.hex() and manifest["reason"] == "test"
    assert (manifest["base_offset"], manifest["next_offset"], manifest["batches"]) == (8, 40, 16)
    assert manifest["records"] == 32
    assert manifest["leader_epochs"] == [[0, 8], [1, 20]]
    assert driver.read_all().endswith(content(files, folder))
    assert len(manifest["files"]) > 2  # as many as segments of the log hold it


def test_a_batch_that_holds_the_offset_is_in_the_tail() -> None:
    driver, files = of_20_batches()
    seal(driver, 9)
    assert list(sealed(files)) == ["8-40.e1"]


def test_what_lies_in_front_of_a_tail_is_sealed_up_to_there() -> None:
    driver, files = of_20_batches()
    seal(driver, 8)
    seal(driver, 0, end=8)
    assert sorted(sealed(files)) == ["0-8.e0", "8-40.e1"]
    assert driver.read_all() == content(files, "0-8.e0") + content(files, "8-40.e1")


def test_a_long_tail_takes_several_steps() -> None:
    driver, files = of_20_batches()
    answers = seal(driver, 0)
    assert len(answers) == len(driver.log.segments) > 3
    assert [each.base_offset for _, each in iter_headers(content(files, "0-40.e1"))] == list(
        range(0, 40, 2)
    )


def test_a_log_that_ends_before_its_tail_leaves_nothing() -> None:
    driver, files = of_20_batches()
    assert [each.done for each in seal(driver, 40)] == [True]
    assert not list(files.list("orphans"))


def test_a_tail_that_was_sealed_is_not_sealed_twice() -> None:
    driver, files = of_20_batches()
    seal(driver, 8)
    before = sealed(files)
    seal(driver, 8)
    assert sealed(files) == before


def test_a_full_disk_leaves_the_log_as_it_is() -> None:
    driver, files = of_20_batches()
    before = driver.read_all()
    files.full_after(500)
    (answer,) = seal(driver, 0)
    assert answer.error and not answer.done
    files.full_after(None)
    assert driver.read_all() == before
    assert seal(driver, 0)[-1].done
    assert len(content(files, "0-40.e1")) == len(before)


def test_a_store_has_a_limit() -> None:
    driver, files = of_20_batches()
    seal(driver, 30)
    held = orphans.stored_bytes(files)
    (answer,) = seal(driver, 0, held + 100)
    assert "orphan.store.max.bytes" in answer.error
    assert "discard" not in answer.error, "the tail alone is larger"
    (answer,) = seal(driver, 0, held + len(driver.read_all()) - 1)
    assert "discard" in answer.error
    assert seal(driver, 0, held + 20_000)[-1].done


def test_a_log_that_is_not_open_is_said() -> None:
    driver, _ = of_20_batches()
    driver.close()
    assert seal(driver, 0)[-1].error == f"{TP} is not open"


@pytest.mark.parametrize("steps", range(1, 12))
def test_a_power_cut_leaves_a_whole_tail_or_none(steps: int) -> None:
    driver, files = of_20_batches()
    driver.stop()
    driver.start()
    for _ in range(steps):
        driver.perform([SealTail(7, TP, 4, "test")])
    files.crash(Random(steps))
    driver.start()
    for folder in sealed(files):
        assert len(list(iter_headers(content(files, folder)))) == 18
    assert seal(driver, 4)[-1].done
    assert list(sealed(files)) == ["4-40.e1"]
    assert len(list(iter_headers(content(files, "4-40.e1")))) == 18


def test_the_log_may_grow_while_its_tail_is_sealed() -> None:
    driver, files = of_20_batches()
    driver.perform([SealTail(7, TP, 30, "test")])
    driver.append(batch_at(40, 2, leader_epoch=7))
    seal(driver, 30)
    assert list(sealed(files)) == ["30-40.e1"]
