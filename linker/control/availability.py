"""The state of a link, by what becomes of its first stream to the source.

A lost stream, a failed dial and `availability.check.ms` without a frame are each a failed availability check. After
`availability.check.consecutive.failure.threshold` of them in a row the link is UNAVAILABLE.
"""

from brokers.effects import Changed
from linker.control.link_settings import LinkSettings
from linker.errors import LinkError
from linker.records.link_state import TRANSITIONS, LinkState, LinkTrigger
from linker.region_client import Effects


class LinkAvailability:
    """`error` and `because` say why the link is not ACTIVE."""

    def __init__(self, link: LinkSettings) -> None:
        self.state = LinkState.UNKNOWN
        self.error = LinkError.NO_ERROR
        self.because = ""
        self._link = link
        self._failures = 0

    def paused(self) -> Effects:
        return self._turn(LinkTrigger.PAUSE, "cluster.link.paused")

    def resumed(self) -> Effects:
        """The link is not paused: count failures anew."""
        self._failures = 0
        return self._turn(LinkTrigger.RESUME, "")

    def welcomed(self, cluster_id: str) -> Effects:
        self._failures = 0
        self.error, self.because = LinkError.NO_ERROR, ""
        return self._turn(LinkTrigger.WELCOMED, f"region {cluster_id} answers")

    def refused(self, error: LinkError, because: str) -> Effects:
        """The source region refused, or is not the one expected."""
        self.error, self.because = error, because
        return self._turn(LinkTrigger.REFUSED, because)

    def failed(self, error: LinkError, because: str) -> Effects:
        """An availability check failed."""
        self._failures += 1
        self.error, self.because = error, because
        threshold = self._link.config.number("availability.check.consecutive.failure.threshold")
        if self._failures < threshold:
            return []
        return self._turn(LinkTrigger.UNREACHABLE, because)

    def _turn(self, trigger: LinkTrigger, why: str) -> Effects:
        state = TRANSITIONS[self.state, trigger]
        if state is self.state:
            return []
        self.state = state
        return [Changed(f"link {self._link.name}", state.value, why)]
