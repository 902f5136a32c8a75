"""`python -m federation.demo.relay PORT TARGET_PORT` forwards connections, until it is told to `cut` them.

It prints `listens` when it does, and `cut` when it has read that word from its standard input. From then on it drops
what it receives, and connections stand, as where a cable is cut. It ends with its standard input.
"""

import contextlib
import socket
import sys
import threading

_HOST = "127.0.0.1"
_PIECE_BYTES = 1 << 18


def _forward(source: socket.socket, target: socket.socket, is_cut: threading.Event) -> None:
    """Until one of them ends; once it is cut, the other one does not hear of that."""
    with contextlib.suppress(OSError):
        while data := source.recv(_PIECE_BYTES):
            if not is_cut.is_set():
                target.sendall(data)
    if not is_cut.is_set():
        with contextlib.suppress(OSError):
            target.shutdown(socket.SHUT_RDWR)


def _serve(server: socket.socket, target_port: int, is_cut: threading.Event) -> None:
    standing = []  # nobody closes what is not collected
    while True:
        near, _ = server.accept()
        standing.append(near)
        if is_cut.is_set():
            continue
        try:
            far = socket.create_connection((_HOST, target_port))
        except OSError:
            near.close()
            continue
        for ends in ((near, far), (far, near)):
            threading.Thread(target=_forward, args=(*ends, is_cut), daemon=True).start()


def main(port: int, target_port: int) -> None:
    is_cut = threading.Event()
    server = socket.create_server((_HOST, port))
    threading.Thread(target=_serve, args=(server, target_port, is_cut), daemon=True).start()
    print("listens", flush=True)
    for line in sys.stdin:
        if line == "cut\n":
            is_cut.set()
            print("cut", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
