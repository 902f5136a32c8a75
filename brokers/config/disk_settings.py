"""The settings of how much of a disk is kept free. They are ours; `disk_watermarks` says what follows from them."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Size = Annotated[int, Field(ge=0, le=2**63 - 1)]
Percent = Annotated[int, Field(ge=0, le=99)]


class DiskSettings(BaseModel):
    """What is to be free on the disk of each log directory; 0: no limit.

    With less than the first an operator is warned, with less than the second producers are refused. Where bytes and
    percent are given the one that keeps more free counts; where neither is, 10 GiB or 10 % and 1 GiB or 2 %, whichever
    is less.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    disk_watermark_warn_free_bytes: Annotated[
        Size | None, Field(alias="disk.watermark.warn.free.bytes")
    ] = None
    disk_watermark_warn_free_percent: Annotated[
        Percent | None, Field(alias="disk.watermark.warn.free.percent")
    ] = None
    disk_watermark_refuse_free_bytes: Annotated[
        Size | None, Field(alias="disk.watermark.refuse.free.bytes")
    ] = None
    disk_watermark_refuse_free_percent: Annotated[
        Percent | None, Field(alias="disk.watermark.refuse.free.percent")
    ] = None
