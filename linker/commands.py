"""An operator's commands on the links, mirrors and replicas of one region. `answers` has what they return.

On the wire: `proto/linker/wire/v1/admin.proto`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateLink:
    """-> `LinkDescription`. The source is asked for its cluster id, unless `skip_validation`."""

    name: str
    configs: Mapping[str, str]
    source_cluster_id: str = ""
    validate_only: bool = False
    skip_validation: bool = False
    secret: str = field(default="", repr=False)  # with link.mode SOURCE


@dataclass(frozen=True, slots=True)
class ListLinks:
    """-> `Links`."""


@dataclass(frozen=True, slots=True)
class DescribeLink:
    """-> `LinkDescription`."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteLink:
    """-> `Topics`: the mirrors that were failed over, which happens only with `force`."""

    name: str
    force: bool = False
    validate_only: bool = False
    asked_by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AlterLinkConfigs:
    """-> `Configs`. Settings in `deletes` get their defaults."""

    name: str
    sets: Mapping[str, str]
    deletes: tuple[str, ...] = ()
    validate_only: bool = False


@dataclass(frozen=True, slots=True)
class DescribeLinkConfigs:
    """-> `Configs`."""

    name: str


@dataclass(frozen=True, slots=True)
class SetLinkSecret:
    """-> `LinkDescription`. A destination that is dialed makes a new secret; a source that dials uses the one given."""

    name: str
    secret: str = field(default="", repr=False)
    validate_only: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateMirror:
    """-> `MirrorDescription`. `source_topic` empty: the mirror's name without the link's prefix."""

    link: str
    mirror_topic: str
    source_topic: str = ""
    configs: Mapping[str, str] = field(default_factory=dict)
    validate_only: bool = False
    replication_factor: int = 0  # 0: the region's default


@dataclass(frozen=True, slots=True)
class ListMirrors:
    """-> `Mirrors`. An empty field matches all."""

    link: str = ""
    state: str = ""
    in_transition: bool = False  # only those that are in the middle of something


@dataclass(frozen=True, slots=True)
class DescribeMirror:
    """-> `MirrorDescription`."""

    mirror_topic: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeMirrors:
    """-> `Topics`. `verb` is pause, resume, promote, failover, reverse-and-start, reverse-and-pause or cancel.

    No topic means all of the link's live ones; of cancel, those that are in the middle of something.
    """

    verb: str
    link: str
    topics: tuple[str, ...] = ()
    validate_only: bool = False
    timeout_ms: int = 0
    why: str = ""  # for the decision record and the operator log
    asked_by: str = ""


@dataclass(frozen=True, slots=True)
class RestoreMirrors:
    """-> `Topics`: truncate-and-restore. The state shows the outcome later.

    No topic means all of the link: those of this region that its source took over, and its mirrors that FAILED because
    the source lost records.
    """

    link: str
    topics: tuple[str, ...] = ()
    validate_only: bool = False
    why: str = ""  # for the operator log, and shown until it is done
    asked_by: str = ""


@dataclass(frozen=True, slots=True)
class UnfenceTopics:
    """-> `Topics`: topics that another region has taken over are written here again."""

    topics: tuple[str, ...]
    validate_only: bool = False


@dataclass(frozen=True, slots=True)
class ForecastMirrors:
    """-> `Forecast`: what a failover now would cost. No topic means all live ones, of one link or of all."""

    link: str = ""
    topics: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DescribeDrift:
    """-> `Drift`: how mirror topics of a link differ from their sources. No topic means all."""

    link: str
    topics: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DescribeLineage:
    """-> `Lineage`, of the partitions of a topic that this broker leads."""

    topic: str


@dataclass(frozen=True, slots=True)
class ListDecisions:
    """-> `Decisions`: the promotions and failovers of a topic, or of all."""

    topic: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListOperations:
    """-> `Operations`: the operator log, from a time on, of resources of a kind and name. What is empty matches all."""

    since: int = 0
    resource_type: str = ""
    resource: str = ""


@dataclass(frozen=True, slots=True)
class ListHoles:
    """-> `Holes`: the hole ledger of a topic, or of all, those of deleted topics included."""

    topic: str = ""


@dataclass(frozen=True, slots=True)
class ListTakenOverTopics:
    """-> `TakenOverTopics`: what another region has taken over from this one."""


@dataclass(frozen=True, slots=True)
class ListRetentionHolds:
    """-> `RetentionHolds`: what this region keeps for the mirrors of a link in another, or of all."""

    link: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DropRetentionHolds:
    """-> `RetentionHolds`: those that nothing is kept for any more. An empty field matches all."""

    link: str
    destination_cluster_id: str = ""
    topics: tuple[str, ...] = ()
    validate_only: bool = False


@dataclass(frozen=True, slots=True)
class ListDestinations:
    """-> `Destinations`: who mirrors topics of this region, by a link of this name or by any."""

    link: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetDestination:
    """-> `Destinations`: the one whose record is removed. Without its cluster id no other may have such a link."""

    link: str
    cluster_id: str = ""
    validate_only: bool = False


@dataclass(frozen=True, slots=True)
class RecordDiscardedOrphans:
    """-> `Topics`, of none: for the operator log, before the broker that has these sealed tails removes them."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DescribeReplicas:
    """-> `Replicas`, of the partitions that this node leads. No topic means all."""

    topics: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DescribeRegion:
    """-> `DescribedRegion`: what an audit must know and segment files do not hold."""


# They change nothing.
Query: TypeAlias = (
    ListLinks | DescribeLink | DescribeLinkConfigs | ListMirrors | DescribeMirror | ForecastMirrors
    | DescribeDrift | DescribeLineage | ListHoles | ListDecisions | ListOperations
    | ListTakenOverTopics | ListRetentionHolds | ListDestinations | DescribeReplicas | DescribeRegion
)  # fmt: skip
Change: TypeAlias = (
    CreateLink | DeleteLink | AlterLinkConfigs | SetLinkSecret | CreateMirror | ChangeMirrors
    | RestoreMirrors | UnfenceTopics | DropRetentionHolds | ForgetDestination | RecordDiscardedOrphans
)  # fmt: skip
Command: TypeAlias = Query | Change

# The newest metadata of any broker has all that these ask, or what they ask is of the broker itself.
ANSWERED_BY_ANY: Final = (
    DescribeLineage,
    ListHoles,
    ListDecisions,
    ListTakenOverTopics,
    ListRetentionHolds,
    ListDestinations,
    ListOperations,
    DescribeReplicas,
    DescribeRegion,
    RecordDiscardedOrphans,
)
