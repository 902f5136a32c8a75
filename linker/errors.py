"""Why a link, a mirror topic or a task does not work, by the names of Cluster Linking, and what an operator can do."""

from enum import Enum
from typing import Final

from brokers.errors import KafkaError


class LinkError(Enum):
    """Why a link is not ACTIVE. Names of Confluent Cluster Linking, which has two of them for tasks."""

    NO_ERROR = "NO_ERROR"
    AUTHENTICATION_ERROR = "AUTHENTICATION_ERROR"
    UNRESOLVABLE_BOOTSTRAP_ERROR = "UNRESOLVABLE_BOOTSTRAP_ERROR"
    INVALID_BOOTSTRAP_INTERNAL_ENDPOINT_ERROR = "INVALID_BOOTSTRAP_INTERNAL_ENDPOINT_ERROR"
    BOOTSTRAP_TCP_CONNECTION_FAILED_ERROR = "BOOTSTRAP_TCP_CONNECTION_FAILED_ERROR"
    TIMEOUT_ERROR = "TIMEOUT_ERROR"
    MISCONFIGURATION_ERROR = "MISCONFIGURATION_ERROR"
    REMOTE_LINK_NOT_FOUND_ERROR = "REMOTE_LINK_NOT_FOUND_ERROR"
    UNKNOWN = "UNKNOWN"


class MirrorError(Enum):
    """Why a mirror topic is not ACTIVE."""

    NO_ERROR = "NO_ERROR"
    NOT_SET = "NOT_SET"
    SOURCE_TOPIC_MAY_BE_DELETED = "SOURCE_TOPIC_MAY_BE_DELETED"
    SOURCE_TOPIC_ID_CHANGED = "SOURCE_TOPIC_ID_CHANGED"
    SOURCE_PARTITIONS_DECREASED = "SOURCE_PARTITIONS_DECREASED"
    NON_MONOTONIC_LOG_APPEND_EPOCH = "NON_MONOTONIC_LOG_APPEND_EPOCH"
    NON_MONOTONIC_SOURCE_EPOCH = "NON_MONOTONIC_SOURCE_EPOCH"
    UNEXPECTED_TRUNCATION = "UNEXPECTED_TRUNCATION"
    UNSUPPORTED_MESSAGE_FORMAT = "UNSUPPORTED_MESSAGE_FORMAT"
    ILLEGAL_STATE = "ILLEGAL_STATE"
    UNSUPPORTED_MIRROR_STATE = "UNSUPPORTED_MIRROR_STATE"
    UNKNOWN = "UNKNOWN"


class TaskState(Enum):
    """The state of a background task of a link."""

    ACTIVE = "ACTIVE"
    IN_ERROR = "IN_ERROR"
    NOT_CONFIGURED = "NOT_CONFIGURED"
    LINK_FAILED = "LINK_FAILED"
    LINK_UNAVAILABLE = "LINK_UNAVAILABLE"
    LINK_PAUSED = "LINK_PAUSED"
    UNKNOWN = "UNKNOWN"


class TaskError(Enum):
    """Why a task is IN_ERROR; the errors of Cluster Linking that can happen here."""

    NO_ERROR = "NO_ERROR"
    CONSUMER_GROUP_IN_USE_ERROR = "CONSUMER_GROUP_IN_USE_ERROR"
    TOPIC_EXISTS_ERROR = "TOPIC_EXISTS_ERROR"
    INVALID_TOPIC = "INVALID_TOPIC"
    POLICY_VIOLATION_ERROR = "POLICY_VIOLATION_ERROR"
    INTERNAL_ERROR = "INTERNAL_ERROR"


# Version 1 of the link protocol knows no brokers: one of several would send only what it leads.
ONE_BROKER = "this region has several brokers, and the destination's release knows sources of one: upgrade it"

