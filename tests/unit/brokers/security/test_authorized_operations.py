"""The bit fields are Kafka's."""

from brokers.security.authorized_operations import CLUSTER_OPERATIONS, NOT_ASKED, TOPIC_OPERATIONS


def test_the_bits_of_a_broker_without_an_authorizer() -> None:
    # what Kafka 4.3 answers for topics and for the cluster
    assert (TOPIC_OPERATIONS, CLUSTER_OPERATIONS) == (3576, 8096)
    assert NOT_ASKED == -2147483648
