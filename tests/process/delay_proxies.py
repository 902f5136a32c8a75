"""`python -m tests.process.delay_proxies --to HOST:PORT --delay-ms 40`: a proxy for each address, in one process.

Prints the ports they listen on, in the order of the addresses, and runs until its standard input ends.
"""

import argparse
import asyncio
import sys
import threading
from collections.abc import Sequence

import uvloop

from tests.process.delay_proxy import DelayProxy, shared_lines


def main() -> None:
    proxies = _made(_options())
    serving = threading.Thread(target=uvloop.run, args=(_serve(proxies),), daemon=True)
    serving.start()
    for proxy in proxies:
        proxy.wait_ready()
    print(*(proxy.port for proxy in proxies), flush=True)
    sys.stdin.read()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.process.delay_proxies", description=__doc__
    )
    parser.add_argument("--to", nargs="+", required=True, metavar="HOST:PORT")
    parser.add_argument("--port", nargs="*", type=int, default=[], help="of each; 0: any")
    parser.add_argument("--delay-ms", type=float, default=0, help="one way")
    parser.add_argument("--bytes-per-second", type=int, default=0)
    parser.add_argument("--shared", action="store_true", help="of all connections together")
    options = parser.parse_args()
    options.port = options.port or [0] * len(options.to)
    if len(options.port) != len(options.to):
        parser.error("--port: one for each address")
    return options


def _made(options: argparse.Namespace) -> list[DelayProxy]:
    shared = shared_lines(options.bytes_per_second) if options.shared else None
    made = []
    for target, port in zip(options.to, options.port, strict=True):
        host, _, number = target.rpartition(":")
        proxy = DelayProxy(
            host,
            int(number),
            delay_ms=options.delay_ms,
            bytes_per_second=options.bytes_per_second,
            shared=shared,
        )
        proxy.port = port
        made.append(proxy)
    return made


async def _serve(proxies: Sequence[DelayProxy]) -> None:
    await asyncio.gather(*(proxy.serve() for proxy in proxies))


if __name__ == "__main__":
    main()
