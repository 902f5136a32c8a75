"""A node's log for its operators, on stderr: a line of text, or with `log.format = "json"` a JSON object a line."""

import json
import logging
import sys
from datetime import UTC, datetime

from brokers.config.broker_config import BrokerConfig

TEXT_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"
CHANGE = "change"  # the attribute of a log record that carries a `Changed`


class JsonLines(logging.Formatter):
    """time (RFC 3339, UTC, milliseconds), level, logger, node, message; what, to, why of a change; exception."""

    def __init__(self, node_id: int) -> None:
        super().__init__()
        self._node_id = node_id

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        fields: dict[str, object] = {
            "time": at.replace("+00:00", "Z"),
            "level": record.levelname,
            "logger": record.name,
            "node": self._node_id,
            "message": record.getMessage(),
        }
        if (change := getattr(record, CHANGE, None)) is not None:
            fields |= {"what": change.what, "to": change.to, "why": change.why}
        if record.exc_info:
            fields["exception"] = self.formatException(record.exc_info)
        return json.dumps(fields)


def begin_logging(config: BrokerConfig) -> None:
    """Sets up logging to stderr, at the start of a node; stdout has only the line with its addresses."""
    handler = logging.StreamHandler(sys.stderr)
    is_json = config.log_format == "json"
    handler.setFormatter(JsonLines(config.node_id) if is_json else logging.Formatter(TEXT_FORMAT))
    logging.basicConfig(level=logging.INFO, handlers=[handler])
