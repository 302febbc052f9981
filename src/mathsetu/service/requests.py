"""The types of requests to the API; the OpenAPI document shows their limits."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Coroutine
from typing import Annotated, Any, Literal, Self

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from mathsetu.collections.jsonl import object_of
from mathsetu.errors import InputError
from mathsetu.languages.table import existing_language, language
from mathsetu.library import Filter
from mathsetu.limits import has_lone_surrogate
from mathsetu.service.limits import Limits

_LIMITS = Limits()


class _JsonRequest(Request):
    async def json(self) -> Any:
        """Parse the body; refuse repeated fields."""
        return json.loads(await self.body(), object_pairs_hook=object_of)


class JsonRoute(APIRoute):
    """A route that refuses repeated fields in JSON bodies: one would be lost silently."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler of requests."""
        answer = super().get_route_handler()

        async def handler(request: Request) -> Response:
            return await answer(_JsonRequest(request.scope, request.receive))

        return handler


def _whole(text: str) -> str:
    if has_lone_surrogate(text):
        raise ValueError("contains an invalid character (lone surrogate)")
    return text


def _code(name: str) -> str:
    try:
        return existing_language(name)
    except InputError as error:
        raise ValueError(str(error)) from None  # pydantic adds the field


def _code_or_nothing(name: str) -> str:
    return _code(name) if name else ""


def _stated(name: str) -> str:
    code = language(name).code
    return code if code or not name else _code(name)


Whole = AfterValidator(_whole)
_LANGUAGE = Field(
    max_length=_LIMITS.name,
    description="A language: a code such as en, or a name such as German.",
    examples=["en", "German"],
)
#: A language, or nothing; converted to its code.
Language = Annotated[str, _LANGUAGE, AfterValidator(_code_or_nothing)]
Wanted = Annotated[str, _LANGUAGE, AfterValidator(_code)]
#: The language of posts. It may be one that only posts of the library have, so that its check needs
#: the library (`mathsetu.service.api`).
Stated = Annotated[str, _LANGUAGE, AfterValidator(_stated)]
Name = Annotated[str, Field(max_length=_LIMITS.name), Whole]
_NOT_BLANK = r"\S"
#: A query or a formula that is not blank.
QueryText = Annotated[str, Field(min_length=1, max_length=_LIMITS.query, pattern=_NOT_BLANK), Whole]
Text = Annotated[str, Field(max_length=_LIMITS.text), Whole]
Count = Annotated[int, Field(ge=1, le=_LIMITS.hits)]
Offset = Annotated[int, Field(ge=0, le=_LIMITS.offset)]
Tags = Annotated[list[Name], Field(max_length=_LIMITS.tags)]
Languages = Annotated[list[Stated], Field(max_length=_LIMITS.tags)]
Score = Annotated[float, Field(ge=-1_000_000, le=1_000_000, allow_inf_nan=False)]
#: How strongly posts in the user's language are preferred; the recipe's setting unless given.
Preference = Literal["off", "weak", "normal", "strong"]
Weight = Annotated[float, Field(ge=0, le=1_000, allow_inf_nan=False)]
_WEIGHT = r"^[A-Za-z_][A-Za-z0-9_-]{0,50}:(1000|[0-9]{1,3}(\.[0-9]{1,6})?)$"
#: The weight of a part in an address: ``words:0.7``.
WrittenWeight = Annotated[str, Field(pattern=_WEIGHT)]
#: The error message for values that do not match a pattern.
PATTERN_MESSAGES = {
    _NOT_BLANK: "is empty; give words or formulas",
    _WEIGHT: "give a part and a number from 0 to 1000, such as words:0.7",
}


def read_weights(written: list[str]) -> dict[str, float] | None:
    """Weights from an address.

    Raises:
        RequestValidationError: When a part is given twice.

    >>> read_weights(["words:0.7", "formulas:2"])
    {'words': 0.7, 'formulas': 2.0}
    """
    pairs = [entry.split(":") for entry in written]
    for part, count in Counter(part for part, _ in pairs).items():
        if count > 1:
            problem = f"{part} was given {count:,} times; give it once"
            where = ("query", "weight")
            raise RequestValidationError([{"type": "parameter", "loc": where, "msg": problem}])
    return {part: float(weight) for part, weight in pairs} or None


def _example(**values: Any) -> ConfigDict:
    return ConfigDict(extra="forbid", strict=True, json_schema_extra={"examples": [values]})


class SearchRequest(BaseModel):
    """A search."""

    model_config = _example(
        query=r"समाकल $\int_0^\infty \frac{\sin x}{x}dx$ का मान",
        k=5,
        **{"in": "en"},
        weights={"words": 1, "formulas": 2},
    )
    query: QueryText = Field(description="Words in any language, and formulas as they are typed.")
    k: Count = Field(10, description="How many hits.")
    language: Language = Field(
        "", description="The query's language, a code or a name (default: detected)."
    )
    only_in: Stated | Languages = Field(
        "",
        alias="in",
        description="Only posts in this language (a code or a name), or in one of these.",
    )
    not_in: Languages = Field([], description="No posts in these languages (codes or names).")
    tags: Tags = Field([], description="Only posts with all of these tags.")
    any_tags: Tags = Field([], description="Only posts with at least one of these tags.")
    not_tags: Tags = Field([], description="No posts with any of these tags.")
    collection: Name | Tags = Field(
        "", description="Only posts of this collection, or of one of these."
    )
    not_collections: Tags = Field([], description="No posts of these collections.")
    offset: Offset = Field(0, description="How many hits to skip.")
    min_score: Score | None = Field(None, description="Leave out posts with a lower score.")
    facets: bool = Field(
        False, description="Whether found posts are counted by language, tag and collection."
    )
    weights: Annotated[dict[str, Weight], Field(max_length=20)] | None = Field(
        None, description="The weight of each part of the recipe; parts not named have weight 0."
    )
    explain: bool = Field(True, description="Whether to include reasons, words and formulas.")
    as_words: bool = Field(False, description="Read only delimited text as formulas.")

    own_language: Preference | None = Field(
        None, description="How strongly posts in the query's language are preferred."
    )
    group: bool | None = Field(
        None, description="Whether versions of a post in several languages are one hit."
    )

    @property
    def where(self) -> Filter:
        """The filter for posts."""
        return Filter(
            _values(self.only_in),
            tuple(self.tags),
            _values(self.collection),
            tuple(self.any_tags),
            tuple(self.not_in),
            tuple(self.not_tags),
            tuple(self.not_collections),
        )


def _values(one_or_several: str | list[str]) -> tuple[str, ...]:
    return (one_or_several,) if isinstance(one_or_several, str) else tuple(one_or_several)


class RenderRequest(BaseModel):
    """A text with formulas between dollars, or one formula without."""

    model_config = _example(text=r"Let $\frac{a}{b}$ be rational.")
    text: Text | None = Field(None, description="A text with formulas between dollars.")
    latex: QueryText | None = Field(None, description="One formula, without delimiters.")
    trees: bool = Field(False, description="Whether both trees are drawn as SVG.")

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        if (self.text is None) == (self.latex is None):
            raise ValueError("give either text or latex")
        return self


class TranslateRequest(BaseModel):
    """A text to be translated."""

    model_config = _example(text="Is $n$ a prime number?", to="es")
    text: Text = Field(description="A text with formulas between dollars.")
    to: Wanted = Field(description="The language wanted, a code or a name.")
    source: Language = Field(
        "", description="The text's language, a code or a name (default: detected)."
    )
