"""What the address of a page says: the question, the filters, and the language of the page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlencode

from mathsetu.ranking.hybrid import PREFERENCES

if TYPE_CHECKING:
    from starlette.datastructures import QueryParams

#: How many hits a page shows at first.
HITS = 10


@dataclass(frozen=True)
class Visit:
    """One visit. Addresses are plain, so each can be kept, sent and opened again.

    Attributes:
        path: The page.
        text: The question.
        asked_in: The language of the question where the visitor has said it.
        post_id: The post, on a post's page.
        language: Only posts in this language.
        tags: Only posts with all of these tags.
        by: The one part of the recipe that counts; all of them unless named.
        k: How many hits.
        own: How much posts in the visitor's language are preferred; as the recipe says unless
            named.
        is_grouped: Whether versions of a post in several languages are one hit.
        as_words: Whether only what stands between delimiters is read as a formula.
        devanagari: Whether the question is Hindi typed in Latin letters, to be written in its own.
        to: The language a post is translated into.
        ui: The language of the page where the address names it.
    """

    path: str = "/"
    text: str = ""
    asked_in: str = ""
    post_id: str = ""
    language: str = ""
    tags: tuple[str, ...] = ()
    by: str = ""
    k: int = HITS
    own: str = ""
    is_grouped: bool = False
    as_words: bool = False
    devanagari: bool = False
    to: str = ""
    ui: str = ""

    @classmethod
    def read(cls, path: str, parameters: QueryParams, most: int) -> Self:
        """Read an address; what makes no sense in it counts as not said."""
        number = parameters.get("k", "")
        k = int(number) if number.isascii() and number.isdigit() and len(number) < 6 else HITS
        return cls(
            path=path,
            text=parameters.get("q", "").strip(),
            asked_in=parameters.get("lang", ""),
            post_id=parameters.get("id", ""),
            language=parameters.get("in", ""),
            tags=tuple(dict.fromkeys(tag for tag in parameters.getlist("tag") if tag)),
            by=parameters.get("by", ""),
            k=min(max(k, 1), most),
            own=own if (own := parameters.get("own", "")) in PREFERENCES else "",
            is_grouped=parameters.get("group", "") == "1",
            as_words=parameters.get("words", "") == "1",
            devanagari=parameters.get("deva", "") == "1",
            to=parameters.get("to", ""),
            ui=parameters.get("ui", ""),
        )

    def address(self, **changes: Any) -> str:
        """The address of this visit with some things changed.

        >>> Visit("/search", text="a+b & c", tags=("limits",)).address(language="hi")
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
        """What a new question keeps of this visit: filters and the language of the page."""
        kept = Visit(
            language=self.language,
            tags=self.tags,
            by=self.by,
            own=self.own,
            is_grouped=self.is_grouped,
            ui=self.ui,
        )
        return kept._parameters()

    def weights(self) -> dict[str, float] | None:
        """What the parts of the recipe count where the visitor has chosen one of them."""
        return {self.by: 1.0} if self.by else None

    def with_tag(self, tag: str) -> tuple[str, ...]:
        """The tags and one more."""
        return tuple(dict.fromkeys([*self.tags, tag]))

    def without(self, tag: str) -> tuple[str, ...]:
        """The tags but one."""
        return tuple(other for other in self.tags if other != tag)

    def _parameters(self) -> Iterator[tuple[str, str]]:
        single = {"id": self.post_id, "q": self.text, "lang": self.asked_in, "in": self.language}
        yield from ((name, value) for name, value in single.items() if value)
        yield from (("tag", tag) for tag in self.tags)
        if self.by:
            yield "by", self.by
        if self.k != HITS:
            yield "k", str(self.k)
        if self.own:
            yield "own", self.own
        if self.is_grouped:
            yield "group", "1"
        if self.as_words:
            yield "words", "1"
        if self.devanagari:
            yield "deva", "1"
        yield from ((name, getattr(self, name)) for name in ("to", "ui") if getattr(self, name))
