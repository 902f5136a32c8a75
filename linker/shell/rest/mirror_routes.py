"""`/links/{link}/mirrors`: lists, creates and describes mirror topics; `/links/-/mirrors` are those of every link."""

import asyncio
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Request

from linker.shell.older_nodes import in_transition as those_in_transition
from linker.shell.rest.admin_client import AdminClient, texts
from linker.shell.rest.descriptions import link_path, mirror_data
from linker.shell.rest.errors import bad_request, not_found
from linker.shell.rest.schemas import CreateMirrorTopicRequestData, MirrorData, MirrorDataList
from linker.wire.v1 import admin_pb2 as pb


class MirrorRoutes:
    """Each method is an operation."""

    def __init__(self, admin: AdminClient) -> None:
        self._admin = admin
        self.router = APIRouter(tags=["Cluster Linking"])
        add, path = self.router.add_api_route, "/links/{link_name}/mirrors"
        one = f"{path}/{{mirror_topic_name}}"
        add("/links/-/mirrors", self.list_all, methods=["GET"], response_model=MirrorDataList)
        add(path, self.list_mirrors, methods=["GET"], response_model=MirrorDataList)
        add(path, self.create_mirror, methods=["POST"], status_code=201, response_model=MirrorData)
        add(one, self.describe_mirror, methods=["GET"], response_model=MirrorData)

    async def list_all(
        self, http: Request, mirror_status: str = "", in_transition: bool = False
    ) -> MirrorDataList:
        """The mirror topics of every link, those in one state if it is given, or of those that are in transition."""
        return await self._list(http, "", mirror_status, in_transition)

    async def list_mirrors(
        self, http: Request, link_name: str, mirror_status: str = "", in_transition: bool = False
    ) -> MirrorDataList:
        """The mirror topics of a link, those in one state if it is given, or of those that are in transition."""
        request = texts(lambda: pb.LinkRequest(link_name=link_name))
        await self._admin.ask(http, "DescribeLink", request)  # there is one
        return await self._list(http, link_name, mirror_status, in_transition)

    async def _list(
        self, http: Request, link_name: str, mirror_status: str, in_transition: bool
    ) -> MirrorDataList:
        request = texts(
            lambda: pb.ListMirrorsRequest(
                link_name=link_name,
                mirror_status=mirror_status.upper(),
                in_transition=in_transition,
            )
        )
        reply = await self._admin.ask(http, "ListMirrors", request)
        found = those_in_transition(reply.mirrors) if in_transition else reply.mirrors
        # Of thousands of partitions: beside the loop, for which all clients wait.
        data = await asyncio.to_thread(lambda: [self._data(http, one) for one in found])
        return MirrorDataList(metadata=self._admin.here(http), data=data)

    async def create_mirror(
        self,
        http: Request,
        link_name: str,
        body: CreateMirrorTopicRequestData,
        validate_only: bool = False,
    ) -> MirrorData:
        """Create a mirror topic of a source topic."""
        configs = {one.name: one.value for one in body.configs}
        if len(configs) < len(body.configs):
            raise bad_request("a setting is given twice")
        topic = body.mirror_topic_name
        if not topic:
            topic = await self._prefix(http, link_name) + body.source_topic_name
        request = texts(
            lambda: pb.CreateMirrorRequest(
                link_name=link_name,
                mirror_topic=topic,
                source_topic=body.source_topic_name,
                configs=configs,
                validate_only=validate_only,
                replication_factor=body.replication_factor,
            )
        )
        reply = await self._admin.ask(http, "CreateMirror", request)
        return self._data(http, reply.mirror)

    async def _prefix(self, http: Request, link_name: str) -> str:
        request = texts(lambda: pb.LinkRequest(link_name=link_name))
        reply = await self._admin.ask(http, "DescribeLinkConfigs", request)
        (prefix,) = (one.value for one in reply.configs if one.name == "cluster.link.prefix")
        return str(prefix)

    async def describe_mirror(
        self,
        http: Request,
        link_name: str,
        mirror_topic_name: str,
        include_state_transition_errors: bool = False,
    ) -> MirrorData:
        """One mirror topic, with what went wrong with it if that is asked for."""
        request = texts(lambda: pb.DescribeMirrorRequest(mirror_topic=mirror_topic_name))
        reply = await self._admin.ask(http, "DescribeMirror", request)
        if reply.mirror.link_name != link_name:
            raise not_found(
                f"link {link_name} has no mirror topic {mirror_topic_name}",
                f"it is one of link {reply.mirror.link_name}",
            )
        return self._data(http, reply.mirror, with_errors=include_state_transition_errors)

    def _data(self, http: Request, mirror: Any, *, with_errors: bool = False) -> MirrorData:
        topic = quote(mirror.mirror_topic, safe="")
        metadata = self._admin.at(http, f"{link_path(mirror.link_name)}/mirrors/{topic}")
        return mirror_data(mirror, metadata, with_errors=with_errors)
