"""Types and validation of configuration values (Kafka's ConfigDef).

A key whose behaviour this release does not implement is listed with its default, as in Kafka, and any other value is
refused: a value that is accepted takes effect.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

INT32_MAX = 2**31 - 1
INT64_MAX = 2**63 - 1
BLANKS = " \t\n\r\v\f"  # what Python accepts around a number
VALUE_BYTES_MAX = 32_767  # of a string in a metadata record, as Kafka reads it
_SHOWN_MAX = 1_000  # characters of a value in an error message: a response's strings are limited as a record's


class ConfigType(IntEnum):
    """The codes of DescribeConfigs."""

    BOOLEAN = 1
    STRING = 2
    INT = 3
    LONG = 5
    DOUBLE = 6
    LIST = 7


@dataclass(frozen=True, slots=True)
class ConfigKey:
    """One key (Kafka's ConfigDef.ConfigKey). `validator(value)` returns why a value of the right type is invalid, or
    None.

    `is_supported(topic, value)`: whether this release implements a valid `value`; None: only the default is supported.
    `broker_key`: the broker's key that holds the default. `is_region_wide`: that key has one value for all brokers, as
    the controller uses it.
    """

    name: str
    type: ConfigType
    default: str
    documentation: str
    minimum: float = 0
    maximum: float = 1  # of a double
    choices: tuple[str, ...] = ()
    validator: Callable[[str], str | None] | None = None
    is_supported: Callable[[str, str], bool] | None = None
    broker_key: str | None = None
    is_region_wide: bool = False
    is_listed: bool = True


def config_error(key: ConfigKey, topic: str, value: str) -> str | None:
    """Why a value cannot be set for a key of a topic, or None; the topic of a broker's key is ""."""
    name = key.name
    if len(value.encode()) > VALUE_BYTES_MAX:
        return f"Invalid value for configuration {name}: longer than {VALUE_BYTES_MAX} bytes"
    trimmed = value.strip(BLANKS)
    if why := _malformed(key, trimmed):
        return f"Invalid value {shown(value)} for configuration {name}: {shown(why)}"
    if _same(key, value, key.default) or (key.is_supported and key.is_supported(topic, trimmed)):
        return None
    return f"{name}={shown(value)} is not supported by this release; {_alternative(key)}"


def shown(text: str) -> str:
    """A value in an error message, cut to `_SHOWN_MAX` characters."""
    return text if len(text) <= _SHOWN_MAX else f"{text[:_SHOWN_MAX]}..."


def elements(value: str) -> list[str]:
    """The elements of a list value."""
    return [part.strip() for part in value.split(",") if part.strip()]


def _malformed(key: ConfigKey, value: str) -> str | None:
    return _mistyped(key, value) or (key.validator(value) if key.validator is not None else None)


def _mistyped(key: ConfigKey, value: str) -> str | None:
    match key.type:
        case ConfigType.BOOLEAN:
            return None if value.lower() in ("true", "false") else "expected true or false"
        case ConfigType.INT | ConfigType.LONG:
            return _not_whole(key, value)
        case ConfigType.DOUBLE:
            return _not_a_double(key, value)
        case ConfigType.STRING:
            known = not key.choices or value in key.choices
        case ConfigType.LIST:
            known = not key.choices or (
                bool(elements(value)) and set(elements(value)) <= set(key.choices)
            )
    return None if known else f"expected one of {', '.join(key.choices)}"


def _not_whole(key: ConfigKey, value: str) -> str | None:
    maximum = INT32_MAX if key.type is ConfigType.INT else INT64_MAX
    digits = value.removeprefix("-")
    # A 64-bit number has at most 19 digits; converting many more would take long.
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 20):
        return "expected a whole number"
    if not key.minimum <= int(value) <= maximum:
        return f"expected a value from {int(key.minimum)} to {maximum}"
    return None


def _not_a_double(key: ConfigKey, value: str) -> str | None:
    try:
        is_inside = 0 <= float(value) <= key.maximum
        return None if is_inside else f"expected a value from 0 to {key.maximum:g}"
    except ValueError:
        return "expected a number"


def _same(key: ConfigKey, value: str, default: str) -> bool:
    if key.type is ConfigType.LIST:
        return elements(value) == elements(default)
    if key.type in (ConfigType.INT, ConfigType.LONG):
        return int(value) == int(default)
    if key.type is ConfigType.DOUBLE:
        return float(value) == float(default)
    return value.strip().lower() == default.lower()


def _alternative(key: ConfigKey) -> str:
    match key.name:
        case _:
            return f"leave it at {key.default or 'nothing'}"