LINK_HINTS: dict[LinkError, str] = {
    LinkError.NO_ERROR: "",
    LinkError.AUTHENTICATION_ERROR: (
        "give the source the secret that the destination showed (`causeway link secret` makes another)"
    ),
    LinkError.UNRESOLVABLE_BOOTSTRAP_ERROR: "check the host names in bootstrap.servers, and DNS on this node",
    LinkError.INVALID_BOOTSTRAP_INTERNAL_ENDPOINT_ERROR: (
        "bootstrap.servers must name Kafka listeners of the region that is meant, and it must have link.listener"
    ),
    LinkError.BOOTSTRAP_TCP_CONNECTION_FAILED_ERROR: (
        "check that the source region runs and that this node reaches bootstrap.servers"
    ),
    LinkError.TIMEOUT_ERROR: "the source region accepts connections and does not answer: look at its log",
    LinkError.MISCONFIGURATION_ERROR: (
        "exactly one half of a link whose source dials has connection.mode=INBOUND: delete one half, create it anew"
    ),
    LinkError.REMOTE_LINK_NOT_FOUND_ERROR: (
        "create the link in the destination region first, under the same name and with connection.mode=INBOUND"
    ),
    LinkError.UNKNOWN: (
        "look at the other region: whether it runs, what its log says and, where it has a half of this link, "
        "what `causeway link describe` says there"
    ),
}

_DIVERGED_HINT: Final = (
    "`causeway mirror truncate-and-restore` follows the source again, and seals what only the mirror has; "
    "`causeway mirror failover` keeps the mirror as a topic of its own"
)

# Of a mirror that `mirror.hole.policy` has paused.
HOLES_HINT: Final = "`causeway mirror resume` skips them; `causeway mirror failover` makes the topic writable as it is"
MIRROR_HINTS: dict[MirrorError, str] = {
    MirrorError.NO_ERROR: "",
    MirrorError.NOT_SET: "",
    MirrorError.SOURCE_TOPIC_MAY_BE_DELETED: "fail the mirror over: it keeps its data and can be deleted then",
    MirrorError.SOURCE_TOPIC_ID_CHANGED: (
        "the source topic was deleted and created again: fail the mirror over, then delete and create it"
    ),
    MirrorError.SOURCE_PARTITIONS_DECREASED: "fail the mirror over, then keep it or delete and create it",
    MirrorError.NON_MONOTONIC_LOG_APPEND_EPOCH: "report this with the logs of both regions",
    MirrorError.NON_MONOTONIC_SOURCE_EPOCH: f"the source lost its latest leadership: {_DIVERGED_HINT}",
    MirrorError.UNEXPECTED_TRUNCATION: f"the source lost records that the mirror holds: {_DIVERGED_HINT}",
    MirrorError.UNSUPPORTED_MESSAGE_FORMAT: "run `causeway audit run` to see which batches are damaged",
    MirrorError.ILLEGAL_STATE: "fail the mirror over, then keep it or delete and create it",
    MirrorError.UNSUPPORTED_MIRROR_STATE: "wait for the pending change, then ask again",
    MirrorError.UNKNOWN: "read the reason; fail the mirror over, then keep it or delete and create it",
}


class LinkRefusal(Exception):
    """Raised to refuse an operator's command; it becomes the answer.

    `code` is a name from Kafka's or Confluent's tables (CLUSTER_LINK_EXISTS, INVALID_CONFIG ...).
    """

    def __init__(
        self, code: str, because: str, *, hint: str = "", problems: tuple[str, ...] = ()
    ) -> None:
        super().__init__(because)
        self.code = code
        self.because = because
        self.hint = hint
        self.problems = problems


# Of a source whose history parts from the mirror's.
DIVERGED: Final = (MirrorError.UNEXPECTED_TRUNCATION, MirrorError.NON_MONOTONIC_SOURCE_EPOCH)
# What the region's refusal of a chunk says of the source.
FATAL: Final = {
    KafkaError.CORRUPT_MESSAGE: MirrorError.UNSUPPORTED_MESSAGE_FORMAT,
    KafkaError.INVALID_RECORD: MirrorError.UNSUPPORTED_MESSAGE_FORMAT,
    KafkaError.UNKNOWN_LEADER_EPOCH: MirrorError.NON_MONOTONIC_LOG_APPEND_EPOCH,
}
