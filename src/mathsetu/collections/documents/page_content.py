"""Extracts the content of a web page, without the parts that its site repeats on every page.

If a page has a main element or a single article, this is its content, and the rest (site name,
links, sidebars) is removed. Otherwise only a header at the top is removed. A heading outside the
content that names the page is kept. "Skip to content" links and permalink signs of headings are
always removed, as is text before the first heading that consists only of links or the site name.
If the main element has less text than the rest of the page, the rest is content, too.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from mathsetu.markup import plain, to_marked_text
from mathsetu.markup.mathml import without_comments
from mathsetu.markup.pages import TAG, VOID, attributes_of, clean_page, is_noise
from mathsetu.markup.references import unescape

#: The title of a page.
TITLE = re.compile(r"<title[^<>]*>([^<]*)</title", re.IGNORECASE)
# Separators between the title of a page and the name of its site.
_SEPARATORS = "-–—|·•:›»"
_JOINT = re.compile(f"[{_SEPARATORS}]")
_LAST_JOINTS = _SEPARATORS.replace(
    ":", ""
)  # site name last: "Trace | Notes"; first: "Notes: Trace"
_DECLARATION = re.compile(r"<[!?][^<>]*+>")
_LEVELS = {"h1": 1, "h2": 2, "h3": 3}
_NO_HEADING = 4
# Elements whose text is skipped here, because it may look like tags.
_UNREAD = {name: re.compile(f"</{name}", re.I) for name in ("script", "style", "title", "template")}
# By role or element name. A header inside one of the first three is part of the content.
_KINDS = {
    "main": "main", "article": "article", "section": "section",
    "header": "header", "banner": "header", "aside": "aside", "complementary": "aside",
}  # fmt: skip
_CONTENT = ("main", "article", "section")
# The texts of permalinks to headings.
_SIGNS = frozenset(("#", "¶", "§", "🔗", "\u200b"))


class _Part(NamedTuple):
    """An element or a text between tags; ``size`` is a heading's level or a text's length."""

    start: int
    end: int
    size: int = 0


class PageContent(NamedTuple):
    """A page in two parts: its content, and the parts of the site around it."""

    content: str
    around: str


def page_content(source: str, title: str) -> PageContent:
    """Split a page into its content and the rest.

    Args:
        source: The page, without comments.
        title: The text of its title element, as marked text.

    >>> page = "<header><a href='/'>Notes</a></header><main><h1>Trace</h1>Sum.</main>"
    >>> page_content(page, "Trace | Notes").content
    '<main><h1>Trace</h1>Sum.</main>'
    """
    layout = _Layout(source)
    main = layout.main()
    around = _gaps(main, len(source)) if main else layout.site_headers()
    if (kept := layout.page_heading(around, main, title)) is not None:
        around = _gaps(_merged([*_gaps(around, len(source)), kept]), len(source))
    around = _merged([*around, *layout.marks])
    around = _merged([*around, *layout.leading_links(around, title)])
    content = _gaps(around, len(source))
    return PageContent(*("".join(source[p.start : p.end] for p in ps) for ps in (content, around)))


def content_of(source: str) -> str:
    """Return the content of a page as a fragment of HTML.

    >>> content_of("<body><nav>Home</nav><main><p>Sum.</p></main><footer>2026</footer></body>")
    '<main><p>Sum.</p></main>'
    """
    page = without_comments(source)
    title = TITLE.search(page)
    shown = to_marked_text(title[1], "html").replace("\n", " ") if title else ""
    return clean_page(page_content(page, shown).content)


def consists_of(title: str, heading: str) -> bool:
    """Whether a title consists of a heading and, at most, the name of the site.

    >>> consists_of("Trace - Wikipedia", "Trace"), consists_of("Trace and rank", "Trace")
    (True, False)
    """
    before, said, after = _cut(title, heading)
    return bool(said) and before[-1:] in _SEPARATORS and after[:1] in _SEPARATORS


class _Layout:
    """The parts of a page that distinguish its content from the rest, found in one pass."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._links: list[_Part] = []  # texts in links, and texts without letters and digits
        self._prose: list[_Part] = []  # other texts
        self._headings: list[_Part] = []
        self._elements: dict[str, list[_Part]] = {kind: [] for kind in _KINDS.values()}
        self.marks: list[_Part] = []  # "skip to content" links, permalink signs of headings
        self._read()
        self._headings.sort()
        self._headers = _merged(self._elements["header"])

    def main(self) -> list[_Part]:
        """Return the main elements or the only article, if they contain most of the text."""
        main = _merged(self._elements["main"])
        articles = _merged(self._elements["article"])
        main = main or (articles if len(articles) == 1 else [])
        others = _merged([*main, *self.site_headers(), *self._elements["aside"]])
        rest = _length(self._prose) - _length(self._prose, others)
        return main if _length(self._prose, main) >= max(rest, 1) else []

    def site_headers(self) -> list[_Part]:
        """Return the headers before all other text, unless they have at least half of the text."""
        others = [p for p in (*self._prose, *self._headings) if not _holder(p, self._headers)]
        first = min(others, default=_Part(0, 0)).start
        headers = [header for header in self._headers if header.start < first]
        return headers if 2 * _length(self._prose, headers) < _length(self._prose) else []

    def page_heading(self, around: list[_Part], main: list[_Part], title: str) -> _Part | None:
        """Return the heading of the page (or its header) if it is outside the content."""
        inside = [heading for heading in self._headings if not _holder(heading, around)]
        if inside and consists_of(title, self._text(inside[0])):
            return None
        highest = min((heading.size for heading in inside), default=_NO_HEADING)
        last = main[0].start if main else len(self._source)
        for heading in self._headings:
            header = _holder(heading, self._headers)
            if (
                heading.start < last
                and _holder(heading, around)
                and (header or heading.size == 1)
                and (heading.size < highest or (heading.size == highest and not main))
            ):
                before, said, after = _cut(title, self._text(heading))
                is_site = said and before and before[-1] in _LAST_JOINTS and not after
                return None if is_site else header or heading
        return None

    def leading_links(self, around: list[_Part], title: str) -> list[_Part]:
        """Return the texts before the first heading, if they are only links and the site name."""
        heading = next((one for one in self._headings if not _holder(one, around)), None)
        if heading is None:
            return []
        said = {part.strip() for part in _JOINT.split(plain(title).casefold())}
        for text in self._prose:
            if text > heading:
                break
            if not _holder(text, around) and self._text(text).casefold() not in said:
                return []
        leading = [text for text in (*self._prose, *self._links) if text < heading]
        whole = _length(self._prose) + _length(self._links)
        return leading if 2 * _length(leading) < whole else []  # a list of links may be the page

    def _text(self, part: _Part) -> str:
        source = self._source[part.start : part.end]
        return to_marked_text(clean_page(source), "html").replace("\n", " ").strip()

    def _read(self) -> None:
        source = self._source
        opened: dict[str, list[tuple[int, str]]] = {}
        depth: Counter[str] = Counter()  # number of open elements of each kind
        position = 0
        skipped, skipped_depth = "", 0  # the open noise element (such as navigation), if any
        for tag in TAG.finditer(source):
            if tag.start() < position:
                continue
            closing, name, written = tag[1], tag[2].lower(), tag[3]
            is_open = not closing and name not in VOID and not written.endswith("/")
            if skipped:
                if name == skipped:
                    skipped_depth += 1 if is_open else -1 if closing else 0
                    skipped = skipped if skipped_depth else ""
                position = tag.end()
                continue
            self._add_text(position, tag.start(), in_link=depth["link"] > 0)
            position = tag.end()
            if closing and opened.get(name):
                start, kind = opened[name].pop()
                depth[kind] -= 1
                self._add(kind, _Part(start, position, _LEVELS.get(name, 0)))
            elif is_open and name in _UNREAD:
                end = _UNREAD[name].search(source, position)
                position = end.start() if end else len(source)
            elif is_open:
                attribute = attributes_of(written)
                if is_noise(name, attribute):
                    skipped, skipped_depth = name, 1
                    continue
                kind = _kind(name, attribute)
                if kind == "header" and any(depth[one] for one in _CONTENT):
                    kind = ""
                depth[kind] += 1
                opened.setdefault(name, []).append((tag.start(), kind))
        if not skipped:
            self._add_text(position, len(source), in_link=False)
        for start, kind in (one for some in opened.values() for one in some):
            if kind in _CONTENT:  # an unclosed element extends to the end
                self._add(kind, _Part(start, len(source)))

    def _add_text(self, start: int, end: int, *, in_link: bool) -> None:
        text = unescape(_DECLARATION.sub("", self._source[start:end]))
        if in_link and text.strip() in _SIGNS:
            self.marks.append(_Part(start, end))
        elif text and not text.isspace():
            is_prose = not in_link and any(map(str.isalnum, text))
            part = _Part(start, end, sum(map(len, text.split())))
            (self._prose if is_prose else self._links).append(part)

    def _add(self, kind: str, part: _Part) -> None:
        if kind == "skip link":
            self.marks.append(part)
        elif part.size:
            self._headings.append(part)
        elif kind in self._elements:
            self._elements[kind].append(part)


