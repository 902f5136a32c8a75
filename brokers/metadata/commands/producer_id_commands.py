"""Blocks of producer ids (KIP-730)."""

from dataclasses import dataclass

from brokers.ids import BrokerId, ProducerId


@dataclass(frozen=True, slots=True)
class AllocateProducerIds:
    """-> a `ProducerIdBlock` that no other broker gets, ever."""

    broker_id: BrokerId


@dataclass(frozen=True, slots=True)
class ProducerIdBlock:
    """Producer ids: `first` <= id < `bound`."""

    first: ProducerId
    bound: ProducerId
