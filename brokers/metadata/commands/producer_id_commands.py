"""Blocks of producer ids (KIP-730)."""

from dataclasses import dataclass

from brokers.ids import BrokerId, ProducerId


@dataclass(frozen=True, slots=True)
class AllocateProducerIds:
    """-> `ProducerIdBlock` that nobody else has or will have."""

    broker_id: BrokerId


@dataclass(frozen=True, slots=True)
class ProducerIdBlock:
    """Producer ids from `first` to below `bound`."""

    first: ProducerId
    bound: ProducerId
