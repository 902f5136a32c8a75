"""`python -m brokers --config FILE`: one node of a region, without links."""

import argparse
import sys
from pathlib import Path

from brokers.shell.memory import collector_paused

with collector_paused():
    from brokers.config.broker_config import ConfigError
    from brokers.metadata.image.record_serde import MetadataLogError
    from brokers.shell.identity import IdentityError
    from brokers.shell.node import NodeRefused
    from brokers.shell.process import NoServices, run
    from brokers.shell.settings import load_config, overrides_of

EXIT_REFUSED = 1
EXIT_CONFIG = 2
EXIT_DATA = 3


def main() -> int:
    arguments = argparse.ArgumentParser(prog="python -m brokers", description=__doc__)
    arguments.add_argument(
        "--config",
        type=Path,
        required=True,
        help="the node's TOML file, or Kafka's server.properties",
    )
    arguments.add_argument(
        "--override",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="a setting that wins over the file's; may be repeated",
    )
    options = arguments.parse_args()
    try:
        run(load_config(options.config, overrides_of(options.override)), NoServices)
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
