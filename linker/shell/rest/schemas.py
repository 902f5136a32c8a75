"""The bodies of requests and replies, as Kafka REST v3 has them. A field that a request may not have is refused.

What Confluent's API does not have is ours, as in `mirror_parts`.
"""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from linker.shell.rest.mirror_parts import (
    Hint,
    IsLowerBound,
    IsOriginLowerBound,
    LagBytes,
    LagMs,
    LagRecords,
    MirrorCutData,
    MirrorHoleData,
    MirrorLagData,
    MirrorTransitionData,
    MirrorTransitionErrorData,
    OriginLagBytes,
    OriginLagMs,
    OriginLagRecords,
    PartitionLevelTruncationData,
)


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ConfigData(_Request):
    """A setting and its value."""

    name: str
    value: str


class CreateLinkRequestData(_Request):
    """At most one cluster id: that of the other region, which is refused if another one answers.

    `secret` is ours: what the half with connection.mode=INBOUND showed when it was created.
    """

    source_cluster_id: str = ""
    destination_cluster_id: str = ""
    remote_cluster_id: str = ""
    cluster_link_id: str = Field("", description="Not supported: each half of a link has its own")
    configs: list[ConfigData] = []
    secret: str = Field("", repr=False)


class UpdateLinkConfigRequestData(_Request):
    """The new value of one setting."""

    value: str


class AlterConfigData(_Request):
    """DELETE gives a setting its default back."""

    name: str
    value: str | None = None
    operation: Literal["SET", "DELETE"] = "SET"


class AlterConfigBatchRequestData(_Request):
    """Several settings, changed together or not at all."""

    data: list[AlterConfigData]


class CreateMirrorTopicRequestData(_Request):
    """`mirror_topic_name` is the source topic's, after the link's prefix, unless given."""

    source_topic_name: str
    mirror_topic_name: str = ""
    replication_factor: int = Field(0, ge=0, le=2**15 - 1)
    configs: list[ConfigData] = []


class AlterMirrorsRequestData(_Request):
    """Names or a pattern, a regular expression of RE2 that a topic's whole name matches. `reason` is ours: it is kept
    in the decision record and the operator log."""

    mirror_topic_names: list[str] = []
    mirror_topic_name_pattern: str = Field("", max_length=1_000)
    reason: str = Field("", max_length=1_000)


class ResourceMetadata(BaseModel):
    """Where a resource is."""

    self: str


class ResourceCollectionMetadata(BaseModel):
    """`next` is always null: lists are whole."""

    self: str
    next: str | None = None


class LinkTaskError(BaseModel):
    """An error by its name."""

    error_code: str
    error_message: str


class LinkTask(BaseModel):
    """A background task of a link."""

    task_name: str
    state: str
    errors: list[LinkTaskError]
    message: str = Field(description="Ours. What there is to say of it, with an error or without")


class LinkCategory(BaseModel):
    """How many mirror topics of a link are in this category of states."""

    state_category: str
    count: int


class LinkData(BaseModel):
    """A link. The cluster id is in the field that says which end the other region is. The lag is of its live mirror
    topics together, sums and the longest time; -1 where one is unknown, or there is none."""

    kind: Literal["KafkaLinkData"] = "KafkaLinkData"
    metadata: ResourceMetadata
    source_cluster_id: str | None = None
    destination_cluster_id: str | None = None
    remote_cluster_id: str | None = None
    link_name: str
    link_id: str
    cluster_link_id: str
    topic_names: list[str]
    link_state: str
    link_error: str
    link_error_message: str | None = None
    hint: Hint
    link_mode: str = Field(description="Ours. DESTINATION, SOURCE or BIDIRECTIONAL, as seen here")
    created_at_ms: int = Field(description="Ours. Milliseconds since 1970")
    tasks: list[LinkTask] | None = None
    category_counts: list[LinkCategory] | None = None
    lag: LagRecords
    lag_bytes: LagBytes
    lag_ms: LagMs
    lag_is_lower_bound: IsLowerBound
    writes_wait_ms: int | None = Field(
        None,
        description="Ours. This region is the source and has just started: for how long at most its producers wait for "
        "the other one; null: they do not",
    )
    secret: str | None = Field(None, description="Shown once, by the half that makes it")


class LinkDataList(BaseModel):
    """Every link of the region."""

    kind: Literal["KafkaLinkDataList"] = "KafkaLinkDataList"
    metadata: ResourceCollectionMetadata
    data: list[LinkData]


class LinkConfigData(BaseModel):
    """A setting of a link."""

    kind: Literal["KafkaLinkConfigData"] = "KafkaLinkConfigData"
    metadata: ResourceMetadata
    cluster_id: str
    link_name: str
    name: str
    value: str
    is_default: bool
    is_read_only: bool
    is_sensitive: bool = False
    source: Literal["DYNAMIC_CLUSTER_LINK_CONFIG", "DEFAULT_CONFIG"]
    synonyms: list[str] = []


class LinkConfigDataList(BaseModel):
    """Every setting of a link."""

    kind: Literal["KafkaLinkConfigDataList"] = "KafkaLinkConfigDataList"
    metadata: ResourceCollectionMetadata
    data: list[LinkConfigData]


