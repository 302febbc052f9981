"""The routes of the API: each passes its parameters to the engine and returns the answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, get_origin

from fastapi import APIRouter, Depends, Query, Request
from fastapi.exceptions import RequestValidationError

from mathsetu.answers.values import (
    ExplainAnswer,
    FormulaAnswer,
    HeatMap,
    LibraryAnswer,
    PostAnswer,
    PostTranslation,
    RenderAnswer,
    SearchAnswer,
    SimilarAnswer,
    TranslateAnswer,
)
from mathsetu.errors import InputError
from mathsetu.languages.table import existing_language
from mathsetu.library import Filter
from mathsetu.service.engine import Engine
from mathsetu.service.guard import QUERY
from mathsetu.service.requests import (
    Count,
    JsonRoute,
    Language,
    Languages,
    Name,
    Offset,
    Preference,
    QueryText,
    RenderRequest,
    Score,
    SearchRequest,
    Tags,
    TranslateRequest,
    Wanted,
    WrittenWeight,
    read_weights,
)

#: Characters of a wrong name that a message shows.
SHOWN = 60


@dataclass(frozen=True, slots=True)
class ErrorAnswer:
    """One line for a person: what was wrong and what to do."""

    error: str


#: The error responses of every route.
PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorAnswer, "description": what}
    for status, what in {
        400: "The request cannot be fulfilled.",
        401: "An API key is required, or the given one is not known.",
        408: "The body arrived too slowly.",
        413: "The body is too large.",
        422: "A field is missing or wrong.",
        429: "The server is busy; Retry-After says when to retry.",
        431: "Address and headers are too long.",
    }.items()
}
_NO_POST: dict[int | str, dict[str, Any]] = {
    404: {"model": ErrorAnswer, "description": "There is no such post."}
}

Question = Annotated[
    QueryText,
    Query(
        description="Words in any language, and formulas as they are typed.",
        openapi_examples={
            "typed": {"value": "why is sqrt(2) irrational"},
            "hindi": {"value": r"समाकल $\int_0^\infty \frac{\sin x}{x}dx$ का मान"},
            "formula": {"value": "$a^2+b^2=c^2$"},
            "words": {"value": "infinitely many primes"},
        },
    ),
]
Id = Annotated[
    Name,
    Query(
        alias="id",
        description="The id of a post.",
        openapi_examples={"sampler": {"value": "gaussian-integral.hi"}},
    ),
]
Formula = Annotated[
    QueryText,
    Query(
        description="LaTeX without delimiters, or a formula as typed in a query, sqrt(2); "
        "?x stands for any sub-expression.",
        openapi_examples={"squares": {"value": "?a^2+?b^2=?c^2"}},
    ),
]
OfQuery = Annotated[
    Language, Query(description="The query's language, a code or a name (default: detected).")
]
AsWords = Annotated[bool, Query(description="Read only delimited text as formulas.")]
OwnLanguage = Annotated[
    Preference | None,
    Query(description="How strongly posts in the query's language are preferred."),
]
Grouped = Annotated[
    bool | None,
    Query(description="Whether versions of a post in several languages are one hit."),
]
OfPosts = Annotated[
    Languages,
    Query(
        alias="in",
        description="Only posts in one of these languages, codes or names (repeatable).",
    ),
]
NotOfPosts = Annotated[
    Languages,
    Query(alias="not_in", description="No posts in these languages, codes or names (repeatable)."),
]
OfTags = Annotated[Tags, Query(alias="tag", description="Only posts with all of these tags.")]
OfAnyTags = Annotated[
    Tags, Query(alias="any_tag", description="Only posts with at least one of these tags.")
]
NotOfTags = Annotated[Tags, Query(alias="not_tag", description="No posts with any of these tags.")]
OfCollections = Annotated[
    Tags, Query(alias="collection", description="Only posts of one of these collections.")
]
NotOfCollections = Annotated[
    Tags, Query(alias="not_collection", description="No posts of these collections.")
]
HowMany = Annotated[Count, Query(description="How many hits.")]
Explained = Annotated[bool, Query(description="Whether to include reasons, words and formulas.")]
From = Annotated[Offset, Query(description="How many hits to skip.")]
MinScore = Annotated[Score | None, Query(description="Leave out posts with a lower score.")]
Counted = Annotated[
    bool, Query(description="Whether found posts are counted by language, tag and collection.")
]
IntoLanguage = Annotated[
    Wanted,
    Query(
        description="The target language, a code or a name.",
        openapi_examples={"english": {"value": "en"}},
    ),
]
OfParts = Annotated[
    list[WrittenWeight],
    Query(
        alias="weight",
        max_length=20,
        description="The weight of a part: words:0.7 (repeatable).",
    ),
]


async def known_parameters(request: Request) -> None:
    """Refuse unknown parameters and repetitions of single ones: they would have no effect."""
    parameters = request.scope["route"].dependant.query_params
    known = {each.alias: each.field_info.annotation for each in parameters}
    for name, count in Counter(name for name, _ in request.query_params.multi_items()).items():
        if name not in known:
            listed = f"known: {', '.join(known)}" if known else "this path takes none"
            problem = f"unknown parameter ({listed})"
        elif count > 1 and get_origin(known[name]) is not list:
            problem = f"was given {count:,} times; give it once"
        else:
            continue
        where = ("query", name[:SHOWN])
        raise RequestValidationError([{"type": "parameter", "loc": where, "msg": problem}])


def _check_languages(engine: Engine, source: str, asked: Mapping[str, str | Sequence[str]]) -> None:
    """Refuse unknown languages in filters, except those of posts of the library.

    Args:
        engine: The engine, for the languages of the posts.
        source: Where the fields are: ``query`` or ``body``.
        asked: Codes by field, one or several.
    """
    for field, codes in asked.items():
        for number, code in enumerate([codes] if isinstance(codes, str) else codes):
            if not code or code in engine.languages:
                continue
            try:
                existing_language(code)
            except InputError as error:
                where = (source, field) if isinstance(codes, str) else (source, field, number)
                problem = {"type": "language", "loc": where, "msg": str(error)}
                raise RequestValidationError([problem]) from None


def router(engine: Engine) -> APIRouter:
    """The routes over an engine.

    They are plain functions, so that each runs in a thread and does not block the others.
    """
    api = APIRouter(
        prefix="/v1",
        responses=PROBLEMS,
        dependencies=[Depends(known_parameters)],
        route_class=JsonRoute,
    )

    @api.get("/search", summary="Search posts", tags=["search"])
    def search(
        q: Question,
        k: HowMany = 10,
        language: OfQuery = "",
        only_in: OfPosts = [],  # noqa: B006 - FastAPI makes a new one for each request
        not_in: NotOfPosts = [],  # noqa: B006
        tags: OfTags = [],  # noqa: B006
        any_tags: OfAnyTags = [],  # noqa: B006
        not_tags: NotOfTags = [],  # noqa: B006
        collections: OfCollections = [],  # noqa: B006
        not_collections: NotOfCollections = [],  # noqa: B006
        weights: OfParts = [],  # noqa: B006
        explain: Explained = True,
        as_words: AsWords = False,
        own_language: OwnLanguage = None,
        group: Grouped = None,
        offset: From = 0,
        min_score: MinScore = None,
        facets: Counted = False,
    ) -> SearchAnswer:
        _check_languages(engine, "query", {"in": only_in, "not_in": not_in})
        return engine.search(
            q,
            k,
            language=language,
            where=Filter(
                tuple(only_in),
                tuple(tags),
                tuple(collections),
                tuple(any_tags),
                tuple(not_in),
                tuple(not_tags),
                tuple(not_collections),
            ),
            weights=read_weights(weights),
            explain=explain,
            as_words=as_words,
            own_language=own_language,
            group=group,
            offset=offset,
            min_score=min_score,
            facets=facets,
        )

    @api.post("/search", summary="Search posts, with the query as JSON", tags=["search"])
    def search_json(request: SearchRequest, http: Request) -> SearchAnswer:
        setattr(http.state, QUERY, request.query)
        _check_languages(engine, "body", {"in": request.only_in, "not_in": request.not_in})
        return engine.search(
            request.query,
            request.k,
            language=request.language,
            where=request.where,
            weights=request.weights,
            explain=request.explain,
            as_words=request.as_words,
            own_language=request.own_language,
            group=request.group,
            offset=request.offset,
            min_score=request.min_score,
            facets=request.facets,
        )

    @api.get("/formulas", summary="Search formulas", tags=["search"])
    def formulas(latex: Formula, k: HowMany = 10) -> FormulaAnswer:
        return engine.formulas(latex, k)

    @api.get("/explain", summary="Why a post matches a query", tags=["search"], responses=_NO_POST)
    def explain(
        q: Question,
        post_id: Id,
        language: OfQuery = "",
        weights: OfParts = [],  # noqa: B006
        as_words: AsWords = False,
    ) -> ExplainAnswer:
        return engine.explain(
            q, post_id, language=language, weights=read_weights(weights), as_words=as_words
        )

    @api.get(
        "/heatmap",
        summary="How the parts of a query and a post match, by a graph index",
        tags=["search"],
        responses=_NO_POST,
    )
    def heat_map(
        q: Question, post_id: Id, language: OfQuery = "", as_words: AsWords = False
    ) -> HeatMap:
        return engine.heat_map(q, post_id, language=language, as_words=as_words)

    @api.get("/similar", summary="Posts like a post", tags=["posts"], responses=_NO_POST)
    def similar(post_id: Id, k: HowMany = 10) -> SimilarAnswer:
        return engine.similar(post_id, k)

    @api.get("/post", summary="A whole post", tags=["posts"], responses=_NO_POST)
    def post(post_id: Id) -> PostAnswer:
        return engine.post(post_id)

    @api.get("/translation", summary="A post translated", tags=["posts"], responses=_NO_POST)
    def translation(post_id: Id, to: IntoLanguage) -> PostTranslation:
        return engine.translate_post(post_id, to)

    @api.post("/translate", summary="Translate a text and preserve its formulas", tags=["texts"])
    def translate(request: TranslateRequest) -> TranslateAnswer:
        return engine.translate(request.text, request.to, request.source)

    @api.post("/render", summary="LaTeX to MathML", tags=["texts"])
    def render(request: RenderRequest) -> RenderAnswer:
        if request.latex is not None:
            return engine.render_formula(request.latex, trees=request.trees)
        return engine.render(request.text or "", trees=request.trees)

    @api.get("/library", summary="What can be searched", tags=["server"])
    async def library() -> LibraryAnswer:
        return engine.describe()

    return api
