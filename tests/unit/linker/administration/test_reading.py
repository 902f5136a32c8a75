"""Whatever raises for a command that changes nothing, its answer is UNKNOWN_SERVER_ERROR."""

from collections.abc import Mapping
from random import Random
from typing import Any, get_args

import pytest

from brokers.effects import Changed
from brokers.ids import Instant
from linker.administration.link_administration import LinkAdministration
from linker.administration.mirror_queries import MirrorQueries
from linker.administration.reading import Queries
from linker.administration.registry import PreparedAnswer, Respond
from linker.answers import Answer
from linker.commands import Query
from linker.containment import Containment
from linker.errors import LinkRefusal
from linker.region_client import RegionClient
from linker.sliced_work import Job, SlicedWork, Step
from tests.unit.brokers.api.whole import Whole

QUERIES = get_args(Query)
GIVEN: Mapping[str, Any] = {"name": "n", "topic": "t", "mirror_topic": "t", "link": "l"}


def fails(now: Instant) -> list[Any]:
    raise KeyError("planted " + "m" * 1_000_000)


class Faulty(Queries):
    """All that it looks at raises, once it is looked at."""

    def _job(self, query: Any, respond: Respond) -> Job:
        yield Step(1, [])
        fails(0)

    def _look(self, query: Any, respond: Respond, contained: Containment) -> PreparedAnswer:
        return PreparedAnswer(fails)


class FaultyBefore(Faulty):
    """The same, before other brokers are asked."""

    def _look(self, query: Any, respond: Respond, contained: Containment) -> PreparedAnswer:
        fails(0)
        return PreparedAnswer(fails)


def made(kind: Any) -> Any:
    """A command of that kind, of what may be there or not."""
    return kind(**{name: GIVEN[name] for name in kind.__dataclass_fields__ if name in GIVEN})


@pytest.mark.parametrize("queries", [Faulty, FaultyBefore])
@pytest.mark.parametrize("kind", QUERIES)
def test_a_question_that_raises_is_refused_once_and_told(queries: type[Queries], kind: Any) -> None:
    node = Whole()
    region = RegionClient(node.broker.view, Random(1))
    registry: Any = None
    parts = LinkAdministration(region, registry), MirrorQueries(region, registry)
    answers: list[Answer | LinkRefusal] = []

    def respond(answer: Answer | LinkRefusal, now: Instant) -> list[Any]:
        answers.append(answer)
        return []

    asked = queries(region, registry, *parts, SlicedWork(region))
    effects = asked.ask(made(kind), respond, node.now)
    (answer,) = answers
    assert isinstance(answer, LinkRefusal) and answer.code == "UNKNOWN_SERVER_ERROR"
    assert answer.because.startswith(f"{kind.__name__} raised KeyError('planted mmm")
    assert len(answer.because) < 300
    (changed,) = effects
    assert isinstance(changed, Changed) and changed.what == f"command {kind.__name__}"
    assert "in fails" in changed.why and len(changed.why) <= 10_000