class MirrorData(BaseModel):
    """A mirror topic. `transition` is null where nothing is under way, `cut` where it was never writable. The lag is of
    all partitions, sums and the longest times; -1 where one of them is unknown."""

    kind: Literal["KafkaMirrorData"] = "KafkaMirrorData"
    metadata: ResourceMetadata
    link_name: str
    mirror_topic_name: str
    source_topic_name: str
    source_topic_id: str = Field(description="Ours. In base64, as Kafka writes it")
    num_partitions: int
    mirror_lags: list[MirrorLagData]
    mirror_status: str
    mirror_topic_error: str
    reason: str = Field(
        description="Ours. What hinders it, or why it is in this state; empty where all is well"
    )
    hint: Hint
    state_time_ms: int
    generation: int = Field(
        description="Ours. How often another region or this one has become the topic's writer"
    )
    lag: LagRecords
    lag_bytes: LagBytes
    lag_ms: LagMs
    lag_is_lower_bound: IsLowerBound
    origin_lag: OriginLagRecords
    origin_lag_bytes: OriginLagBytes
    origin_lag_ms: OriginLagMs
    origin_lag_is_lower_bound: IsOriginLowerBound
    mirror_state_transition_errors: list[MirrorTransitionErrorData] | None = None
    transition: MirrorTransitionData | None = None
    cut: MirrorCutData | None = None
    holes: list[MirrorHoleData] = Field(description="Ours. Its part of the hole ledger")
    partition_level_truncation_data: list[PartitionLevelTruncationData] = Field(
        description="Ours. Of its last truncate-and-restore; empty where there was none"
    )


class MirrorDataList(BaseModel):
    """The mirror topics of one link or of all."""

    kind: Literal["KafkaMirrorDataList"] = "KafkaMirrorDataList"
    metadata: ResourceCollectionMetadata
    data: list[MirrorData]


class AlterMirrorStatusData(BaseModel):
    """What became of one topic; `error_code` is null where the change was begun, or would be."""

    kind: Literal["KafkaMirrorStatusData"] = "KafkaMirrorStatusData"
    metadata: ResourceMetadata
    mirror_topic_name: str
    mirror_status: str = Field(description="Ours. Its state; empty where it is no mirror topic")
    error_code: int | None
    error_message: str | None
    mirror_lags: list[MirrorLagData]
    messages_truncated: int | None = None
    partition_level_truncation_data: list[PartitionLevelTruncationData] | None = None


class AlterMirrorStatusDataList(BaseModel):
    """Each topic that was named."""

    kind: Literal["KafkaMirrorStatusDataList"] = "KafkaMirrorStatusDataList"
    metadata: ResourceCollectionMetadata
    data: list[AlterMirrorStatusData]


class MirrorHoleDataList(BaseModel):
    """The hole ledger of one mirror topic or of all, those of deleted topics included. Ours."""

    kind: Literal["KafkaMirrorHoleDataList"] = "KafkaMirrorHoleDataList"
    metadata: ResourceCollectionMetadata
    data: list[MirrorHoleData]


class MirrorDecisionData(BaseModel):
    """A promotion, failover or reversal of one topic. Topics that one command stopped have one `decision_id`. Ours."""

    decision_id: str
    mirror_topic_name: str
    topic_id: str
    link_name: str
    kind: str
    generation: int = Field(description="Of the topic, from then on")
    asked_at_ms: int
    asked_by: str = Field(description="The address that the command came from")
    reason: str
    done_at_ms: int = Field(description="When it was writable")
    known_missing: int = Field(
        description="Records of the source beyond the cut that were known of; -1 unknown"
    )
    is_known_missing_exact: bool = Field(description="Else `known_missing` is a lower bound")
    cut: MirrorCutData
    origins: list[str] = Field(
        description="Of the records below the cut: cluster ids, the nearest first"
    )


class MirrorDecisionDataList(BaseModel):
    """The promotions, failovers and reversals of one topic or of all, the oldest first. Ours."""

    kind: Literal["KafkaMirrorDecisionDataList"] = "KafkaMirrorDecisionDataList"
    metadata: ResourceCollectionMetadata
    data: list[MirrorDecisionData]


class LinkDestinationData(BaseModel):
    """A region that mirrors topics of this one, and may take them over. Ours."""

    link_name: str = Field(description="In that region")
    destination_cluster_id: str
    topics: list[str] = Field(description="Those that exist still")
    topic_count: int = Field(description="With those that do not")
    told_at_ms: int = Field(description="When the link said that it mirrors these")
    is_heard: bool = Field(description="The broker that answers has the stream on which it said so")
    writes_wait_ms: int | None = Field(
        description="For how much longer at most producers of the broker that answers wait for it; null: they do not"
    )
    is_missed: bool = Field(
        description="It was not heard in time when the broker that answers started"
    )


class LinkDestinationDataList(BaseModel):
    """The regions that mirror topics of this one, as the broker that answers knows them. Ours."""

    kind: Literal["KafkaLinkDestinationDataList"] = "KafkaLinkDestinationDataList"
    metadata: ResourceCollectionMetadata
    data: list[LinkDestinationData]


class TakenOverTopicData(BaseModel):
    """A topic of this region that is read-only since another one has promoted or failed over its mirror. Ours."""

    topic_name: str
    topic_id: str = Field(description="In base64, as Kafka writes it")
    taken_over_by: str = Field(description="The cluster id of that region")
    generation: int = Field(description="Of the topic, since then")


class TakenOverTopicDataList(BaseModel):
    """The topics of this region that another one has taken over, by name. Ours."""

    kind: Literal["KafkaTakenOverTopicDataList"] = "KafkaTakenOverTopicDataList"
    metadata: ResourceCollectionMetadata
    data: list[TakenOverTopicData]


class ErrorData(BaseModel):
    """`error_code` begins with the HTTP status. The fields after `message` are ours: the error by name, and help."""

    error_code: int
    message: str
    error: str
    hint: str = ""
    problems: list[str] = []
