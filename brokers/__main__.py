"""`python -m brokers --config node.toml`: one node of a region, without links."""

import argparse
import sys
from pathlib import Path

from brokers.config.broker_config import ConfigError, parse
from brokers.metadata.image.record_serde import MetadataLogError
from brokers.shell.identity import IdentityError
from brokers.shell.node import NodeRefused
from brokers.shell.process import NothingBeside, run

EXIT_REFUSED = 1
EXIT_CONFIG = 2
EXIT_DATA = 3


def main() -> int:
    arguments = argparse.ArgumentParser(prog="python -m brokers", description=__doc__)
    arguments.add_argument("--config", type=Path, required=True, help="the node's TOML file")
    options = arguments.parse_args()
    try:
        run(parse(options.config.read_text(encoding="utf-8")), NothingBeside)
    except (OSError, UnicodeDecodeError) as error:
        print(f"{options.config}: {error}", file=sys.stderr)
        return EXIT_CONFIG
    except ConfigError as error:
        print(f"{options.config} can't be used; nothing was started:", file=sys.stderr)
        for problem in error.problems:
            print(f"  {problem}", file=sys.stderr)
        return EXIT_CONFIG
    except NodeRefused as error:
        print(error, file=sys.stderr)
        return EXIT_REFUSED
    except (IdentityError, MetadataLogError) as error:
        print(error, file=sys.stderr)
        return EXIT_DATA
    return 0


if __name__ == "__main__":
    sys.exit(main())
