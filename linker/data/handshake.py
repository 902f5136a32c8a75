"""Protocol versions and cluster ids, which both ends of a stream check before they send anything else."""

from typing import NamedTuple

from brokers.ids import BrokerId
from linker.errors import LinkError
from linker.frames import Announce, Frame, Hello, Refused, Welcome
from linker.protocol_versions import SPOKEN, ProtocolVersions


class HandshakeMismatch(NamedTuple):
    """Why this stream cannot be used, although it is open."""

    error: LinkError
    because: str


def answer(
    frame: Frame, cluster_id: str, broker_id: BrokerId, spoken: ProtocolVersions = SPOKEN
) -> Welcome | Refused:
    """The answer of a source's broker to the first frame of a stream: it chooses the version."""
    if not isinstance(frame, Hello):
        return Refused(LinkError.UNKNOWN.value, "the first frame of a stream must be Hello")
    version = spoken.newest_of(frame.versions)
    if version is None:
        because = (
            f"the source speaks {spoken} of the link protocol, the destination {frame.versions}"
        )
        return Refused(LinkError.UNKNOWN.value, because)
    if frame.cluster_id == cluster_id:
        because = f"both ends are region {cluster_id}: a link to itself"
        return Refused(LinkError.INVALID_BOOTSTRAP_INTERNAL_ENDPOINT_ERROR.value, because)
    if frame.expected_cluster_id not in ("", cluster_id):
        because = f"this is region {cluster_id}, the link expects {frame.expected_cluster_id}"
        return Refused(LinkError.INVALID_BOOTSTRAP_INTERNAL_ENDPOINT_ERROR.value, because)
    return Welcome(cluster_id, version, broker_id)


def answer_announce(
    frame: Announce, *, cluster_id: str, expected_cluster_id: str
) -> HandshakeMismatch | None:
    """Why a destination refuses a source that dials; None if it does not. `expected_cluster_id` is the source's."""
    if frame.cluster_id == cluster_id:
        because = f"both ends are region {cluster_id}: a link to itself"
    elif frame.expected_cluster_id not in ("", cluster_id):
        because = f"this is region {cluster_id}, the link expects {frame.expected_cluster_id}"
    elif expected_cluster_id not in ("", frame.cluster_id):
        because = f"the source of link {frame.link_name} is region {expected_cluster_id}"
    else:
        return None
    return HandshakeMismatch(LinkError.INVALID_BOOTSTRAP_INTERNAL_ENDPOINT_ERROR, because)


def check_hello(
    frame: Frame, *, cluster_id: str, expected_cluster_id: str
) -> Hello | HandshakeMismatch:
    """A source that dialed checks the destination's answer: returns it, or why the stream must be closed."""
    wrong = LinkError.INVALID_BOOTSTRAP_INTERNAL_ENDPOINT_ERROR
    match frame:
        case Refused(code, because):
            known = code in LinkError.__members__
            return HandshakeMismatch(LinkError(code) if known else LinkError.UNKNOWN, because)
        case Hello() if frame.cluster_id == cluster_id:
            return HandshakeMismatch(wrong, "a link to itself")
        case Hello() if expected_cluster_id not in ("", frame.cluster_id):
            because = f"region {frame.cluster_id} answered, the link expects {expected_cluster_id}"
            return HandshakeMismatch(wrong, because)
        case Hello():
            return frame
        case _:
            return HandshakeMismatch(
                LinkError.UNKNOWN, "the destination's first frame was not Hello"
            )


def check(
    frame: Frame, *, cluster_id: str, expected_cluster_id: str
) -> Welcome | HandshakeMismatch:
    """The destination checks the source's answer: returns it, or why the stream must be closed."""
    match frame:
        case Refused(code, because):
            known = code in LinkError.__members__
            return HandshakeMismatch(LinkError(code) if known else LinkError.UNKNOWN, because)
        case Welcome(source, version):
            if not SPOKEN.oldest <= version <= SPOKEN.newest:
                because = (
                    f"the source chose version {version} of the link protocol, not of {SPOKEN}"
                )
                return HandshakeMismatch(LinkError.UNKNOWN, because)
            if source == cluster_id:
                return HandshakeMismatch(
                    LinkError.INVALID_BOOTSTRAP_INTERNAL_ENDPOINT_ERROR, "a link to itself"
                )
            if expected_cluster_id not in ("", source):
                because = f"region {source} answered, the link expects {expected_cluster_id}"
                return HandshakeMismatch(
                    LinkError.INVALID_BOOTSTRAP_INTERNAL_ENDPOINT_ERROR, because
                )
            return frame
        case _:
            return HandshakeMismatch(LinkError.UNKNOWN, "the source's first frame was not Welcome")
