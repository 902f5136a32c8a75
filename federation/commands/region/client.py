"""A client of one broker, of Causeway's or of Apache Kafka's: one request at a time, in Kafka's protocol."""

from types import TracebackType
from typing import Any, Final

from brokers.wire.message import Message
from brokers.wire.primitives import WireError
from federation.shell.broker_connection import BrokerConnection

CONNECT_SECONDS: Final = 5.0
ANSWER_SECONDS: Final = 30.0
QUICK_SECONDS: Final = 5.0  # of requests whose responses are optional
ANSWER_BYTES_MAX: Final = 256 << 20
_CLIENT_ID: Final = "causeway-region"


class NoAnswer(Exception):
    """No broker answers at any of the addresses; the message has the error of each."""


class Client:
    """A context manager: one connection, to the first of the bootstrap addresses whose broker answers.

    A frozen process still accepts connections, so an address counts only once its broker has answered ApiVersions.
    """

    def __init__(
        self,
        bootstrap: str,
        answer_seconds: float = ANSWER_SECONDS,
        connect_seconds: float = CONNECT_SECONDS,
    ) -> None:
        self._answer_seconds = answer_seconds
        self._connect_seconds = min(connect_seconds, answer_seconds)
        failures: list[str] = []
        for address in filter(None, (item.strip() for item in bootstrap.split(","))):
            try:
                self._connect(address)
                return
            except (OSError, ValueError, WireError) as error:
                failures.append(f"{address}: {str(error) or type(error).__name__}")
        raise NoAnswer("; ".join(failures) or "no address is given")

    def _connect(self, address: str) -> None:
        self.address = address
        self._connection = BrokerConnection(
            address,
            _CLIENT_ID,
            response_bytes_max=ANSWER_BYTES_MAX,
            connect_seconds=self._connect_seconds,
        )
        self._connection.wait_at_most(self._answer_seconds)

    def __enter__(self) -> "Client":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._connection.close()

    def serves(self, api_key: int) -> bool:
        return self._connection.versions.serves(api_key)

    def version(self, api_key: int) -> int:
        """The highest version that this client and the broker both support."""
        return self._connection.versions.latest_usable(api_key)

    def ask(self, api_key: int, message: Message, highest: int | None = None) -> Any:
        """Sends a request, in version `highest` at most; returns its response.

        Raises NoAnswer when the connection fails or times out.
        """
        try:
            return self._connection.ask(api_key, message, highest)
        except (OSError, WireError) as error:
            raise NoAnswer(f"{self.address}: {str(error) or type(error).__name__}") from error
