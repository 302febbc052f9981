"""The web application: the API, the pages if they are installed, and the middleware."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import anyio.to_thread
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import PlainTextResponse, Response
from starlette.exceptions import HTTPException
from starlette.routing import Match

from mathsetu import __version__
from mathsetu.collections.jsonl import RepeatedKey
from mathsetu.collections.rows import not_json
from mathsetu.errors import DamagedLibrary, InputError, Unavailable, UnknownPost
from mathsetu.service.admission import Admission
from mathsetu.service.api import SHOWN, router
from mathsetu.service.connection import Connections
from mathsetu.service.cors import CrossOrigin
from mathsetu.service.engine import Engine
from mathsetu.service.guard import Guard
from mathsetu.service.metrics import Metrics
from mathsetu.service.problems import CLUSTER_UNAVAILABLE, DAMAGED, Problems
from mathsetu.service.requests import PATTERN_MESSAGES
from mathsetu.service.settings import Settings
from mathsetu.service.watcher import Watcher
from mathsetu.service.writing import writing_router

if TYPE_CHECKING:
    from mathsetu.languages.translate import Translator

_log = logging.getLogger("mathsetu.service")

# Errors of an alternative that the value cannot be meant for.
_OTHER_TYPE = ("string_type", "list_type")
_DESCRIPTION = """Search for mathematics across languages: words in any language, formulas by
structure. Every answer has all of its fields. The server is read-only unless it was given a key
for writing."""


@dataclass(frozen=True, slots=True)
class Health:
    """The state of the server: its status, number of posts and version."""

    status: str
    posts: int
    version: str


def create_app(settings: Settings) -> FastAPI:
    """The application over one library.

    >>> from tempfile import mkdtemp
    >>> from mathsetu.collections import sampler
    >>> from mathsetu.library import build_library
    >>> folder = mkdtemp()
    >>> build_library(folder, list(sampler.posts())[:10], "default", processes=1)
    >>> create_app(Settings(folder)).title
    'MathSetu'
    """
    metrics = Metrics(settings.shared)
    engine = Engine(settings.library, settings.limits, _translator(settings), metrics.count)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[dict[str, Connections]]:
        # Plain functions run in at most this many threads at once; further requests wait.
        anyio.to_thread.current_default_thread_limiter().total_tokens = settings.running
        watcher = Watcher(
            settings.refresh, reloading=engine.refresh, publishing_metrics=metrics.publish
        )
        watcher.start()
        # The state that the server passes to each connection.
        yield {"connections": Connections(settings)}
        await asyncio.to_thread(watcher.stop)
        engine.close()

    app = FastAPI(
        title="MathSetu",
        version=__version__,
        description=_DESCRIPTION,
        lifespan=lifespan,
        # Their pages would load scripts from other sites.
        docs_url=None,
        redoc_url=None,
        # Redirects would be absolute, with a host and a scheme that the client chose.
        redirect_slashes=False,
    )
    app.state.engine = engine
    app.include_router(router(engine))
    if settings.write_key:
        app.include_router(writing_router(engine, settings.library))
    _add_operations(app, engine, metrics)
    problems = _add_pages(app, engine, settings.files_at)
    _add_errors(app, problems)
    _add_middleware(app, settings, metrics, problems)
    return app


def _translator(settings: Settings) -> Translator | None:
    if settings.translator == "glossary" and not settings.model:
        return None
    from mathsetu.languages.translate import open_translator

    return open_translator(settings.translator, settings.model)


def _add_operations(app: FastAPI, engine: Engine, metrics: Metrics) -> None:
    @app.get("/v1/health", summary="Whether the server answers", tags=["server"])
    async def health() -> Health:
        return Health("ok", engine.describe().posts, __version__)

    @app.get(
        "/v1/metrics",
        summary="Counts for Prometheus",
        tags=["server"],
        response_class=PlainTextResponse,
    )
    async def show_metrics() -> str:
        posts = engine.describe().posts
        return metrics.text({"library_posts": posts, **engine.reload_state()})


def _add_pages(app: FastAPI, engine: Engine, files_at: str) -> Problems:
    """Add the pages; without a template engine there is only the API, and problems are JSON."""
    try:
        from mathsetu.service import pages
    except ModuleNotFoundError as missing:
        _log.warning("the pages are not served: %s is not installed", missing.name)
        return Problems()
    app.include_router(pages.router(engine, files_at), include_in_schema=False)
    return Problems(pages.problem_page(engine.limits))


def _add_errors(app: FastAPI, problems: Problems) -> None:
    """Handle the errors that we expect; the guard answers all others."""

    @app.exception_handler(InputError)
    def wrong_input(request: Request, error: InputError) -> Response:
        return problems.answer(request, 404 if isinstance(error, UnknownPost) else 400, str(error))

    @app.exception_handler(DamagedLibrary)
    def damaged(request: Request, error: DamagedLibrary) -> Response:
        # Only the log names the file.
        _log.error("%s", error)
        return problems.answer(request, 500, DAMAGED)

    @app.exception_handler(Unavailable)
    def away(request: Request, error: Unavailable) -> Response:
        # Only the log names the cluster.
        _log.error("%s", error)
        return problems.answer(request, 503, CLUSTER_UNAVAILABLE, {"retry-after": "2"})

    @app.exception_handler(RequestValidationError)
    def wrong_fields(request: Request, error: RequestValidationError) -> Response:
        return problems.answer(request, 422, _wrong_field(request, error.errors()))

    @app.exception_handler(HTTPException)
    def refused(request: Request, error: HTTPException) -> Response:
        if isinstance(error.__cause__, UnicodeDecodeError):
            problem = f"the body is not UTF-8 (byte {error.__cause__.start + 1:,})"
            return problems.answer(request, 422, problem)
        if isinstance(error.__cause__, RepeatedKey):
            named = f"{error.__cause__.key[:SHOWN]}: {error.__cause__.problem}"
            return problems.answer(request, 422, named)
        if isinstance(error.__cause__, RecursionError):
            return problems.answer(request, 422, "the body is nested too deeply")
        if error.status_code != 405:
            return problems.answer(request, error.status_code, error.detail, error.headers)
        allow = {"allow": ", ".join(_methods(app, request))}
        if request.method == "OPTIONS":
            return Response(status_code=204, headers=allow)
        return problems.answer(request, 405, error.detail, allow)


def _wrong_field(request: Request, errors: Sequence[Mapping[str, Any]]) -> str:
    """The message about a wrong parameter or a wrong field of a body."""
    # If a field may be a text or a list of texts, report the alternative that fits best.
    field = errors[0]["loc"][:2]
    alternatives = (one for one in errors if one["loc"][:2] == field)
    error = max(alternatives, key=lambda one: (len(one["loc"]), one["type"] not in _OTHER_TYPE))
    # In such a field, the path also names the alternative that was tried.
    path = (str(step) for step in error["loc"][1:])
    where = ".".join(step for step in path if step != "constrained-str" and "[" not in step)
    if error["type"] == "json_invalid":
        return f"the body is {not_json(error['ctx']['error'], f'character {int(where) + 1:,}')}"
    if not where and error["type"] in ("model_attributes_type", "missing"):
        return "the body: a JSON object is required, with the header Content-Type: application/json"
    if error["type"] == "extra_forbidden":
        (body,) = request.scope["route"].dependant.body_params
        fields = body.field_info.annotation.model_fields
        known = ", ".join(field.alias or name for name, field in fields.items())
        return f"{where}: unknown field (known: {known})"
    if error["type"] == "too_long":
        most, given = error["ctx"]["max_length"], error["ctx"]["actual_length"]
        return f"{where}: {given:,} were given; at most {most:,} are allowed"
    if error["type"] == "string_pattern_mismatch" and error["ctx"]["pattern"] in PATTERN_MESSAGES:
        return f"{where}: {PATTERN_MESSAGES[error['ctx']['pattern']]}"
    return f"{where or 'the body'}: {error['msg'].removeprefix('Value error, ')}"


def _methods(app: FastAPI, request: Request) -> list[str]:
    """The methods of an address; several routes may share it."""
    found = ["OPTIONS"]
    for method in ("DELETE", "GET", "POST", "PUT"):
        scope = {**request.scope, "method": method}
        if any(route.matches(scope)[0] is Match.FULL for route in app.routes):
            found += ["GET", "HEAD"] if method == "GET" else [method]
    return sorted(found)


def _add_middleware(app: FastAPI, settings: Settings, metrics: Metrics, problems: Problems) -> None:
    """Add the middleware; the last one added is the first to get a request."""
    app.add_middleware(Admission, settings=settings, metrics=metrics, problems=problems)
    if settings.origins:
        # Outside of admission: preflight requests come without the key, and allowed pages can read
        # why they were refused.
        app.add_middleware(
            CrossOrigin,
            allow_origins=settings.origins,
            allow_methods=["GET", "POST"],
            allow_headers=["Authorization", "Content-Type"],
            expose_headers=["Retry-After", "Server-Timing"],
        )
    app.add_middleware(Guard, settings=settings, metrics=metrics, problems=problems)
