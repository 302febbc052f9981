r"""LaTeX documents with included files, macros and theorems.

Only files in the same tree (a folder or an archive) as the document are read; see `tex_expansion`
for the supported part of TeX.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from functools import cache

from mathsetu.collections.documents.sections import Document, Section, decoded, posts_of
from mathsetu.collections.documents.tex_expansion import Expansion, expand
from mathsetu.collections.documents.tex_marks import DOCUMENT_TITLE, SECTION_TITLE, tidied
from mathsetu.collections.rows import BadRows
from mathsetu.collections.trees import BROKEN, Tree
from mathsetu.errors import InputError
from mathsetu.languages.table import ROWS
from mathsetu.limits import LONGEST_TEXT
from mathsetu.markup import to_marked_text
from mathsetu.records import Post

_INPUTS = re.compile(
    r"\\(?:input|include|subfile|InputIfFileExists)\s*+(?:\{([^{}\n]{1,200})\}|([\w./-]{1,200}))"
    r"|\\(?:sub)?import\*?\s*+\{([^{}\n]{0,200})\}\s*+\{([^{}\n]{1,200})\}"
)
_CLASS = re.compile(r"\\document(?:class|style)(?![A-Za-z])")
_COMMENT = re.compile(r"(?<!\\)%[^\n]*+")
_ENCODING = re.compile(rb"\\usepackage\s*\[([A-Za-z0-9_-]{1,20})\]\s*\{inputenc\}")
_ENCODINGS = {"latin1": "latin-1", "latin2": "iso8859-2", "latin9": "iso8859-15",
              "ansinew": "cp1252", "applemac": "mac-roman", "cp1250": "cp1250",
              "cp1251": "cp1251", "cp1252": "cp1252", "koi8-r": "koi8-r"}  # fmt: skip
# The options of babel, of which the last is the main language, or the argument of polyglossia.
_BABEL = re.compile(
    r"\\usepackage\s*+\[([^\[\]]{1,200})\]\s*+\{babel\}"
    r"|\\set(?:default|main)language\s*+(?:\[[^\[\]]{0,200}\])?\s*+\{([a-z]{1,30})\}"
)
_PREAMBLE = 20_000
_OTHER_NAMES = {"american": "en", "british": "en", "ngerman": "de", "naustrian": "de",
                "francais": "fr", "brazilian": "pt", "brazil": "pt", "portuges": "pt",
                "magyar": "hu", "farsi": "fa", "bahasa": "id"}  # fmt: skip


def read_posts(document: Document, bad: BadRows) -> Iterator[Post]:
    """Read the sections of a document and of the files that it includes."""
    posts, _ = read_with_files(document, bad)
    yield from posts


def read_with_files(document: Document, bad: BadRows) -> tuple[Iterator[Post], list[str]]:
    """Return the sections of a document, and the names of all files that it consists of."""
    data = document.read()
    declared = _declared(data)
    tree, base = document.tree, posixpath.dirname(document.name)
    taken = [0]

    def find(given: str, origin: str) -> tuple[str, str] | None:
        name = resolve(tree, given, base, posixpath.dirname(origin))
        if name is None:
            return None
        included = tree.read(name)
        text = decoded(included, tree.shown(name), declared or _declared(included))
        taken[0] += len(text)
        if taken[0] > 4 * LONGEST_TEXT:
            raise document.error(f"includes more than {4 * LONGEST_TEXT:,} characters")
        return text, name

    source = decoded(data, document.shown, declared)
    language = _stated_language(source)
    made = expand(source, document.name, find, language)
    if made.missing:
        names = ", ".join(dict.fromkeys(made.missing))
        bad.note(f"{document.shown}: included files are missing: {names[:200]}")
    if made.is_cut:
        bad.note(f"{document.shown}: its macros expand to too much text; some are not expanded")
    return _posts(document, made, language, bad), made.files


def _stated_language(source: str) -> str:
    r"""Return the main language set for babel or polyglossia; "" if it is missing or unknown.

    >>> _stated_language(r"\usepackage[english,main=czech]{babel}")
    'cs'
    >>> _stated_language(r"\usepackage[ngerman,spanish,shorthands=off]{babel}")
    'es'
    """
    found = _BABEL.search(_COMMENT.sub("", source[:_PREAMBLE]))
    if found is None:
        return ""
    options = [option.strip() for option in (found[1] or found[2]).split(",")]
    mains = [one.partition("=")[2].strip() for one in options if one.startswith("main")]
    known = [code for one in mains or options if (code := _language_names().get(one))]
    return known[-1] if known else ""


@cache
def _language_names() -> dict[str, str]:
    """Return the TeX names of languages with their codes."""
    return {row.name.lower(): row.code for row in ROWS.values()} | _OTHER_NAMES


def _posts(document: Document, made: Expansion, language: str, bad: BadRows) -> Iterator[Post]:
    titles = DOCUMENT_TITLE.findall(made.text)
    text = DOCUMENT_TITLE.sub("", made.text)
    parts = list(_sections(text, document.name))
    title = to_marked_text(tidied(titles[-1]), "latex").replace("\n", " ") if titles else ""
    yield from posts_of(document, parts, "latex", bad, title=title, language=language)


def _sections(text: str, name: str) -> Iterator[Section]:
    title, anchor, start, level, file = "", "", 0, 0, name
    for heading in SECTION_TITLE.finditer(text):
        yield Section(title, tidied(text[start : heading.start()]), anchor, 0, level, file)
        number, file, title, label = heading.groups()
        title, anchor, level, start = tidied(title), label or "", int(number) + 1, heading.end()
    yield Section(title, tidied(text[start:]), anchor, 0, level, file)


def resolve(tree: Tree, given: str, *folders: str) -> str | None:
    r"""Return the name of the file that ``\input`` refers to; None if it is not in the tree."""
    given = given.strip().strip('"')
    if not given or given.startswith("/"):
        return None
    for folder in dict.fromkeys(folders):
        name = posixpath.normpath(posixpath.join(folder, given))
        if name.startswith(".."):
            continue
        for candidate in (name, f"{name}.tex"):
            if tree.has(candidate):
                return candidate
    return None


def included(tree: Tree, names: list[str]) -> set[str]:
    """Return the LaTeX files that others include; they are not documents themselves."""
    found: set[str] = set()
    for name in names:
        try:
            source = tree.read(name).decode("utf-8", "replace")
        except (InputError, OSError, *BROKEN):
            continue  # reported when the file is read
        for first, second, folder, file in _INPUTS.findall(_COMMENT.sub("", source)):
            given = first or second or posixpath.join(folder, file)
            taken = resolve(tree, given, posixpath.dirname(name), "")
            if taken is not None and taken != name:
                found.add(taken)
    return found


def main_file(tree: Tree, name: str, names: list[str]) -> str | None:
    """Return the first of some files that is a document and includes a file, also indirectly."""
    for candidate in names:
        if candidate == name or not is_main(tree, candidate):
            continue
        found: set[str] = set()
        added = {candidate}
        while added and name not in found:
            added = included(tree, sorted(added)) - found
            found |= added
        if name in found:
            return candidate
    return None


def is_main(tree: Tree, name: str) -> bool:
    """Whether a file is a complete document: it states its class."""
    try:
        source = tree.read(name).decode("utf-8", "replace")
    except (InputError, OSError, *BROKEN):
        return False
    return _CLASS.search(_COMMENT.sub("", source)) is not None


def _declared(data: bytes) -> str:
    declared = _ENCODING.search(data[:100_000])
    return _ENCODINGS.get(declared[1].decode("ascii").lower(), "") if declared else ""
