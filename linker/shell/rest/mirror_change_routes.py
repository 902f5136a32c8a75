"""`/links/{link}/mirrors:VERB`: promote, failover, pause, resume, the reversals, cancel, truncate-and-restore."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Final
from urllib.parse import quote

from fastapi import APIRouter, Request

from linker.shell.rest.admin_client import AdminClient, texts
from linker.shell.rest.descriptions import lags, link_path, truncations
from linker.shell.rest.errors import error_code_of
from linker.shell.rest.schemas import (
    AlterMirrorsRequestData,
    AlterMirrorStatusData,
    AlterMirrorStatusDataList,
)
from linker.shell.rest.topic_names import topics_of
from linker.wire.v1 import admin_pb2 as pb

METHODS: Final = {
    "promote": ("PromoteMirrors", pb.PromoteMirrorsRequest),
    "failover": ("FailoverMirrors", pb.MirrorsRequest),
    "pause": ("PauseMirrors", pb.MirrorsRequest),
    "resume": ("ResumeMirrors", pb.MirrorsRequest),
    "reverse-and-start-mirror": ("ReverseAndStartMirrors", pb.PromoteMirrorsRequest),
    "reverse-and-pause-mirror": ("ReverseAndPauseMirrors", pb.PromoteMirrorsRequest),
    "cancel": ("CancelMirrors", pb.MirrorsRequest),
}
RESTORE: Final = ("TruncateAndRestoreMirrors", pb.MirrorsRequest)
COMPARED_SECONDS: Final = 30.0  # in which a restore says what it truncates
POLL_SECONDS: Final = 0.1

_Change = Callable[[Request, str, AlterMirrorsRequestData, bool], Awaitable[Any]]


class MirrorChangeRoutes:
    """Each verb is answered when the change is begun; the mirror's state shows how it ends."""

    def __init__(self, admin: AdminClient) -> None:
        self._admin = admin
        self.router = APIRouter(tags=["Cluster Linking"])
        for verb in METHODS:
            self._add(verb, self._changing(verb))
        self._add("truncate-and-restore", self.truncate_and_restore)

    def _add(self, verb: str, operation: Any) -> None:
        self.router.add_api_route(
            f"/links/{{link_name}}/mirrors:{verb}",
            operation,
            methods=["POST"],
            name=verb,
            response_model=AlterMirrorStatusDataList,
            description=f"{verb} of mirror topics; each is answered for itself.",
        )

    def _changing(self, verb: str) -> _Change:
        async def change(
            http: Request,
            link_name: str,
            body: AlterMirrorsRequestData,
            validate_only: bool = False,
        ) -> AlterMirrorStatusDataList:
            data = await self._change(http, METHODS[verb], link_name, body, validate_only)
            return AlterMirrorStatusDataList(metadata=self._admin.here(http), data=data)

        return change

    async def truncate_and_restore(
        self,
        http: Request,
        link_name: str,
        body: AlterMirrorsRequestData,
        validate_only: bool = False,
        include_partition_level_truncation_data: bool = False,
    ) -> AlterMirrorStatusDataList:
        """What is truncated is known when the logs were compared; the reply waits for that where it is to say it."""
        data = await self._change(http, RESTORE, link_name, body, validate_only)
        if include_partition_level_truncation_data and not validate_only:
            until = asyncio.get_running_loop().time() + COMPARED_SECONDS
            for one in data:
                if one.error_code is None:
                    await self._add_truncations(http, one, until)
        return AlterMirrorStatusDataList(metadata=self._admin.here(http), data=data)

    async def _add_truncations(
        self, http: Request, one: AlterMirrorStatusData, until: float
    ) -> None:
        """Null, still, where the logs are not compared in time."""
        request = pb.DescribeMirrorRequest(mirror_topic=one.mirror_topic_name)
        while asyncio.get_running_loop().time() < until:
            reply = await self._admin.ask(http, "DescribeMirror", request)
            found = truncations(reply.mirror)
            if found:
                one.partition_level_truncation_data = found
                one.messages_truncated = sum(each.messages_truncated for each in found)
                return
            await asyncio.sleep(POLL_SECONDS)

    async def _change(
        self,
        http: Request,
        method: tuple[str, Any],
        link_name: str,
        body: AlterMirrorsRequestData,
        validate_only: bool,
    ) -> list[AlterMirrorStatusData]:
        described = texts(lambda: pb.LinkRequest(link_name=link_name))
        link = (await self._admin.ask(http, "DescribeLink", described)).link
        topics = await self._topics(http, link, method is RESTORE, body)
        name, message_type = method
        request = texts(
            lambda: message_type(
                link_name=link_name,
                mirror_topics=topics,
                validate_only=validate_only,
                reason=body.reason,
            )
        )
        changed = await self._admin.ask(http, name, request)
        listed = pb.ListMirrorsRequest(link_name=link_name)
        mirrors = (await self._admin.ask(http, "ListMirrors", listed)).mirrors
        lags_of = {one.mirror_topic: lags(one) for one in mirrors}
        return [
            self._result(http, link_name, one, lags_of.get(one.mirror_topic, []))
            for one in changed.topics
        ]

    async def _topics(
        self, http: Request, link: Any, is_restore: bool, body: AlterMirrorsRequestData
    ) -> list[str]:
        """What is to be restored is no mirror topic of the link yet."""

        async def mirrors() -> Iterable[str]:
            return list(link.topic_names)

        async def restorable() -> Iterable[str]:
            checked = pb.MirrorsRequest(link_name=link.link_name, validate_only=True)
            reply = await self._admin.ask(http, RESTORE[0], checked)
            return [one.mirror_topic for one in reply.topics]

        if is_restore:
            none = f"no topic that the source of link {link.link_name} took over"
            return await topics_of(body, restorable, none)
        return await topics_of(body, mirrors, f"no mirror topic of link {link.link_name}")

    def _result(
        self, http: Request, link_name: str, one: Any, lags: list[Any]
    ) -> AlterMirrorStatusData:
        path = f"{link_path(link_name)}/mirrors/{quote(one.mirror_topic, safe='')}"
        is_refused = one.HasField("error")
        hint = f" ({one.error.hint})" if is_refused and one.error.hint else ""
        message = f"{one.error.code}: {one.error.message}{hint}" if is_refused else None
        return AlterMirrorStatusData(
            metadata=self._admin.at(http, path),
            mirror_topic_name=one.mirror_topic,
            mirror_status=one.mirror_status,
            error_code=error_code_of(one.error.code) if is_refused else None,
            error_message=message,
            mirror_lags=lags,
        )
