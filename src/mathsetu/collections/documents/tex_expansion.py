r"""Expands a LaTeX document: includes its files and applies the macros of its author.

``\input`` is replaced by the file, and macros are expanded where they are used. What is not text is
removed: comments, drawings, listings, citations, references, layout. Nothing is executed: only
definitions of macros with plain bodies are understood.

The output of macros is limited (`_BUDGET`), so that the time is linear in the length of the input.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from html import escape
from string import ascii_lowercase

from mathsetu.collections.documents.tex_commands import (
    ASSIGNED,
    DEFINING,
    DOCUMENT_COMMANDS,
    DROPPED,
    ENVIRONMENT_ARGUMENTS,
    FIXED,
    HEADINGS,
    NOT_READ,
    PROOFS,
    REFERENCES,
    SPACING,
    STATEMENTS,
)
from mathsetu.collections.documents.tex_frames import LONGEST_OPTION, TOKEN, Frame, Frames
from mathsetu.collections.documents.tex_marks import (
    DOCUMENT_END,
    DOCUMENT_START,
    HEADING,
    HEADING_FILE,
    LABEL_END,
    LABEL_START,
    NO_MARKS,
    REFERENCE,
    TITLE_END,
    TITLE_START,
    with_plain_headings,
    without_labels,
)
from mathsetu.markup import split
from mathsetu.markup.delimiters import ENVIRONMENTS
from mathsetu.markup.spans import Span
from mathsetu.markup.tex import DEFINES

#: Maximum number of characters that macros may produce, and more for each character of the input.
_BUDGET = 500_000
_BUDGET_FACTOR = 4
_DEEPEST = 60
_MAX_FILES = 1_000

_COMMENT = re.compile(r"%[^\n]*+(?:\n[ \t]*+)?")
# The name of a TeX conditional; \iff is a sign.
_IF = r"if(?!f(?![A-Za-z@]))"
_CONDITION = re.compile(rf"\\({_IF}[A-Za-z@]*+|fi)(?![A-Za-z@])")
_CONDITIONAL = re.compile(f"{_IF}|(?:else|fi|or)\\Z")
_ROW_SPACE = re.compile(r"\*?[ \t]*+\[\s*+-?[\d.]*+\s*+(?:[a-z]{2}|\\[A-Za-z]++)\s*+\]|\*")
_OWN_DISPLAY = re.compile(r"(?:align|multline|gather|equation|eqnarray)\*?\Z")
_BOX_SIZE = re.compile(r"\s*+(?:to|spread)\s*+-?[\d.]*+\s*+(?:[a-z]{2}|\\[A-Za-z]++)")
_BODY_COMMENT = re.compile(r"(?<!\\)%[^\n]*+\n[ \t]*+")
# A command at the end of a text, whose name a following letter would join.
_LAST_COMMAND = re.compile(r"(?<!\\)(?:\\\\)*\\[A-Za-z]+$")
_PARAMETERS = re.compile(r"(?:\s*+#\d)*+\s*+")
_OPTIONAL = re.compile(r"\s*+(?:o|O\{([^{}]*+)\})")
_OPAQUE = re.compile(
    rf"@|\\(?:{_IF}|expandafter|csname|futurelet|begingroup|catcode|else\b|fi\b|loop|the\b)"
)

_LISTS = frozenset(("enumerate", "itemize", "description"))
_START = re.compile(r"\bstart\s*+=\s*+(\d{1,5})")
#: Finds a file by the name in an include command and the name of the including file; returns its
#: text and its name in the tree, or None.
Finder = Callable[[str, str], tuple[str, str] | None]


@dataclass(slots=True)
class _Macro:
    body: str
    arguments: int = 0
    default: str | None = None
    takes_star: bool = False
    is_final: bool = False  # an alias of a TeX command, which is not expanded again


@dataclass
class Expansion:
    """A document after expansion; its text contains the marks of `tex_marks`."""

    text: str
    files: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    is_cut: bool = False


def expand(source: str, name: str, find: Finder, language: str = "") -> Expansion:
    r"""Expand a document.

    Args:
        source: The text of the main file.
        name: The name of the main file.
        find: Finds the files that the document includes.
        language: The stated language of the document, for the heading of proofs.

    >>> document = r"\newcommand{\R}{\mathbb{R}} Let $x\in\R$. % a note"
    >>> expand(document, "a.tex", lambda name, origin: None).text.strip()
    'Let $x\\in\\mathbb{R}$.'
    """
    reader = _Reader(find, PROOFS.get(language, PROOFS["en"]))
    reader.read(source, name)
    return Expansion("".join(reader.made), reader.files, reader.missing, reader.budget <= 0)


def expand_formulas(source: str, form: str) -> str:
    r"""Expand macros that formulas of a text define for other formulas, as MathJax does.

    >>> expand_formulas(r"$\def\R{\mathbb R}$ Let $x\in\R$.", "markdown")
    ' Let $x\\in\\mathbb R$.'
    """
    return FormulaMacros().expand(source, form) if DEFINES.search(source) else source


class FormulaMacros:
    r"""The macros that formulas define for later formulas, in the same text and in later texts.

    >>> macros = FormulaMacros()
    >>> macros.expand(r"<p>$\def\R{\mathbb R}$ Let $x&lt;\R$.</p>", "html")
    '<p> Let $x&lt;\\mathbb R$.</p>'
    >>> macros.expand(r"Is $\R$ open?", "text")
    'Is $\\mathbb R$ open?'

    Args:
        definitions: Initial macros, each as a LaTeX definition.
    """

    def __init__(self, definitions: Iterable[str] = ()) -> None:
        self._reader = _Reader(lambda name, origin: None)
        for definition in definitions:
            self._reader.read(definition, "")

    def expand(self, source: str, form: str) -> str:
        """Expand the macros of a text, and remove formulas that only define macros.

        In LaTeX, the words between formulas may define and use macros, too.
        """
        if form == "latex":
            return with_plain_headings(self._read(source))
        return "".join(
            self._expanded(span, form) if span.kind == "formula" else span.raw
            for span in split(source, form)
        )

    def _read(self, source: str) -> str:
        """Expand the macros of a source, and remember those that it defines."""
        self._reader.made = []
        self._reader.read(source, "")
        return "".join(self._reader.made)

    def _expanded(self, span: Span, form: str) -> str:
        made = without_labels(self._read(span.content))
        if made == span.content:
            return span.raw
        if not made.strip():
            return ""
        if form != "html":
            return span.raw.replace(span.content, made)
        made = escape(made, quote=False)
        for content in (span.content, escape(span.content, quote=False)):
            if content in span.raw:
                return span.raw.replace(content, made)
        # The source has other character references: write the formula anew, in an element if it
        # was in one.
        dollars = "$$" if span.display else "$"
        written = f"{dollars}{made}{dollars}"
        is_marked = span.raw.startswith("<")
        return f'<span class="math-container">{written}</span>' if is_marked else written


class _Reader(Frames):
    def __init__(self, find: Finder, proof: str = PROOFS["en"]) -> None:
        self._proof = proof
        self.made: list[str] = []
        self.files: list[str] = []
        self.missing: list[str] = []
        self.budget = _BUDGET
        self._find = find
        super().__init__()
        self._macros: dict[str, _Macro] = {}
        self._environments: dict[str, tuple[_Macro, str]] = {}
        self._theorems: dict[str, str] = {}
        # The number of the next item of each open list, None if its items have no numbers.
        self._lists: list[int | None] = []
        self._after_command = False
        self._is_begun = self._is_over = False
        self._actions: dict[str, Callable[[str], None]] = {
            "begin": self._begin, "end": self._end, "let": self._let, "label": self._label,
            "title": self._title, "item": self._item, "footnote": self._footnote,
            "url": self._url, "href": self._link,
            "mathchoice": self._choice, "raisebox": self._raised,
            "iffalse": self._if_false, "verb": self._verb,
            "hbox": self._box, "vbox": self._box, "vtop": self._box,
            "lstinline": self._verb, "mintinline": self._verb,
            "usepackage": self._package, "RequirePackage": self._package,
            "newenvironment": self._new_environment, "renewenvironment": self._new_environment,
            "newtheorem": self._new_theorem, "declaretheorem": self._declare_theorem,
            "spnewtheorem": self._new_theorem, "DeclarePairedDelimiter": self._paired,
            "documentclass": self._package, "caption": self._paragraph,
            "paragraph": self._paragraph, "subparagraph": self._paragraph,
            "subsubsection": self._paragraph,
            "import": self._import, "subimport": self._import, "endinput": self._end_input,
            **dict.fromkeys(("input", "include", "subfile", "InputIfFileExists"), self._input),
            **dict.fromkeys(("DeclareMathOperator", "DeclareMathOperator*"), self._operator),
            **dict.fromkeys(("def", "gdef", "edef", "xdef"), self._def),
            **dict.fromkeys(DEFINING, self._new_command),
            **dict.fromkeys(DOCUMENT_COMMANDS, self._document_command),
            **dict.fromkeys(HEADINGS, self._heading),
        }  # fmt: skip

    def read(self, source: str, name: str) -> None:
        """Read a file and all files that it includes."""
        self._open(source, name)
        while self._frames and not self._is_over:
            frame = self._frames[-1]
            if frame.position >= len(frame.text):
                self._frames.pop()
                continue
            token = TOKEN.match(frame.text, frame.position)
            assert token is not None
            frame.position = token.end()
            command, sign, comment, brace, text = token.groups()
            if command is not None:
                self._command(command)
            elif comment:
                self._comment(frame, token.start())
            elif sign is not None:
                self._emit(f"\\{sign}")
                if sign == "\\":
                    space = _ROW_SPACE.match(frame.text, frame.position)
                    frame.position = space.end() if space else frame.position
            else:
                self._emit(brace or text or "")

    def _open(self, source: str, name: str) -> None:
        source = source.translate(NO_MARKS)
        self.files.append(name)
        self.budget += _BUDGET_FACTOR * len(source)
        self._frames.append(Frame(source, name, is_file=True))

    def _push(self, text: str) -> None:
        """Read the expansion of a macro next, before the text after it."""
        self.budget -= len(text) + 32
        if self.budget > 0 and len(self._frames) < _DEEPEST:
            self._frames.append(Frame(text))

    def _emit(self, text: str) -> None:
        if not text:
            return
        if self._after_command and text[0].isalpha():
            self.made.append(" ")
        self._after_command = False
        self.made.append(text)

    def _comment(self, frame: Frame, start: int) -> None:
        comment = _COMMENT.match(frame.text, start)
        assert comment is not None
        frame.position = comment.end()

    def _command(self, name: str) -> None:
        macro = self._macros.get(name)
        if macro is not None:
            self._use(name, macro)
            return
        action = self._actions.get(name)
        if action is not None:
            action(name)
        elif name in DROPPED:
            self._drop(name, int(DROPPED[name]))
        elif REFERENCES.fullmatch(name):
            self._drop(name, 1)
            self._emit(REFERENCE)
        elif name in SPACING or (name in ASSIGNED):
            self._dimension()
        elif _CONDITIONAL.match(name):
            return
        else:
            self._emit(f"\\{name}")
            self._after_command = True
            self._skip_layout()

    def _drop(self, name: str, arguments: int) -> None:
        self._next_is("*")
        while self._option() is not None:
            pass
        for _ in range(arguments):
            if not self._argument():
                break
            if name in ("titleformat", "multirow"):
                self._option()

    # Definitions and their use.

    def _define(self, name: str, macro: _Macro) -> None:
        name = name.strip().removeprefix("\\")
        if not name or name in FIXED or name in HEADINGS or name.startswith("the"):
            return
        if _OPAQUE.search(macro.body):
            self._macros.pop(name, None)
            return
        if "\n" in macro.body:
            macro = replace(macro, body=_one_line(macro.body))
        self._macros[name] = macro

    def _new_command(self, kind: str) -> None:
        self._next_is("*")
        name = self._argument()
        count = (self._option() or "0").strip()
        default = self._option()
        body = self._argument()
        if kind == "providecommand" and name.strip().removeprefix("\\") in self._macros:
            return
        number = int(count) if count.isdecimal() and len(count) == 1 else 0
        self._define(name, _Macro(body, number, default))

    def _def(self, _: str) -> None:
        name = self._argument()
        frame = self._here()
        if frame is None:
            return
        parameters = _PARAMETERS.match(frame.text, frame.position)
        end = parameters.end() if parameters else frame.position
        if not frame.text.startswith("{", end):  # delimited parameters are not supported
            opening = frame.text.find("{", end, end + 200)
            if opening >= 0:
                frame.position = opening
                self._argument()
            return
        count = frame.text.count("#", frame.position, end)
        frame.position = end
        body = self._argument()
        if name.startswith("\\"):
            self._define(name, _Macro(body, min(count, 9)))

    def _let(self, _: str) -> None:
        name = self._argument()
        self._next_is("=")
        other = self._argument()
        known = self._macros.get(other.removeprefix("\\"))
        if name.startswith("\\") and other != name:
            self._define(name, known or _Macro(other, is_final=True))

    def _operator(self, _: str) -> None:
        star = "*" if self._next_is("*") else ""
        name, text = self._argument(), self._argument()
        self._define(name, _Macro(f"\\operatorname{star}{{{text}}}"))

    def _paired(self, _: str) -> None:
        name, opening, closing = self._argument(), self._argument(), self._argument()
        self._define(name, _Macro(f"{opening} #1{closing} ", 1, takes_star=True))

    def _document_command(self, _: str) -> None:
        name, arguments, body = self._argument(), self._argument(), self._argument()
        optional = _OPTIONAL.match(arguments)
        kinds = "".join(arguments[optional.end() if optional else 0 :].split())
        count = len(kinds) + (optional is not None)
        if set(kinds) <= {"m"} and count < 10:
            default = (optional[1] or "") if optional else None
            self._define(name, _Macro(body, count, default))

    def _use(self, name: str, macro: _Macro) -> None:
        if macro.takes_star:
            self._next_is("*")
            self._option()
        arguments: list[str] = []
        if macro.default is not None and macro.arguments:
            given = self._option()
            arguments.append(macro.default if given is None else given)
        while len(arguments) < macro.arguments:
            arguments.append(self._argument())
        if macro.is_final:
            self._emit(macro.body)
            self._after_command = True
            return
        body = _filled(macro.body, arguments, max(self.budget, 0))
        if body is None:
            self.budget = 0
            return
        self._push(body)
        if self._after_command and body[:1].isalpha():
            self._emit(" ")

    # Structure.

    def _heading(self, name: str) -> None:
        self._next_is("*")
        self._option()
        title = self._argument()
        file = next((frame.name for frame in reversed(self._frames) if frame.is_file), "")
        self._emit(f"{HEADING}{HEADINGS[name]}{HEADING_FILE}{file}{TITLE_START}")
        self._between(title, TITLE_END)

    def _between(self, text: str, mark: str) -> None:
        """Read a text, then write a mark."""
        # The mark gets a separate frame: the text may end in a command that expects an argument.
        self._frames.append(Frame(mark))
        self._push(text + "{}" if text[-1:].isalpha() and "\\" in text else text)

    def _title(self, _: str) -> None:
        self._option()
        title = self._argument()
        self._emit(DOCUMENT_START)
        self._between(title, DOCUMENT_END)

    def _paragraph(self, name: str) -> None:
        self._next_is("*")
        self._option()
        title = self._argument()
        self._emit("\n\n")
        self._between(title, "\n" if name == "caption" else ". ")

    def _item(self, _: str) -> None:
        label = self._option()
        if label is None and self._lists and self._lists[-1] is not None:
            number = self._lists[-1]
            self._lists[-1] = number + 1
            depth = sum(count is not None for count in self._lists)
            is_letter = depth == 2 and 0 < number <= len(ascii_lowercase)
            self._emit(f"\n({ascii_lowercase[number - 1]}) " if is_letter else f"\n{number}. ")
            return
        self._emit("\\item ")
        if label:
            self._push(f"{label} ")

    def _footnote(self, _: str) -> None:
        self._option()
        note = self._argument()
        self._emit(" (")
        self._between(note, ")")

    def _choice(self, _: str) -> None:
        """Read the first of the four variants of ``mathchoice``."""
        signs = [self._argument() for _ in range(4)]
        self._push(f"{signs[0]}{{}}")

    def _box(self, name: str) -> None:
        frame = self._here()
        size = _BOX_SIZE.match(frame.text, frame.position) if frame else None
        if frame and size:
            frame.position = size.end()
        self._emit(f"\\{name}")
        self._after_command = True

    def _raised(self, _: str) -> None:
        """Read a raised box; a formula in it is kept without its dollars, with ``ensuremath``."""
        self._argument()
        while self._option() is not None:
            pass
        inside = self._argument().strip()
        if inside.startswith("$") and inside.endswith("$") and inside.count("$") == 2:
            inside = f"\\ensuremath{{{inside[1:-1]}}}"
        self._push(inside)

    def _label(self, _: str) -> None:
        self._emit(f"{LABEL_START}{self._argument()}{LABEL_END}")

    def _begin(self, _: str) -> None:
        name = self._argument().strip()
        if name == "document":
            if self._is_begun:
                return
            # The preamble has no text, but it may set the title.
            self._is_begun = True
            before = "".join(self.made)
            start = before.rfind(DOCUMENT_START)  # TeX prints the last one
            end = before.find(DOCUMENT_END, start)
            self.made = [before[start : end + 1]] if 0 <= start < end else []
        elif name in NOT_READ:
            self._skip_to(f"\\end{{{name}}}")
        elif name in self._environments:
            macro, _end = self._environments[name]
            self._use(name, macro)
        elif self._is_statement(name):
            printed = self._theorems.get(name) or self._printed(name.rstrip("*"))
            given = self._option()
            self._emit("\n\n")
            self._push(f"{printed} ({given}). " if given else f"{printed}. ")
        elif _mathematical(name):
            self._emit(f"\\begin{{{_mathematical(name)}}}")
        elif name in ("frame", "block"):
            self._option()
            frame = self._here()
            has_title = frame is not None and frame.text.startswith("{", frame.position)
            self._emit("\n\n")
            if has_title:
                title = self._argument()
                self._between(title, ". ")
        else:
            if name in _LISTS:
                first = _START.search(self._option() or "")
                number = int(first[1]) if first else 1
                self._lists.append(number if name == "enumerate" else None)
            self._drop(name, ENVIRONMENT_ARGUMENTS.get(name, 0))
            self._emit("\n")

    def _is_statement(self, name: str) -> bool:
        return name in self._theorems or name.rstrip("*") in STATEMENTS

    def _printed(self, name: str) -> str:
        r"""Return the printed name of a statement that has no ``\newtheorem``."""
        if name != "proof":
            return name.capitalize()
        own = self._macros.get("proofname")
        return own.body if own is not None else self._proof

    def _end(self, _: str) -> None:
        name = self._argument().strip()
        if name == "document":
            self._is_over = True
        elif name in self._environments:
            self._push(self._environments[name][1])
        elif _mathematical(name):
            self._emit(f"\\end{{{_mathematical(name)}}}")
        else:
            if name in _LISTS and self._lists:
                self._lists.pop()
            self._emit("\n\n" if self._is_statement(name) else "\n")

    def _new_environment(self, _: str) -> None:
        self._next_is("*")
        name = self._argument().strip()
        count = (self._option() or "0").strip()
        default = self._option()
        begin, end = self._argument(), self._argument()
        number = int(count) if count.isdecimal() and len(count) == 1 else 0
        is_known = name.rstrip("*") in ENVIRONMENTS or name in NOT_READ or name == "document"
        if name and not is_known and not _OPAQUE.search(begin + end):
            self._environments[name] = (_Macro(begin, number, default), end)

    def _new_theorem(self, kind: str) -> None:
        self._next_is("*")
        name = self._argument().strip()
        self._option()
        printed = self._argument()
        self._option()
        if kind == "spnewtheorem":
            self._argument()
            self._argument()
        self._theorems[name] = printed

    def _declare_theorem(self, _: str) -> None:
        option = self._option() or ""
        name = self._argument().strip()
        self._option()
        given = re.search(r"(?:name|title)\s*=\s*\{?([^,{}]+)", option)
        self._theorems[name] = given[1].strip() if given else name.capitalize()

    # Skipped and verbatim input.

    def _if_false(self, _: str) -> None:
        frame = self._here()
        if frame is None or "\\fi" in frame.absent:
            return
        depth = 1
        for found in _CONDITION.finditer(frame.text, frame.position):
            depth += -1 if found[1] == "fi" else 1
            if not depth:
                frame.position = found.end()
                return
        frame.absent.add("\\fi")

    def _verb(self, name: str) -> None:
        self._next_is("*")
        if name == "mintinline":
            self._option()
            self._argument()
        frame = self._here()
        if frame is None or frame.position >= len(frame.text):
            return
        if name == "lstinline":
            self._option()
        sign = frame.text[frame.position : frame.position + 1]
        closing = "}" if sign == "{" else sign
        end = frame.text.find(closing, frame.position + 1, frame.position + LONGEST_OPTION)
        if not sign or sign.isspace() or end < 0 or "\n" in frame.text[frame.position : end]:
            return
        code = frame.text[frame.position + 1 : end]
        frame.position = end + 1
        self._emit(_escaped(code))

    def _url(self, _: str) -> None:
        self._emit(_escaped(self._address() or self._argument()))

    def _link(self, _: str) -> None:
        """Remove the address of a link; its text is read next."""
        self._option()
        if not self._address():
            self._argument()

    # Files.

    def _input(self, name: str) -> None:
        given = self._argument().strip()
        frame = self._frames[-1] if self._frames else None
        if given and not given.startswith("{") and len(given) == 1 and frame is not None:
            # TeX's own form: \input chapter1
            rest = re.compile(r"[^\s\\{}%]*+").match(frame.text, frame.position)
            given += rest[0] if rest else ""
            frame.position = rest.end() if rest else frame.position
        if name == "InputIfFileExists":
            self._argument()
            self._argument()
        self._include(given)

    def _import(self, _: str) -> None:
        folder, file = self._argument().strip(), self._argument().strip()
        self._include(f"{folder.rstrip('/')}/{file}" if folder else file)

    def _end_input(self, _: str) -> None:
        while self._frames:
            frame = self._frames.pop()
            if frame.is_file:
                return

    def _include(self, given: str) -> None:
        given = given.strip('" ')
        origin = next((frame.name for frame in reversed(self._frames) if frame.is_file), "")
        if not given or len(self.files) >= _MAX_FILES:
            return
        found = self._find(given, origin)
        opened = {frame.name for frame in self._frames if frame.is_file}
        if found is None:
            self.missing.append(given)
        elif found[1] not in opened and len(self._frames) < _DEEPEST:  # no cycles
            self._open(*found)

    def _package(self, kind: str) -> None:
        """Read the definitions of a package file in the document's tree; drop its text."""
        self._option()
        names = self._argument()
        self._option()
        ending = ".cls" if kind == "documentclass" else ".sty"
        origin = next((frame.name for frame in reversed(self._frames) if frame.is_file), "")
        for name in names.split(",")[:50]:
            found = self._find(f"{name.strip()}{ending}", origin) if name.strip() else None
            if found is None or found[1] in self.files or len(self.files) >= _MAX_FILES:
                continue
            made, frames, self.made, self._frames = self.made, self._frames, [], []
            self.read(*found)
            self.made, self._frames, self._is_over = made, frames, False


