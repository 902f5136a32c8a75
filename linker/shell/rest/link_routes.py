"""`/links`: lists, creates, describes and deletes links."""

from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request, Response

from linker.shell.rest.admin_client import AdminClient, texts
from linker.shell.rest.descriptions import link_data, link_path
from linker.shell.rest.errors import RequestRefused, bad_request, error_code_of
from linker.shell.rest.schemas import CreateLinkRequestData, ErrorData, LinkData, LinkDataList
from linker.wire.v1 import admin_pb2 as pb

_ID_OF_MODE: Final = {
    "DESTINATION": "source_cluster_id",
    "SOURCE": "destination_cluster_id",
    "BIDIRECTIONAL": "remote_cluster_id",
}


class LinkRoutes:
    """Each method is an operation."""

    def __init__(self, admin: AdminClient) -> None:
        self._admin = admin
        self.router = APIRouter(tags=["Cluster Linking"])
        add = self.router.add_api_route
        add("/links", self.list_links, methods=["GET"], response_model=LinkDataList)
        add(
            "/links",
            self.create_link,
            methods=["POST"],
            status_code=201,
            response_model=LinkData,
        )
        add("/links/{link_name}", self.describe_link, methods=["GET"], response_model=LinkData)
        add("/links/{link_name}", self.delete_link, methods=["DELETE"], status_code=204)

    async def list_links(self, http: Request) -> LinkDataList:
        """Every link of the region."""
        reply = await self._admin.ask(http, "ListLinks", pb.ListLinksRequest())
        data = [self._data(http, one) for one in reply.links]
        return LinkDataList(metadata=self._admin.here(http), data=data)

    async def create_link(
        self,
        http: Request,
        response: Response,
        body: CreateLinkRequestData,
        link_name: Annotated[str, Query()],
        validate_only: bool = False,
        validate_link: bool = True,
    ) -> LinkData:
        """`validate_link=false` does not ask the other region first. A `secret` in the reply is not shown again."""
        configs = {one.name: one.value for one in body.configs}
        if len(configs) < len(body.configs):
            raise bad_request("a setting is given twice")
        other = _other_cluster(body, configs.get("link.mode", "DESTINATION"))
        request = texts(
            lambda: pb.CreateLinkRequest(
                link_name=link_name,
                configs=configs,
                source_cluster_id=other,
                validate_only=validate_only,
                skip_validation=not validate_link,
                secret=body.secret,
            )
        )
        reply = await self._admin.ask(http, "CreateLink", request)
        if validate_only:
            response.status_code = 200
        return self._data(http, reply.link)

    async def describe_link(
        self, http: Request, link_name: str, include_tasks: bool = False
    ) -> LinkData:
        """One link, with its background tasks if they are asked for."""
        request = texts(lambda: pb.LinkRequest(link_name=link_name))
        reply = await self._admin.ask(http, "DescribeLink", request)
        return self._data(http, reply.link, with_tasks=include_tasks)

    async def delete_link(
        self, http: Request, link_name: str, force: bool = False, validate_only: bool = False
    ) -> None:
        """`force` fails its mirror topics over first; without it a link that has any is not deleted."""
        request = texts(
            lambda: pb.DeleteLinkRequest(
                link_name=link_name, force=force, validate_only=validate_only
            )
        )
        reply = await self._admin.ask(http, "DeleteLink", request)
        kept = [one for one in reply.topics if one.HasField("error")]
        if kept:
            raise _not_deleted(link_name, kept)

    def _data(self, http: Request, link: Any, *, with_tasks: bool = False) -> LinkData:
        metadata = self._admin.at(http, link_path(link.link_name))
        return link_data(link, metadata, with_tasks=with_tasks)


def _other_cluster(body: CreateLinkRequestData, mode: str) -> str:
    """The cluster id of the other region, or nothing. Raises RequestRefused for a field that is not this mode's."""
    wanted = _ID_OF_MODE.get(mode)
    given = {name: value for name in _ID_OF_MODE.values() if (value := getattr(body, name))}
    if wanted is not None and given.keys() - {wanted}:
        raise bad_request(f"with link.mode={mode} the other region is {wanted}")
    if body.cluster_link_id:
        raise bad_request("cluster_link_id: each half of a link has an id of its own")
    return next(iter(given.values()), "")


def _not_deleted(link_name: str, kept: list[Any]) -> RequestRefused:
    first = kept[0].error
    data = ErrorData(
        error_code=error_code_of(first.code),
        message=f"link {link_name} is not deleted: topics could not be failed over",
        error=first.code,
        hint=first.hint,
        problems=[f"{one.mirror_topic}: {one.error.message}" for one in kept],
    )
    return RequestRefused(409, data)
