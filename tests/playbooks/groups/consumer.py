"""What a consumer embeds in its JoinGroup: Kafka's ConsumerProtocolSubscription, version 0."""

import struct


def subscription(topics: list[str], user_data: bytes = b"") -> bytes:
    names = b"".join(struct.pack(">h", len(name.encode())) + name.encode() for name in topics)
    return (
        struct.pack(">hi", 0, len(topics)) + names + struct.pack(">i", len(user_data)) + user_data
    )
