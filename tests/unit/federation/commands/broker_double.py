"""A broker on loopback that answers Kafka's questions as it is told; any version up to the ones it is told to serve."""

import socketserver
import struct
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from click.testing import CliRunner, Result

from brokers.wire.codec import decode_request
from brokers.wire.frames import encode_response_frame, parse_request_header
from brokers.wire.message import Message
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.api_versions import ApiVersion, ApiVersionsResponse
from federation.cli import main

Answers = Mapping[int, tuple[int, Callable[[Any], Message]]]  # key -> (newest version, answer)


class BrokerDouble:
    """`run` is the command, spoken to this broker."""

    def __init__(self, port: int) -> None:
        self.bootstrap = f"127.0.0.1:{port}"

    def run(self, *arguments: str) -> Result:
        return CliRunner().invoke(main, [*arguments, "--bootstrap-server", self.bootstrap])


@contextmanager
def broker_double(
    answers: Answers, versions: ApiVersionsResponse | None = None
) -> Iterator[BrokerDouble]:
    """`versions` is what it says of features; it serves what it has answers for."""
    served = [ApiVersion(api_key=key, max_version=newest) for key, (newest, _) in answers.items()]
    known = versions or ApiVersionsResponse()
    known.api_keys = [*served, ApiVersion(api_key=ApiKey.API_VERSIONS, max_version=4)]

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            while prefix := self.rfile.read(4):
                frame = self.rfile.read(struct.unpack(">i", prefix)[0])
                header, position = parse_request_header(frame)
                key, version = header.api_key, header.api_version
                request = decode_request(key, version, frame, position)
                assert key == ApiKey.API_VERSIONS or version <= answers[key][0]
                message = known if key == ApiKey.API_VERSIONS else answers[key][1](request)
                chunks = encode_response_frame(key, version, header.correlation_id, message)
                self.wfile.write(b"".join(map(bytes, chunks)))

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield BrokerDouble(server.server_address[1])
        finally:
            server.shutdown()
            thread.join()
