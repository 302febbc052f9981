"""Parse MathML into a plain tree of elements, safely for untrusted text.

Document type declarations are refused, which excludes entity bombs and external entities. The
named entities of HTML (``&InvisibleTimes;``, ``&alpha;``) are supported.
"""

from __future__ import annotations

import html
import html.entities
import re
from collections.abc import Iterator

from mathsetu.errors import NotationError
from mathsetu.markup.safe_xml import MAX_DEPTH, RefusedXml, XmlParser

_ENTITY = re.compile(r"&([A-Za-z][A-Za-z0-9]*);")
_XML_ENTITIES = frozenset({"amp", "lt", "gt", "quot", "apos"})


class Element:
    """One XML element: its local name, attributes, child elements and text.

    ``text`` is all text directly inside the element, with runs of white space as one blank.

    >>> math = parse_xml("<math><mi mathvariant='normal'>x</mi></math>")
    >>> math.name, math.children[0].name, math.children[0].text
    ('math', 'mi', 'x')
    """

    __slots__ = ("attributes", "children", "name", "text")

    def __init__(self, name: str, attributes: dict[str, str], text: str = "") -> None:
        self.name = name
        self.attributes = attributes
        self.children: list[Element] = []
        self.text = text

    def walk(self) -> Iterator[Element]:
        """Yield every element in document order, parents first."""
        stack = [self]
        while stack:
            element = stack.pop()
            yield element
            stack.extend(reversed(element.children))

    def all_text(self) -> str:
        """Return the text of the element and of all its descendants."""
        return " ".join(filter(None, (element.text for element in self.walk())))


def parse_xml(text: str) -> Element:
    """Parse one XML document into elements.

    Raises:
        NotationError: when the text is not well-formed, has a document type declaration, or
            is nested deeper than `MAX_DEPTH`.
    """
    source = _ENTITY.sub(_named_entity, text.strip())
    root: list[Element] = []
    stack: list[Element] = []
    pieces: list[list[str]] = []
    parser = XmlParser()

    def start(name: str, attributes: dict[str, str]) -> None:
        element = Element(name.rpartition(":")[2], attributes)
        (stack[-1].children if stack else root).append(element)
        stack.append(element)
        pieces.append([])
        if len(stack) > MAX_DEPTH:
            parser.refuse(f"nested deeper than {MAX_DEPTH} elements")

    def end(_name: str) -> None:
        stack.pop().text = " ".join("".join(pieces.pop()).split())

    parser.expat.StartElementHandler = start
    parser.expat.EndElementHandler = end
    parser.expat.CharacterDataHandler = lambda data: pieces[-1].append(data)
    try:
        data = source.encode("utf-8")
        parser.feed(data, final=True)
    except UnicodeEncodeError as error:
        raise NotationError(source, error.start, "a lone surrogate is not a character") from None
    except RefusedXml as refused:
        place = len(data[: refused.byte].decode("utf-8", "ignore"))
        raise NotationError(source, place, refused.problem) from None
    return root[0]


def _named_entity(match: re.Match[str]) -> str:
    name = match.group(1)
    if name in _XML_ENTITIES:
        return match.group()
    characters = html.entities.html5.get(name + ";")
    return match.group() if characters is None else html.escape(characters, quote=False)
