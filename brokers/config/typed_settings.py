"""Texts -> values of the types of `BrokerConfig`'s fields."""

import types
import typing
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from brokers.config.broker_config import BrokerConfig


def typed(texts: Mapping[str, str]) -> dict[str, Any]:
    """Texts -> values of the types that the fields of `BrokerConfig` have.

    A text that is not of the type stays, so that the field refuses it by name. An empty one is no value where a field
    needs none.
    """
    values: dict[str, Any] = {}
    for name, text in texts.items():
        trimmed = text.strip()
        field = _FIELDS.get(name)
        if field is None:
            values[name] = trimmed
        elif trimmed or not field.may_be_empty:
            values[name] = field.convert(trimmed)
    return values


class _Field(typing.NamedTuple):
    convert: Callable[[str], Any]
    may_be_empty: bool


def _fields() -> Iterator[tuple[str, _Field]]:
    for name, field in BrokerConfig.model_fields.items():
        kinds = set(_types(field.annotation))
        convert = _boolean if bool in kinds else _number if int in kinds else str
        yield field.alias or name, _Field(convert, field.get_default() in (None, ""))


def _types(annotation: Any) -> Iterator[type]:
    """The types that an annotation lets through: of a union, an Annotated or a Literal, those inside."""
    origin = typing.get_origin(annotation)
    if origin is typing.Literal:
        yield from (type(each) for each in typing.get_args(annotation))
    elif origin is typing.Annotated:
        yield from _types(typing.get_args(annotation)[0])
    elif origin in (typing.Union, types.UnionType):
        for each in typing.get_args(annotation):
            yield from _types(each)
    else:
        yield annotation


def _number(text: str) -> Any:
    try:
        return int(text)
    except ValueError:
        return text


def _boolean(text: str) -> Any:
    return {"true": True, "false": False}.get(text.lower(), text)


_FIELDS = dict(_fields())
