"""The XML parser for all untrusted input: dumps (a stream), MathML and Word documents (trees).

Declared entities are refused, because they can expand a small file to a huge one. External
resources are never read, and the depth of trees is limited.
"""

from __future__ import annotations

from typing import NoReturn
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

#: Maximum depth of a tree; real documents are never nested so deeply.
MAX_DEPTH = 10_000


class RefusedXml(Exception):
    """XML that is malformed or not allowed; the caller adds the name of the file.

    Attributes:
        problem: The description of the error.
        line: The line of the error, counted from 1.
        byte: The position of the error in bytes, counted from 0.
    """

    def __init__(self, problem: str, line: int, byte: int) -> None:
        super().__init__(problem)
        self.problem = problem
        self.line = line
        self.byte = byte


class XmlParser:
    """Parses a document in parts; set handlers on its attribute ``expat``.

    Args:
        doctype: Whether a document type may be declared (an entity never may).
        namespaces: Whether names include their namespaces, as ``uri}name``.
    """

    def __init__(self, *, doctype: bool = False, namespaces: bool = False) -> None:
        self.expat = expat.ParserCreate(namespace_separator="}" if namespaces else None)
        self.expat.EntityDeclHandler = self._refuse_entity
        if not doctype:
            self.expat.StartDoctypeDeclHandler = self._refuse_doctype

    def feed(self, part: bytes, final: bool = False) -> None:
        """Parse a part.

        Raises:
            RefusedXml: If the part is malformed or not allowed.
        """
        try:
            self.expat.Parse(part, final)
        except expat.ExpatError as error:
            problem = f"malformed XML at column {error.offset + 1}: {expat.ErrorString(error.code)}"
            raise RefusedXml(problem, error.lineno, self._byte) from None
        except (LookupError, ValueError) as error:  # the declared encoding is unknown or wrong
            self.refuse(f"malformed XML: {error}; convert it to UTF-8")

    def refuse(self, problem: str) -> NoReturn:
        """Raise `RefusedXml` for the current position."""
        raise RefusedXml(problem, self.expat.CurrentLineNumber, self._byte) from None

    @property
    def _byte(self) -> int:
        return max(self.expat.CurrentByteIndex, 0)

    def _refuse_entity(self, *_: object) -> None:
        self.refuse("the document declares entities, which is not allowed")

    def _refuse_doctype(self, *_: object) -> None:
        self.refuse("the document declares a document type, which is not allowed")


def read_tree(data: bytes) -> Element:
    """Parse a document into a tree, with names such as ``{uri}name``.

    >>> root = read_tree(b'<a xmlns="u"><b c="1">x</b></a>')
    >>> root.tag, root[0].attrib, root[0].text
    ('{u}a', {'c': '1'}, 'x')

    Raises:
        RefusedXml: If it is malformed, declares a document type, or is nested too deeply.
    """
    builder, parser = TreeBuilder(), XmlParser(namespaces=True)
    depth = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > MAX_DEPTH:
            parser.refuse(f"nested deeper than {MAX_DEPTH} elements")
        builder.start(_name(name), {_name(key): value for key, value in attributes.items()})

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1
        builder.end(_name(name))

    parser.expat.StartElementHandler = start
    parser.expat.EndElementHandler = end
    parser.expat.CharacterDataHandler = builder.data
    parser.expat.buffer_text = True
    parser.feed(data, final=True)
    return builder.close()


def _name(name: str) -> str:
    return f"{{{name}" if "}" in name else name
