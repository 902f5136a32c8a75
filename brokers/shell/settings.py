"""A node's file -> settings: TOML or Kafka's `server.properties`, and what stands elsewhere on this machine.

A cluster id that the file does not give is that of formatted directories (`kafka-storage format`). What a listener
without a host advertises is this host's name, as in Kafka.
"""

import os
import re
import socket
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from brokers.config.broker_config import BrokerConfig, ConfigError, from_settings, from_toml
from brokers.config.endpoints import items
from brokers.config.typed_settings import typed
from brokers.shell.identity import META, read_meta

# A line that every server.properties has; no node's TOML has the second one.
_KAFKAS = re.compile(
    rb"^[ \t\f]*(process\.roles|zookeeper\.connect)[ \t\f]*[=: ][^\"']*$", re.MULTILINE
)
_BARE_LISTENER = re.compile(r"([A-Za-z0-9_-]+)://:([0-9]{1,5})")


class NodeFile(NamedTuple):
    """`is_properties`: unknown keys are no reason not to start, as in Kafka. `repeated` are given more than once."""

    settings: dict[str, Any]
    is_properties: bool
    repeated: tuple[str, ...] = ()

    def config(self) -> BrokerConfig:
        """Raises ConfigError with every problem."""
        return from_settings(
            self.settings, takes_unknown=self.is_properties, repeated=self.repeated
        )


def read_node_file(path: Path, overrides: Mapping[str, str] | None = None) -> NodeFile:
    """Reads the settings; `overrides` win over the file. Raises ConfigError, OSError, UnicodeDecodeError."""
    data, overrides = path.read_bytes(), overrides or {}
    is_properties = _is_properties(path, data)
    repeated: tuple[str, ...] = ()
    if is_properties:
        from brokers.config.properties import from_properties, repeated_keys  # not needed for TOML

        text = data.decode("latin-1")  # java.util.Properties reads Latin-1.
        settings = from_properties(text, overrides, PROVIDERS)
        repeated = repeated_keys(text)
        settings |= _advertised(settings)
    else:
        settings = from_toml(data.decode("utf-8")) | typed(overrides)
        if "config.providers" in settings:
            raise ConfigError(["config.providers: only of properties files"])
    return NodeFile(settings | _formatted(settings), is_properties, repeated)


def overrides_of(words: Iterable[str]) -> dict[str, str]:
    """KEY=VALUE -> settings. Raises ConfigError."""
    pairs = [word.partition("=") for word in words]
    if wrong := [name for name, equals, _ in pairs if not (name.strip() and equals)]:
        raise ConfigError([f"--override {name}: give KEY=VALUE" for name in wrong])
    return {name.strip(): value for name, _, value in pairs}


def load_config(path: Path, overrides: Mapping[str, str] | None = None) -> BrokerConfig:
    """The configuration of a node; raises as `read_node_file`."""
    return read_node_file(path, overrides).config()


def _is_properties(path: Path, data: bytes) -> bool:
    """By the extension; without a telling one, what is not TOML and could be properties."""
    if path.suffix in (".properties", ".toml"):
        return path.suffix == ".properties"
    try:
        tomllib.loads(data.decode("utf-8"))
    except UnicodeDecodeError:
        return True
    except tomllib.TOMLDecodeError:
        return _KAFKAS.search(data) is not None
    return False


def _formatted(settings: Mapping[str, Any]) -> dict[str, str]:
    """The cluster id in the node's directories, where the settings have none."""
    if "cluster.id" in settings:
        return {}
    named = settings.get("log.dirs", settings.get("log.dir", "")), settings.get("metadata.log.dir")
    for directory in [each for text in named if isinstance(text, str) for each in items(text)]:
        meta = Path(directory, META)
        try:
            found = read_meta(meta).get("cluster.id") if directory else None
        except (OSError, UnicodeDecodeError):
            continue  # whoever opens the directory says what is wrong with it
        if found:
            return {"cluster.id": found}
    return {}


def _advertised(settings: Mapping[str, Any]) -> dict[str, str]:
    """`advertised.listeners` where it is not given, and listeners have no host."""
    listeners = settings.get("listeners")
    if "advertised.listeners" in settings or not isinstance(listeners, str):
        return {}
    if not any(_BARE_LISTENER.fullmatch(each) for each in items(listeners)):
        return {}
    host = socket.getfqdn()
    of_controllers = items(str(settings.get("controller.listener.names", "CONTROLLER")).upper())
    is_broker = "broker" in str(settings.get("process.roles"))
    named = [
        _BARE_LISTENER.sub(rf"\1://{host}:\2", each)
        for each in items(listeners)
        if is_broker or each.partition(":")[0].upper() in of_controllers
    ]
    return {"advertised.listeners": ",".join(named)}


# --- Kafka's config providers ---


def _from_environment(path: str, key: str, parameters: Mapping[str, str]) -> str | None:
    pattern = parameters.get("allowlist.pattern")
    if path or (pattern is not None and re.fullmatch(pattern, key) is None):
        return None
    return os.environ.get(key)


def _from_file(path: str, key: str, parameters: Mapping[str, str]) -> str | None:
    import javaproperties

    _check_allowed(path, parameters)
    try:
        return javaproperties.loads(Path(path).read_bytes()).get(key)
    except javaproperties.InvalidUEscapeError as error:
        raise OSError(f"{path} is not a properties file: {error}") from None


def _from_directory(path: str, key: str, parameters: Mapping[str, str]) -> str | None:
    _check_allowed(path, parameters)
    if key != Path(key).name:
        raise OSError(f"{key} is not the name of a file")
    return Path(path, key).read_text(encoding="utf-8")


def _check_allowed(path: str, parameters: Mapping[str, str]) -> None:
    allowed = [each for each in parameters.get("allowed.paths", "").split(",") if each]
    where = Path(os.path.normpath(path))
    if allowed and not any(where.is_relative_to(each.strip()) for each in allowed):
        raise OSError(f"{path} is not among allowed.paths")


PROVIDERS = {
    "EnvVarConfigProvider": _from_environment,
    "FileConfigProvider": _from_file,
    "DirectoryConfigProvider": _from_directory,
}
