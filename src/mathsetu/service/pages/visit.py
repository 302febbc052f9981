"""Reads and writes addresses of pages: the question, the filters, and the page's language."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlencode

from mathsetu.ranking.hybrid import PREFERENCES

if TYPE_CHECKING:
    from starlette.datastructures import QueryParams

    from mathsetu.service.limits import Limits

#: How many hits a page shows at first.
HITS = 10


@dataclass(frozen=True)
class Visit:
    """The state of a page; its address contains all of it, so it can be saved, sent and reopened.

    Attributes:
        path: The page.
        text: The question.
        asked_in: The language of the question, if the visitor chose it.
        post_id: The post, on a post's page.
        languages: Only posts in one of these languages.
        tags: Only posts with all of these tags.
        collections: Only posts of one of these collections.
        by: The only part of the recipe that is used; all parts unless given.
        k: How many hits.
        offset: How many hits come before them.
        at: On a post's page, the rank of the hit that was followed; the link back leads to it.
        own: How strongly posts in the visitor's language are preferred; the recipe's setting
            unless given.
        is_grouped: Whether versions of a post in several languages are one hit.
        as_words: Whether only delimited text is read as a formula.
        devanagari: Whether the question is Hindi in Latin letters, to be converted to Devanagari.
        to: The language a post is translated into.
        ui: The language of the page, if the address names it.
    """

    path: str = "/"
    text: str = ""
    asked_in: str = ""
    post_id: str = ""
    languages: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    collections: tuple[str, ...] = ()
    by: str = ""
    k: int = HITS
    offset: int = 0
    at: int = 0
    own: str = ""
    is_grouped: bool = True
    as_words: bool = False
    devanagari: bool = False
    to: str = ""
    ui: str = ""

    @classmethod
    def read(cls, path: str, parameters: QueryParams, limits: Limits) -> Self:
        """Read an address; invalid values are ignored."""
        return cls(
            path=path,
            text=parameters.get("q", "").strip(),
            asked_in=parameters.get("lang", ""),
            post_id=parameters.get("id", ""),
            languages=_several(parameters, "in"),
            tags=_several(parameters, "tag"),
            collections=_several(parameters, "collection"),
            by=parameters.get("by", ""),
            k=min(max(_number(parameters, "k", HITS), 1), limits.hits),
            offset=min(_number(parameters, "offset"), limits.offset),
            at=_number(parameters, "at"),
            own=own if (own := parameters.get("own", "")) in PREFERENCES else "",
            is_grouped=parameters.get("group", "") != "0",
            as_words=parameters.get("words", "") == "1",
            devanagari=parameters.get("deva", "") == "1",
            to=parameters.get("to", ""),
            ui=parameters.get("ui", ""),
        )

    def address(self, **changes: Any) -> str:
        """The address of this visit with some values changed.

        >>> Visit("/search", text="a+b & c", tags=("limits",)).address(languages=("hi",))
        '/search?q=a%2Bb+%26+c&in=hi&tag=limits'
        """
        visit = replace(self, **changes)
        pairs = list(visit._parameters())
        return f"{visit.path}?{urlencode(pairs)}" if pairs else visit.path

    def elsewhere(self, path: str, **said: Any) -> str:
        """The address of another page in the same language.

        >>> Visit("/search", text="x", ui="hi").elsewhere("/post", post_id="7")
        '/post?id=7&ui=hi'
        """
        return Visit(path, ui=self.ui).address(**said)

    def kept(self) -> Iterator[tuple[str, str]]:
        """The parameters that a new question keeps: filters and the language of the page."""
        kept = Visit(
            languages=self.languages,
            tags=self.tags,
            collections=self.collections,
            by=self.by,
            own=self.own,
            is_grouped=self.is_grouped,
            ui=self.ui,
        )
        return kept._parameters()

    def weights(self) -> dict[str, float] | None:
        """The weights of the recipe's parts if the visitor has chosen one of them."""
        return {self.by: 1.0} if self.by else None

    def narrowed(self, **changes: Any) -> str:
        """The address of the first hits with other filters."""
        return self.address(path="/search", post_id="", to="", offset=0, at=0, **changes)

    def toggled(self, filtered: str, value: str) -> str:
        """The address with one more value of a filter, or with one fewer.

        >>> Visit("/search", text="x", languages=("hi",)).toggled("languages", "en")
        '/search?q=x&in=hi&in=en'
        >>> Visit("/search", text="x", languages=("hi",)).toggled("languages", "hi")
        '/search?q=x'
        """
        values: tuple[str, ...] = getattr(self, filtered)
        others = tuple(other for other in values if other != value)
        return self.narrowed(**{filtered: others if value in values else (*values, value)})

    def with_tag(self, tag: str) -> tuple[str, ...]:
        """The tags and one more."""
        return tuple(dict.fromkeys([*self.tags, tag]))

    def of_post(self, post_id: str, rank: int = 0, to: str = "") -> str:
        """The address of a post's page, which has a link back to the results.

        Args:
            post_id: The post.
            rank: Its rank among the hits; unchanged unless given.
            to: The language that it is translated into.
        """
        return self.address(path="/post", post_id=post_id, at=rank or self.at, to=to)

    def back(self) -> str:
        """The address of the results, at the hit that was followed.

        >>> Visit("/post", text="x", post_id="7", offset=10, at=12).back()
        '/search?q=x&offset=10#hit-12'
        """
        place = f"#hit-{self.at}" if self.at else ""
        return self.address(path="/search", post_id="", to="", at=0) + place

    def _parameters(self) -> Iterator[tuple[str, str]]:
        single = {"id": self.post_id, "q": self.text, "lang": self.asked_in}
        yield from ((name, value) for name, value in single.items() if value)
        yield from (("in", code) for code in self.languages)
        yield from (("tag", tag) for tag in self.tags)
        yield from (("collection", name) for name in self.collections)
        if self.by:
            yield "by", self.by
        if self.k != HITS:
            yield "k", str(self.k)
        if self.offset:
            yield "offset", str(self.offset)
        if self.at:
            yield "at", str(self.at)
        if self.own:
            yield "own", self.own
        if not self.is_grouped:
            yield "group", "0"
        if self.as_words:
            yield "words", "1"
        if self.devanagari:
            yield "deva", "1"
        yield from ((name, getattr(self, name)) for name in ("to", "ui") if getattr(self, name))


def _several(parameters: QueryParams, name: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(value for value in parameters.getlist(name) if value))


def _number(parameters: QueryParams, name: str, unless_given: int = 0) -> int:
    number = parameters.get(name, "")
    is_sensible = number.isascii() and number.isdigit() and len(number) < 6
    return int(number) if is_sensible else unless_given
