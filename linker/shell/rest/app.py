"""The application of REST v3: its routes, what holds for all of them, and its OpenAPI description."""

from typing import Any, Final

from fastapi import APIRouter, Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from linker.shell.rest.admin_client import PREFIX, AdminClient
from linker.shell.rest.errors import RequestRefused, bad_request, not_found
from linker.shell.rest.link_config_routes import LinkConfigRoutes
from linker.shell.rest.link_routes import LinkRoutes
from linker.shell.rest.mirror_change_routes import MirrorChangeRoutes
from linker.shell.rest.mirror_routes import MirrorRoutes
from linker.shell.rest.record_routes import RecordRoutes
from linker.shell.rest.schemas import ErrorData

OPENAPI_PATH: Final = "/kafka/v3/openapi.json"
DESCRIPTION: Final = (
    "Links between regions and their mirror topics, as in Confluent's Kafka REST API v3."
)
ERRORS: Final[dict[int | str, dict[str, Any]]] = {
    400: {"model": ErrorData, "description": "What is asked is wrong, or not possible now"},
    404: {"model": ErrorData, "description": "There is no such cluster, link, setting or topic"},
    409: {"model": ErrorData, "description": "What there is already contradicts it"},
    500: {"model": ErrorData, "description": "An internal error, which the node's log has"},
    503: {"model": ErrorData, "description": "Who could answer is not reached; ask again"},
}


def make_app(admin: AdminClient) -> FastAPI:
    app = FastAPI(
        title="Causeway",
        version="v3",
        description=DESCRIPTION,
        openapi_url=OPENAPI_PATH,
        docs_url=None,  # their pages load scripts from elsewhere
        redoc_url=None,
    )
    region = APIRouter(
        prefix=f"{PREFIX}/{{cluster_id}}",
        dependencies=[Depends(_only_known(admin.cluster_id))],
        responses=ERRORS,
    )
    # `/links/-/mirrors` before `/links/{link_name}/mirrors`: the first route that matches is taken.
    for routes in (MirrorChangeRoutes, MirrorRoutes, RecordRoutes, LinkConfigRoutes, LinkRoutes):
        region.include_router(routes(admin).router)
    app.include_router(region)
    app.add_exception_handler(RequestRefused, _refused)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _unknown)
    return app


def _only_known(known_id: str) -> Any:
    async def check(http: Request, cluster_id: str) -> None:
        """Refuse another region's id, and parameters that would have no effect."""
        if cluster_id != known_id:
            raise not_found(f"this is cluster {known_id}, not {cluster_id}")
        known = {one.alias for one in http.scope["route"].dependant.query_params}
        unknown = sorted(set(http.query_params) - known)
        if unknown:
            raise bad_request(f"unknown parameters: {', '.join(unknown)}")

    return check


async def _refused(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestRefused)
    return JSONResponse(error.data.model_dump(), error.status)


async def _invalid(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    problems = [
        f"{'.'.join(str(part) for part in one['loc'])}: {one['msg']}" for one in error.errors()
    ]
    refused = bad_request("the request is not as the description says", problems=tuple(problems))
    return JSONResponse(refused.data.model_dump(), refused.status)


async def _unknown(_: Request, error: Exception) -> JSONResponse:
    """No such path, or no such method of it."""
    assert isinstance(error, HTTPException)
    data = ErrorData(
        error_code=error.status_code,
        message=str(error.detail),
        error="INVALID_REQUEST",
        hint=f"{OPENAPI_PATH} describes every path",
    )
    return JSONResponse(data.model_dump(), error.status_code, error.headers)
