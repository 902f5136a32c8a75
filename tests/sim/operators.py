"""The operator: makes topics, a link and its mirrors, changes things in bad weather, and in the end promotes or fails over."""

from brokers.wire.messages.topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from tests.sim.clients import Client
from tests.sim.federation import TOPIC, Federation

CREATE_TOPICS = 19


class Operator:
    """Asks until the answer is the one that was wanted, as a person with a script does."""

    def __init__(self, federation: Federation) -> None:
        self._federation = federation
        self._world = federation.world
        self._weather = federation.weather
        self._client = Client(federation.world, federation.network, "operator")

    async def prepare(self) -> None:
        """A topic, before the weather turns."""
        while not await self._client.connect(self._federation.source):
            await self._world.sleep(100)
        config = CreatableTopicConfig(
            name="internal.segment.bytes", value=str(self._weather.segment_bytes)
        )
        topic = CreatableTopic(
            name=TOPIC,
            num_partitions=self._weather.partitions,
            replication_factor=1,
            configs=[config],
        )
        answer = await self._client.ask(CREATE_TOPICS, CreateTopicsRequest(topics=[topic]))
        assert answer is not None and answer.topics[0].error_code == 0, answer
