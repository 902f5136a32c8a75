"""Which partition of `__consumer_offsets` holds a group: Java's String hash of the group id, without the sign bit."""


def java_hash(text: str) -> int:
    """Java's `String.hashCode`: over UTF-16 code units, in 32 bits."""
    units = text.encode("utf-16-be", "surrogatepass")
    value = 0
    for position in range(0, len(units), 2):
        value = (31 * value + (units[position] << 8) + units[position + 1]) & 0xFFFF_FFFF
    return value


def partition_for(group: str, partitions: int) -> int:
    """0 <= partition < `partitions`.

    Kafka's partitionFor where the hash is not negative; of a negative one Kafka takes the absolute value. No client
    depends on it, and regions have groups where this puts them.
    """
    return (java_hash(group) & 0x7FFF_FFFF) % partitions
