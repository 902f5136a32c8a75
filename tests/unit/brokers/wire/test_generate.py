"""The classes are what the tables say."""

from importlib import import_module
from pathlib import Path

import pytest

from brokers.wire import messages
from brokers.wire.generate import api_keys_text, module_text
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.tables import FAMILIES, read_family

FOLDER = Path(messages.__path__[0])


@pytest.mark.parametrize("name", FAMILIES)
def test_what_is_committed_is_what_would_be_generated(name: str) -> None:
    assert (FOLDER / f"{name}.py").read_text() == module_text(name)


def test_the_keys_of_apis_are_those_of_their_schemas() -> None:
    assert (FOLDER / "api_keys.py").read_text() == api_keys_text()
    described = {
        schema.key
        for name in FAMILIES
        for schema in read_family(name).schemas.values()
        if schema.name.endswith("Request")
    }
    assert {key.value for key in ApiKey} == described
    assert (ApiKey.PRODUCE, ApiKey.API_VERSIONS, ApiKey.DESCRIBE_TOPIC_PARTITIONS) == (0, 18, 75)


def test_nothing_else_lies_among_the_generated_files() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.py")) == sorted(
        ["__init__", "api_keys", *FAMILIES]
    )


@pytest.mark.parametrize("name", FAMILIES)
def test_every_struct_has_a_class_that_can_be_made_from_nothing(name: str) -> None:
    classes, family = import_module(f"brokers.wire.messages.{name}"), read_family(name)
    for struct in family.structs.values():
        made = getattr(classes, struct.name)()
        assert made.__slots__ == tuple(field.name for field in struct.fields)
        assert made == getattr(classes, struct.name)()
