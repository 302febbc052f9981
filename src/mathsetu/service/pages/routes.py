"""The routes of the page. All are GET requests, and none changes anything."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, replace
from time import perf_counter
from typing import TYPE_CHECKING

from fastapi import APIRouter, Request
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, JSONResponse, Response

from mathsetu.answers.values import PostAnswer
from mathsetu.errors import InputError, MathSetuError
from mathsetu.intake.question import typed_hindi, typed_question
from mathsetu.languages.table import LANGUAGES, ROWS
from mathsetu.library import Filter
from mathsetu.ranking.hybrid import PREFERENCES
from mathsetu.service.pages import export, trees, views
from mathsetu.service.pages.files import files, stamp
from mathsetu.service.pages.heat import HeatView, heat
from mathsetu.service.pages.interface_language import Interface
from mathsetu.service.pages.places import place
from mathsetu.service.pages.preview import Preview, preview
from mathsetu.service.pages.problems import about, visited
from mathsetu.service.pages.reference import reference
from mathsetu.service.pages.rendering import page
from mathsetu.service.pages.terms import TermsView, terms
from mathsetu.service.pages.visit import Visit

if TYPE_CHECKING:
    from mathsetu.service.engine import Engine

_SIMILAR = 6
# Letters of a typed word, and candidates for it, at most.
_WORD = 40
_CANDIDATES = 5


def router(engine: Engine, files_at: str = "") -> APIRouter:
    """The routes of the pages over an engine.

    Args:
        engine: The engine that answers.
        files_at: The address of the files of posts on the web.
    """
    pages = Pages(engine, files_at)
    routes = APIRouter(include_in_schema=False)
    shown: dict[str, Callable[..., Response | Awaitable[Response]]] = {
        "/": pages.home,
        "/search": pages.search,
        "/post": pages.post,
        "/preview": pages.preview,
        "/typed": typed,
        "/suggest": pages.suggest,
        "/export": pages.export,
        "/docs": pages.reference,
        "/trees/{kind}.svg": pages.tree,
        "/static/{version}/{name}": static,
    }
    for path, endpoint in shown.items():
        routes.add_api_route(path, endpoint, methods=["GET"], response_model=None)
    return routes


class Pages:
    """The pages over one engine."""

    def __init__(self, engine: Engine, files_at: str) -> None:
        self._engine = engine
        self._files_at = files_at

    def home(self, request: Request) -> HTMLResponse:
        """The search box with example questions."""
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
            answer = self._engine.search(
                visit.text,
                visit.k,
                where=Filter(visit.languages, visit.tags, visit.collections),
                language=visit.asked_in,
                weights=visit.weights(),
                as_words=visit.as_words,
                page=ui.language.code,
                own_language=visit.own or None,
                group=visit.is_grouped,
                offset=visit.offset,
                facets=True,
            )
        except InputError as error:
            return self._page("search.html", visit, ui, status=400, problem=str(error))
        return self._page(
            "search.html",
            visit,
            ui,
            hits=[
                views.hit(found, ui, answer.query.language, self._files_at) for found in answer.hits
            ],
            results=views.results(answer, visit, self._engine.limits.offset),
            counts=answer.facets,
            meant=self._correction(visit, ui),
            unfinished=[ui.part(part) for part in answer.unfinished],
            close=answer.close,
            milliseconds=round(1000 * (perf_counter() - begun)),
        )

    def post(self, request: Request) -> HTMLResponse:
        """A whole post, why it was found, its translation, and similar posts."""
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
            post=views.post(answer, found, self._files_at),
            hit=views.hit(found, ui) if found and found.reasons else None,
            heat=self._heat(visit, ui) if found else None,
            similar=[views.hit(other, ui) for other in similar],
            translate_to=[
                row
                for code, row in (LANGUAGES | {ui.language.code: ui.language}).items()
                if code != answer.language
            ],
            translation=self._translation(visit),
            terms=self._terms(answer, visit),
        )

    def reference(self, request: Request) -> HTMLResponse:
        """The reference of the API for people."""
        visit, ui = visited(request, self._engine.limits)
        untried = () if self._engine.has_heat_maps else ("/v1/heatmap",)
        made = reference(request.app.openapi(), self._engine.example_id, untried)
        problems = {
            status: meaning
            for _, operations in made.groups
            for operation in operations
            for status, meaning in operation.problems
        }
        said = sorted(problems.items())
        return self._page("reference.html", visit, ui, reference=made, problems=said)

    def export(self, request: Request) -> Response:
        """A post as a file: Markdown, LaTeX, or an entry for BibTeX."""
        post_id = request.query_params.get("id", "")
        kind = request.query_params.get("as", "")
        if kind not in export.KINDS:
            raise HTTPException(422, f"as: give one of {', '.join(export.KINDS)}")
        write, ending = export.KINDS[kind]
        post = self._engine.post(post_id)
        address = place(post.url, post.collection, self._files_at).address
        written = write(replace(post, url=address or post.url))
        if not written:
            missing = "web address" if kind == "bibtex" else "text"
            raise HTTPException(404, f"the post {post_id!r} has no {missing}, which {kind} needs")
        name = export.file_name(post_id, ending)
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        return Response(written, media_type="text/plain; charset=utf-8", headers=headers)

    def preview(self, request: Request) -> HTMLResponse:
        """The preview of a question, which the box shows while it is typed."""
        visit, ui = visited(request, self._engine.limits)
        summary = views.library_summary(self._engine.describe())
        return page("preview.html", visit, ui, preview=self._preview(visit, ui), summary=summary)

    def suggest(self, request: Request) -> JSONResponse:
        """Suggestions for a question that is being typed, up to the cursor."""
        visit, ui = visited(request, self._engine.limits)
        typed_so_far = request.query_params.get("q", "")
        try:
            found = self._engine.suggest(typed_so_far, [visit.asked_in or ui.language.code])
        except InputError:
            found = []
        return JSONResponse([asdict(suggestion) for suggestion in found])

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
        self,
        template: str,
        visit: Visit,
        ui: Interface,
        status: int = 200,
        counts: Mapping[str, Mapping[str, int]] | None = None,
        **values: object,
    ) -> HTMLResponse:
        nothing = {"home": False, "problem": "", "hits": [], "unfinished": [], "meant": ""}
        shown = nothing | {"close": True} | values
        summary = views.library_summary(self._engine.describe())
        # The reader of a post has already seen the preview above the hits.
        is_read = bool(shown["problem"]) or visit.path == "/post"
        read = None if is_read else self._preview(visit, ui)
        return page(
            template,
            visit,
            ui,
            status,
            summary=summary,
            facets=views.facets(counts or {}, visit, summary),
            preferences=tuple(PREFERENCES),
            has_translator=self._engine.has_translator,
            own=visit.own or self._engine.own_language,
            longest=self._engine.limits.query,
            preview=read,
            has_typing=views.has_typing(visit, ui, read),
            **shown,
        )

    def _preview(self, visit: Visit, ui: Interface) -> Preview | None:
        try:
            question = self._engine.question(
                visit.text, visit.asked_in, as_words=visit.as_words, page=ui.language.code
            )
        except InputError:
            return None
        return preview(question, ui)

    def _correction(self, visit: Visit, ui: Interface) -> str:
        return self._engine.corrected(
            self._engine.question(
                visit.text, visit.asked_in, as_words=visit.as_words, page=ui.language.code
            )
        )

    def _translation(self, visit: Visit) -> views.TranslationView | None:
        if visit.to not in ROWS or not self._engine.has_translator:
            return None
        try:
            return views.translation(self._engine.translate_post(visit.post_id, visit.to))
        except MathSetuError as error:
            return views.TranslationView(ROWS[visit.to], problem=str(error))

    def _terms(self, post: PostAnswer, visit: Visit) -> TermsView | None:
        """The terms of a post in another language, if sentences cannot be translated."""
        if visit.to not in ROWS or self._engine.has_translator:
            return None
        return terms(post, visit.to)

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


def _in_devanagari(visit: Visit) -> str:
    """A question with Hindi in Latin letters converted to Devanagari, except its formulas."""
    question = typed_question(visit.text, as_words=visit.as_words)
    lexicon = typed_hindi()
    return "".join(
        lexicon.to_devanagari(span.raw) if span.kind == "text" else span.raw
        for span in question.reading
    )


def typed(word: str = "") -> JSONResponse:
    """Hindi words that sound like a word in Latin letters."""
    return JSONResponse(typed_hindi().candidates(word[:_WORD])[:_CANDIDATES])


async def static(version: str, name: str) -> Response:
    """A style sheet, a script, a picture or a font of the page, served without a thread."""
    file = files().get(name)
    if file is None:
        raise HTTPException(404)
    # A page of an older version gets the current file, and its browser must revalidate it.
    kept = "public, max-age=31536000, immutable" if version == stamp() else "no-cache"
    return Response(file.content, media_type=file.media_type, headers={"Cache-Control": kept})