def _escaped(code: str) -> str:
    """Escape code so that no character of it is read as LaTeX."""
    return "".join(f"\\{c}" if c in "$%&#_{}" else " " if c in "\\^~" else c for c in code)


def _one_line(body: str) -> str:
    r"""Replace line breaks in a macro body; two in a row would end a formula.

    >>> _one_line("a% note\n  b\n\n c")
    'ab\\par c'
    """
    body = _BODY_COMMENT.sub("", body)
    body = re.sub(r"\n[ \t]*+\n\s*+", "\\\\par ", body)
    return body.replace("\n", " ")


def _mathematical(name: str) -> str:
    """Return the mathematical environment that a name ends with; authors add prefixes.

    >>> _mathematical("align*"), _mathematical("narrowmultline*"), _mathematical("quote")
    ('align*', 'multline*', '')
    """
    if name.rstrip("*") in ENVIRONMENTS:
        return name
    own = _OWN_DISPLAY.search(name)
    return own[0] if own else ""


def _filled(body: str, arguments: list[str], limit: int) -> str | None:
    r"""Insert arguments into a macro body; None if the result exceeds the limit.

    A space keeps a command apart from a letter that would join its name.

    >>> _filled(r"\left\lVert#1\right\rVert", ["f(x)"], 100)
    '\\left\\lVert f(x)\\right\\rVert'
    """
    if "#" not in body:
        return body
    pieces = re.split(r"#([1-9])", body)
    filled: list[str] = []
    before = ""
    length = 0
    for number, piece in enumerate(pieces):
        if number % 2:
            place = int(piece) - 1
            piece = arguments[place] if place < len(arguments) else ""
        if not piece:
            continue
        if piece[0].isalpha() and _LAST_COMMAND.search(before):
            piece = f" {piece}"
        before = piece
        length += len(piece)
        if length > limit:
            return None
        filled.append(piece)
    return "".join(filled)
