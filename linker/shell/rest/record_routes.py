"""`/links/-/holes`, `.../decisions`, `.../destinations`, `.../taken-over-topics`: what a region has recorded. Ours."""

from fastapi import APIRouter, Request

from linker.shell.rest.admin_client import AdminClient, texts
from linker.shell.rest.descriptions import (
    decision_data,
    destination_data,
    hole_data,
    taken_over_data,
)
from linker.shell.rest.schemas import (
    LinkDestinationDataList,
    MirrorDecisionDataList,
    MirrorHoleDataList,
    TakenOverTopicDataList,
)
from linker.wire.v1 import admin_pb2 as pb


class RecordRoutes:
    """Each method is an operation."""

    def __init__(self, admin: AdminClient) -> None:
        self._admin = admin
        self.router = APIRouter(tags=["Causeway"])
        get = self.router.get
        get("/links/-/holes", response_model=MirrorHoleDataList)(self.list_holes)
        get("/links/-/decisions", response_model=MirrorDecisionDataList)(self.list_decisions)
        get("/links/-/destinations", response_model=LinkDestinationDataList)(self.list_destinations)
        get("/links/-/taken-over-topics", response_model=TakenOverTopicDataList)(
            self.list_taken_over
        )

    async def list_holes(self, http: Request, mirror_topic_name: str = "") -> MirrorHoleDataList:
        """The hole ledger: what mirror topics skipped, of one topic if it is named."""
        request = texts(lambda: pb.ListHolesRequest(mirror_topic=mirror_topic_name))
        reply = await self._admin.ask(http, "ListHoles", request)
        data = [hole_data(one) for one in reply.holes]
        return MirrorHoleDataList(metadata=self._admin.here(http), data=data)

    async def list_decisions(
        self, http: Request, mirror_topic_name: str = ""
    ) -> MirrorDecisionDataList:
        """The promotions, failovers and reversals of this region, of one topic if it is named."""
        request = texts(lambda: pb.ListDecisionsRequest(topic=mirror_topic_name))
        reply = await self._admin.ask(http, "ListDecisions", request)
        data = [decision_data(one) for one in reply.decisions]
        return MirrorDecisionDataList(metadata=self._admin.here(http), data=data)

    async def list_destinations(
        self, http: Request, link_name: str = ""
    ) -> LinkDestinationDataList:
        """The regions that mirror topics of this one, with links of one name if it is given."""
        request = texts(lambda: pb.ListDestinationsRequest(link_name=link_name))
        reply = await self._admin.ask(http, "ListDestinations", request)
        data = [destination_data(one) for one in reply.destinations]
        return LinkDestinationDataList(metadata=self._admin.here(http), data=data)

    async def list_taken_over(self, http: Request) -> TakenOverTopicDataList:
        """The topics of this region that are read-only since another one has taken them over."""
        request = pb.ListTakenOverTopicsRequest()
        reply = await self._admin.ask(http, "ListTakenOverTopics", request)
        data = [taken_over_data(one) for one in reply.topics]
        return TakenOverTopicDataList(metadata=self._admin.here(http), data=data)
