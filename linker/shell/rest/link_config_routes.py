"""`/links/{link}/configs`: shows and changes the settings of a link."""

from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Request

from linker.config import ALIASES
from linker.shell.rest.admin_client import AdminClient, texts
from linker.shell.rest.descriptions import config_data, link_path
from linker.shell.rest.errors import bad_request, not_found
from linker.shell.rest.schemas import (
    AlterConfigBatchRequestData,
    LinkConfigData,
    LinkConfigDataList,
    UpdateLinkConfigRequestData,
)
from linker.wire.v1 import admin_pb2 as pb


class LinkConfigRoutes:
    """Each method is an operation."""

    def __init__(self, admin: AdminClient) -> None:
        self._admin = admin
        self.router = APIRouter(tags=["Cluster Linking"])
        add, path = self.router.add_api_route, "/links/{link_name}/configs"
        one = f"{path}/{{config_name}}"
        add(path, self.list_configs, methods=["GET"], response_model=LinkConfigDataList)
        add(f"{path}:alter", self.alter_configs, methods=["PUT"], status_code=204)
        add(one, self.describe_config, methods=["GET"], response_model=LinkConfigData)
        add(one, self.update_config, methods=["PUT"], status_code=204)
        add(one, self.reset_config, methods=["DELETE"], status_code=204)

    async def list_configs(self, http: Request, link_name: str) -> LinkConfigDataList:
        """Every setting, with its value."""
        data = await self._configs(http, link_name)
        return LinkConfigDataList(metadata=self._admin.here(http), data=data)

    async def describe_config(
        self, http: Request, link_name: str, config_name: str
    ) -> LinkConfigData:
        """One setting."""
        name = ALIASES.get(config_name, config_name)
        for one in await self._configs(http, link_name):
            if one.name == name:
                return one
        raise not_found(f"{config_name}: unknown link configuration")

    async def update_config(
        self, http: Request, link_name: str, config_name: str, body: UpdateLinkConfigRequestData
    ) -> None:
        """Set one setting."""
        await self._alter(http, link_name, {config_name: body.value}, [], validate_only=False)

    async def reset_config(self, http: Request, link_name: str, config_name: str) -> None:
        """Give one setting its default back."""
        await self._alter(http, link_name, {}, [config_name], validate_only=False)

    async def alter_configs(
        self,
        http: Request,
        link_name: str,
        body: AlterConfigBatchRequestData,
        validate_only: bool = False,
    ) -> None:
        """Change several settings together."""
        names = [one.name for one in body.data]
        if len(set(names)) < len(names):
            raise bad_request("a setting is given twice")
        sets = {one.name: one.value for one in body.data if one.operation == "SET"}
        if without := [name for name, value in sets.items() if value is None]:
            raise bad_request(f"SET needs a value: {', '.join(without)}")
        deletes = [one.name for one in body.data if one.operation == "DELETE"]
        await self._alter(http, link_name, sets, deletes, validate_only=validate_only)

    async def _alter(
        self,
        http: Request,
        link_name: str,
        sets: dict[str, Any],
        deletes: list[str],
        *,
        validate_only: bool,
    ) -> None:
        request = texts(
            lambda: pb.AlterLinkConfigsRequest(
                link_name=link_name, set=sets, delete=deletes, validate_only=validate_only
            )
        )
        await self._admin.ask(http, "AlterLinkConfigs", request)

    async def _configs(self, http: Request, link_name: str) -> list[LinkConfigData]:
        request = texts(lambda: pb.LinkRequest(link_name=link_name))
        reply = await self._admin.ask(http, "DescribeLinkConfigs", request)
        path = f"{link_path(link_name)}/configs"
        return [
            config_data(
                one,
                self._admin.cluster_id,
                link_name,
                self._admin.at(http, f"{path}/{quote(one.name)}"),
            )
            for one in reply.configs
        ]
