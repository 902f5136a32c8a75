"""The classes are what the tables say."""

from importlib import import_module
from pathlib import Path

import pytest
from kio.schema.index import api_key_map

from brokers.wire import messages
from brokers.wire.codec import VERSIONS
from brokers.wire.generate import API_KEYS, api_keys_text, module_text
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.tables import FAMILIES, read_family

FOLDER = Path(messages.__path__[0])


@pytest.mark.parametrize("name", FAMILIES)
def test_what_is_committed_is_what_would_be_generated(name: str) -> None:
    assert (FOLDER / f"{name}.py").read_text() == module_text(name)


def test_nothing_else_lies_among_the_generated_files() -> None:
    expected = sorted(["__init__", API_KEYS, *FAMILIES])
    assert sorted(path.stem for path in FOLDER.glob("*.py")) == expected


def test_the_api_keys_are_those_of_the_tables() -> None:
    assert (FOLDER / f"{API_KEYS}.py").read_text() == api_keys_text()
    assert {int(key) for key in ApiKey} == set(VERSIONS)


def test_api_keys_have_the_names_of_kafkas_own_schemas() -> None:
    theirs = {key: name.upper() for key, name in api_key_map.items() if key in VERSIONS}
    assert {int(key): key.name for key in ApiKey if key in theirs} == theirs
    assert ApiKey.OFFSET_FOR_LEADER_EPOCH == 23


@pytest.mark.parametrize("name", FAMILIES)
def test_every_struct_has_a_class_that_can_be_made_from_nothing(name: str) -> None:
    classes, family = import_module(f"brokers.wire.messages.{name}"), read_family(name)
    for struct in family.structs.values():
        made = getattr(classes, struct.name)()
        assert made.__slots__ == tuple(field.name for field in struct.fields)
        assert made == getattr(classes, struct.name)()
