"""What a link calls the topics and groups of its source in its destination."""

from dataclasses import dataclass
from typing import Final

from brokers.ids import TopicPartition


@dataclass(frozen=True)
class Names:
    """`prefix` is before those of topics (`cluster.link.prefix`), `group_prefix` before those of groups."""

    prefix: str = ""
    group_prefix: str = ""

    def topic(self, there: str) -> str:
        return self.prefix + there

    def group(self, there: str) -> str:
        return self.group_prefix + there

    def here(self, there: TopicPartition) -> TopicPartition:
        """The mirror of a partition of the source."""
        return TopicPartition(self.topic(there.topic), there.partition)

    def there(self, here: TopicPartition) -> TopicPartition:
        """What a mirror partition is of."""
        return TopicPartition(here.topic.removeprefix(self.prefix), here.partition)

    def group_there(self, here: str) -> str:
        """ "" where no group of the source has that name here."""
        return here.removeprefix(self.group_prefix) if here.startswith(self.group_prefix) else ""

    def configs(self) -> dict[str, str]:
        """Of the link, where it has a prefix."""
        if not self.prefix:
            return {}
        has_groups = str(bool(self.group_prefix)).lower()
        return {"cluster.link.prefix": self.prefix, "consumer.group.prefix.enable": has_groups}


SAME: Final = Names()
