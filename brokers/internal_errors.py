"""What is told of an exception that nobody meant to raise, and that does not end the node."""

import traceback
from typing import Final

from brokers.effects import Changed

TRACE_MAX: Final = 10_000  # characters: an exception may have what a peer said in it
BRIEF_MAX: Final = 200


def raised(what: str, error: Exception) -> Changed:
    """For the log, with the stack trace."""
    told = "".join(traceback.format_exception(error))
    return Changed(what, "failed", told[:TRACE_MAX])


def brief(error: Exception) -> str:
    """For who has asked."""
    return repr(error)[:BRIEF_MAX]
