"""The bodies of requests and replies, as Kafka REST v3 has them. A field that a request may not have is refused."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


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


class LinkCategory(BaseModel):
    """How many mirror topics of a link are in this category of states."""

    state_category: str
    count: int


class LinkData(BaseModel):
    """A link. The cluster id is in the field that says which end the other region is. `writes_wait_ms`, ours: this
    region is the source and has just started, and its producers wait for the other one, for so long at most."""

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
    tasks: list[LinkTask] | None = None
    category_counts: list[LinkCategory] | None = None
    writes_wait_ms: int | None = None
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


class MirrorLagData(BaseModel):
    """`lag` in records; -1 is unknown. `lag_is_lower_bound`, ours: nothing is heard of the source's partition now, and
    it may have more."""

    partition: int
    lag: int
    last_source_fetch_offset: int
    lag_is_lower_bound: bool


class MirrorTransitionData(BaseModel):
    """What a mirror topic is in the middle of: the verb that began it, its step, and what that waits for. Ours."""

    verb: str
    step: str
    since_ms: int
    waits_for: str
    can_be_cancelled: bool
    gives_up_at_ms: int | None = None
    asked_by: str = ""
    reason: str = ""


class MirrorCutData(BaseModel):
    """Where a mirror topic became writable. `known_missing` records of the source beyond it were known of; -1 unknown.
    The source may have had more unless `is_known_missing_exact`. Ours."""

    kind: str
    at_ms: int
    known_missing: int
    is_known_missing_exact: bool


class MirrorData(BaseModel):
    """A mirror topic. `transition` is null where nothing is under way, `cut` where it was never writable."""

    kind: Literal["KafkaMirrorData"] = "KafkaMirrorData"
    metadata: ResourceMetadata
    link_name: str
    mirror_topic_name: str
    source_topic_name: str
    num_partitions: int
    mirror_lags: list[MirrorLagData]
    mirror_status: str
    mirror_topic_error: str
    state_time_ms: int
    mirror_state_transition_errors: list[LinkTaskError] | None = None
    transition: MirrorTransitionData | None = None
    cut: MirrorCutData | None = None


class MirrorDataList(BaseModel):
    """The mirror topics of one link or of all."""

    kind: Literal["KafkaMirrorDataList"] = "KafkaMirrorDataList"
    metadata: ResourceCollectionMetadata
    data: list[MirrorData]


class PartitionLevelTruncationData(BaseModel):
    """What a partition lost to truncate-and-restore; it is in the orphan store."""

    partition_id: int
    offset_truncated_to: int
    messages_truncated: int


class AlterMirrorStatusData(BaseModel):
    """What became of one topic; `error_code` is null where the change was begun, or would be."""

    kind: Literal["KafkaMirrorStatusData"] = "KafkaMirrorStatusData"
    metadata: ResourceMetadata
    mirror_topic_name: str
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


class ErrorData(BaseModel):
    """`error_code` begins with the HTTP status. The fields after `message` are ours: the error by name, and help."""

    error_code: int
    message: str
    error: str
    hint: str = ""
    problems: list[str] = []
