"""Values that stand elsewhere (KIP-297, KIP-421): `${NAME:KEY}` and `${NAME:PATH:KEY}`, as `config.providers` says.

Kafka's own three classes are known: of environment variables, of a properties file, of a directory with a file for each
key.
"""

import re
from collections.abc import Callable, Mapping

from brokers.config.broker_config import ConfigError

# (path, key, the provider's parameters) -> the value; None where there is none. Raises OSError.
Provider = Callable[[str, str, Mapping[str, str]], str | None]
Providers = Mapping[str, Provider]  # by the name of Kafka's class, without its package

_VARIABLE = re.compile(r"\$\{([^}:]*):(?:([^}:]*):)?([^}:]*)\}")
_PREFIX = "config.providers"


def resolve(
    texts: Mapping[str, str], providers: Providers, is_used: Callable[[str], bool]
) -> dict[str, str]:
    """The texts of keys that are used with their variables replaced. Raises ConfigError with all that have no value."""
    names = [name.strip() for name in texts.get(_PREFIX, "").split(",") if name.strip()]
    if not names:
        return dict(texts)
    problems: list[str] = []
    known = {name: _provider(texts, name, providers) for name in names}
    found = {
        key: _VARIABLE.sub(_replacing(key, known, problems), text) if is_used(key) else text
        for key, text in texts.items()
    }
    if problems:
        raise ConfigError(problems)
    return found


def _provider(
    texts: Mapping[str, str], name: str, providers: Providers
) -> Callable[[str, str], str | None]:
    named = texts.get(f"{_PREFIX}.{name}.class", "").strip()
    provider = providers.get(named.rpartition(".")[2])
    if provider is None:
        return _unknown(name, named, providers)
    prefix = f"{_PREFIX}.{name}.param."
    params = {
        key.removeprefix(prefix): text for key, text in texts.items() if key.startswith(prefix)
    }
    return lambda path, key: provider(path, key, params)


def _unknown(name: str, named: str, providers: Providers) -> Callable[[str, str], str | None]:
    def refuse(path: str, key: str) -> str | None:
        known = ", ".join(sorted(providers))
        raise OSError(
            f"{_PREFIX}.{name}.class is {named or 'not given'}; only {known} are run here"
        )

    return refuse


def _replacing(
    key: str, known: Mapping[str, Callable[[str, str], str | None]], problems: list[str]
) -> Callable[["re.Match[str]"], str]:
    def replace(match: "re.Match[str]") -> str:
        name, path, wanted = match[1], match[2] or "", match[3]
        if name not in known:
            return match[0]  # Kafka leaves it as it is
        try:
            value = known[name](path, wanted)
        except (OSError, UnicodeDecodeError) as error:
            problems.append(f"{key}: {match[0]}: {error}")
            return match[0]
        if value is None:
            problems.append(f"{key}: {match[0]} has no value; set it, or write the value itself")
            return match[0]
        return value

    return replace