def _kind(name: str, attribute: dict[str, str]) -> str:
    """Return the role of an element in the layout of a page; empty for most elements."""
    if name == "a" and "href" in attribute:
        is_skip = attribute["href"].startswith("#") and "skip" in attribute.get("class", "").lower()
        return "skip link" if is_skip else "link"
    return _KINDS.get(attribute.get("role", "")) or _KINDS.get(name, "")


def _cut(title: str, heading: str) -> tuple[str, str, str]:
    """Split a title at a heading: the text before, the heading if present, and the text after."""
    whole, part = plain(title).casefold(), plain(heading).casefold()
    before, said, after = whole.partition(part) if part else (whole, "", "")
    return before.rstrip(), said, after.lstrip()


def _merged(parts: Iterable[_Part]) -> list[_Part]:
    """Sort parts and merge those that overlap."""
    merged: list[_Part] = []
    for part in sorted(parts):
        if merged and part.start < merged[-1].end:
            merged[-1] = _Part(merged[-1].start, max(part.end, merged[-1].end))
        else:
            merged.append(_Part(part.start, part.end))
    return merged


def _gaps(merged: list[_Part], length: int) -> list[_Part]:
    """Return the gaps between merged parts in a page of this length."""
    starts = [0, *(part.end for part in merged)]
    ends = [*(part.start for part in merged), length]
    return [_Part(start, end) for start, end in zip(starts, ends, strict=True) if start < end]


def _holder(part: _Part, merged: list[_Part]) -> _Part | None:
    """Return the merged part that contains another part, if any."""
    number = bisect_right(merged, part.start, key=lambda one: one.start) - 1
    return merged[number] if number >= 0 and part.end <= merged[number].end else None


def _length(texts: list[_Part], merged: list[_Part] | None = None) -> int:
    """Return the total length of texts, or of those inside merged parts."""
    return sum(text.size for text in texts if merged is None or _holder(text, merged))
