"""The addresses of the page. Every one is a GET, and none changes anything."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING

from fastapi import APIRouter, Request
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, JSONResponse, Response

from mathsetu.errors import InputError, MathSetuError
from mathsetu.intake.question import typed_hindi, typed_question
from mathsetu.languages.table import LANGUAGES
from mathsetu.library import Filter
from mathsetu.ranking.hybrid import PREFERENCES
from mathsetu.service.pages import trees, views
from mathsetu.service.pages.files import files, stamp
from mathsetu.service.pages.heat import HeatView, heat
from mathsetu.service.pages.interface_language import Interface
from mathsetu.service.pages.preview import Preview, preview
from mathsetu.service.pages.problems import about, visited
from mathsetu.service.pages.rendering import page
from mathsetu.service.pages.visit import Visit

if TYPE_CHECKING:
    from mathsetu.service.engine import Engine

_SIMILAR = 6
# Letters of a typed word, and words offered for it.
_WORD = 40
_CANDIDATES = 5


def router(engine: Engine) -> APIRouter:
    """The pages that show what an engine says."""
    pages = Pages(engine)
    routes = APIRouter(include_in_schema=False)
    shown: dict[str, Callable[..., Response | Awaitable[Response]]] = {
        "/": pages.home,
        "/search": pages.search,
        "/post": pages.post,
        "/preview": pages.preview,
        "/typed": typed,
        "/trees/{kind}.svg": pages.tree,
        "/static/{version}/{name}": static,
    }
    for path, endpoint in shown.items():
        routes.add_api_route(path, endpoint, methods=["GET"], response_model=None)
    return routes


class Pages:
    """The pages over one engine."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def home(self, request: Request) -> HTMLResponse:
        """The box, and examples to begin with."""
        visit, ui = visited(request, self._engine.limits)
        return self._page("search.html", visit, ui, home=True)

    def search(self, request: Request) -> HTMLResponse:
        """The hits of a question."""
        visit, ui = visited(request, self._engine.limits)
        if not visit.text:
            return self._page("search.html", visit, ui, home=True)
        if visit.devanagari:
            visit = replace(visit, text=_in_devanagari(visit), devanagari=False)
        begun = perf_counter()
        try:
            where = Filter(visit.language, visit.tags)
            answer = self._engine.search(
                visit.text,
                visit.k,
                where=where,
                language=visit.asked_in,
                weights=visit.weights(),
                as_words=visit.as_words,
                page=ui.language.code,
                own_language=visit.own or None,
                group=visit.is_grouped or None,
            )
        except InputError as error:
            return self._page("search.html", visit, ui, status=400, problem=str(error))
        return self._page(
            "search.html",
            visit,
            ui,
            hits=[views.hit(found, ui, answer.query.language) for found in answer.hits],
            unfinished=[ui.part(part) for part in answer.unfinished],
            close=answer.close,
            milliseconds=round(1000 * (perf_counter() - begun)),
            more=self._more(visit.k, len(answer.hits)),
        )

    def post(self, request: Request) -> HTMLResponse:
        """A whole post, why it was found, its translation and its like."""
        visit, ui = visited(request, self._engine.limits)
        try:
            answer = self._engine.post(visit.post_id)
            similar = self._engine.similar(visit.post_id, _SIMILAR).hits
        except InputError as error:
            return about(404, str(error), visit, ui, self._engine.limits)
        found = None
        if visit.text:
            try:
                found = self._engine.explain(
                    visit.text,
                    visit.post_id,
                    language=visit.asked_in,
                    weights=visit.weights(),
                    as_words=visit.as_words,
                    page=ui.language.code,
                ).hit
            except InputError as error:
                return about(400, str(error), visit, ui, self._engine.limits)
        return self._page(
            "post.html",
            visit,
            ui,
            post=views.post(answer, found),
            hit=views.hit(found, ui) if found and found.reasons else None,
            heat=self._heat(visit, ui) if found else None,
            similar=[views.hit(other, ui) for other in similar],
            translate_to=[row for code, row in LANGUAGES.items() if code != answer.language],
            translation=self._translation(visit),
        )

    def preview(self, request: Request) -> HTMLResponse:
        """How a question is read, for the box to show while it is typed."""
        visit, ui = visited(request, self._engine.limits)
        return page("preview.html", visit, ui, preview=self._preview(visit, ui))

    def tree(self, kind: str, latex: str = "", query: str = "") -> Response:
        """A drawing of a formula's tree."""
        try:
            drawn = trees.KINDS[kind]
            self._engine.limits.check_formula(latex)
            self._engine.limits.check_formula(query or latex)
        except (KeyError, InputError):
            raise HTTPException(404) from None
        headers = {"Cache-Control": "max-age=86400"}
        return Response(drawn(latex, query), media_type="image/svg+xml", headers=headers)

    def _page(
        self, template: str, visit: Visit, ui: Interface, status: int = 200, **values: object
    ) -> HTMLResponse:
        nothing = {"home": False, "problem": "", "hits": [], "unfinished": [], "more": 0}
        shown = nothing | {"close": True} | values
        return page(
            template,
            visit,
            ui,
            status,
            holdings=views.holdings(self._engine.describe()),
            preferences=tuple(PREFERENCES),
            longest=self._engine.limits.query,
            preview=None if shown["problem"] else self._preview(visit, ui),
            **shown,
        )

    def _preview(self, visit: Visit, ui: Interface) -> Preview | None:
        try:
            question = self._engine.question(
                visit.text, visit.asked_in, as_words=visit.as_words, page=ui.language.code
            )
        except InputError:
            return None
        return preview(question)

    def _translation(self, visit: Visit) -> views.TranslationView | None:
        if visit.to not in LANGUAGES:
            return None
        try:
            return views.translation(self._engine.translate_post(visit.post_id, visit.to))
        except MathSetuError as error:
            return views.TranslationView(LANGUAGES[visit.to], problem=str(error))

    def _heat(self, visit: Visit, ui: Interface) -> HeatView | None:
        try:
            answer = self._engine.heat_map(
                visit.text,
                visit.post_id,
                language=visit.asked_in,
                as_words=visit.as_words,
                page=ui.language.code,
            )
        except InputError:
            return None  # the recipe has no graph index
        return heat(answer, ui)

    def _more(self, k: int, shown: int) -> int:
        """How many hits the next page shows; 0 when there are no more."""
        most = self._engine.limits.hits
        return min(2 * k, most) if shown == k < most else 0


def _in_devanagari(visit: Visit) -> str:
    """A question whose Hindi was typed in Latin letters; its formulas stay as they are."""
    question = typed_question(visit.text, as_words=visit.as_words)
    lexicon = typed_hindi()
    return "".join(
        lexicon.to_devanagari(span.raw) if span.kind == "text" else span.raw
        for span in question.reading
    )


def typed(word: str = "") -> JSONResponse:
    """The words of Hindi that sound like a word in Latin letters."""
    return JSONResponse(typed_hindi().candidates(word[:_WORD])[:_CANDIDATES])


async def static(version: str, name: str) -> Response:
    """A style sheet, a script, a picture or a font of the page; no thread is needed for it."""
    file = files().get(name)
    if file is None:
        raise HTTPException(404)
    # A page of an older version asks for what is no more: it gets what there is, for now.
    kept = "public, max-age=31536000, immutable" if version == stamp() else "no-cache"
    return Response(file.content, media_type=file.media_type, headers={"Cache-Control": kept})
