"""An analysed query, shared by all parts: split, language detected and formulas parsed once.

All interfaces read what a person typed in the same way (`typed_question`): formulas are found
without delimiters. A topic of a test collection marks its formulas itself, and is read as it is
marked; only a topic without a single delimiter is read like a typed query (`topic_question`). Posts
are always read as they are marked (`mathsetu.intake.posts`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import zip_longest
from typing import TYPE_CHECKING

from mathsetu.intake.marked_text import MarkedText
from mathsetu.markup import Span, split
from mathsetu.records import Query, Reason

if TYPE_CHECKING:
    from mathsetu.formulas.parse import Parsed
    from mathsetu.languages.detect import Detected, Prior
    from mathsetu.languages.romanised import SoundLexicon
    from mathsetu.languages.transliterate import Lexicon

# Languages with a script of their own that people also type in Latin letters.
_ROMANISED = frozenset({"hi", "bn", "mr", "ur", "ar", "ru"})
# Languages that are written without accents; "" is none.
_PLAIN = frozenset({"", "en", "id"})

# What would delimit a formula in a text that is to have none.
_DELIMITER = re.compile(r"(?<!\\)\$|\\(?=[()\[\]]|begin\{)")

# What no formula is without: a sign or digit, a letter that stands alone, a Greek or raised one,
# the constant of Planck, a name that brackets follow, a prime or factorial after brackets, a hyphen
# between pairs of letters, or a function before a word. Most queries are words; the reader's tables
# are not loaded for these.
_HINT = re.compile(
    r"[^\w\s.,;:?!¿¡'’\"()\-–…।؟،؛«»\u0300-\u036f\u0600-\u06ff\u0900-\u097f\u200c\u200d]"
    r"|[\d_²³¹\u02b0-\u02ff\u0370-\u03ff\u1d00-\u1dbf\u2070-\u209f\u2100-\u214f]"
    r"|[\U0001d400-\U0001d7ff]|ħ|hbar"
    r"|(?<=[^\W\d_])\(|\)['’!]"
    r"|(?<![^\W\d_])[A-Za-z](?![^\W\d_])"
    r"|\b[a-z]{2} ?[-–] ?[a-z]{2}\b"
    r"|\b(?:x?(?:arc)?(?:sin|cos|tan|cot|sec|csc|ln|log|exp)h?x?|sqrt|cbrt|sen|c?tg|cotg)\b"
)
# A number with a decimal comma, its thousands parted by points: 3,14 and 1.234,5. No list: 1,2,3.
_NATIONAL_NUMBER = re.compile(
    r"(?<![\d.,])(\d{1,3}(?:\.\d{3})+|\d++),(\d++)(?![.,]\d)|([(\[{])|([)\]}])"
)
# What goes on with a list.
_GOES_ON = re.compile(r"\s*,\s*\d")


@dataclass(frozen=True)
class Question:
    r"""What is known of a query before anything is searched.

    >>> question = Question(Query(id="1", text=r"निश्चित समाकल $\int_0^1 f$ का मान"))
    >>> question.words, question.formulas, question.language
    ('निश्चित समाकल   का मान', ('\\int_0^1 f',), 'hi')
    """

    query: Query
    #: What was done to the query before, told with every hit.
    notes: tuple[Reason, ...] = ()
    #: Whether formulas are found without delimiters.
    is_typed: bool = False
    #: What is known of its language beforehand.
    prior: Prior | None = None

    @property
    def written(self) -> str:
        """Title and text, as they came."""
        return f"{self.query.title}\n{self.query.text}" if self.query.title else self.query.text

    @cached_property
    def reading(self) -> tuple[Span, ...]:
        """The query in pieces, as it was read; joined they are what was written."""
        if not self.is_typed:
            return self.marked.spans
        if not _HINT.search(self.written):
            return (Span("text", self.written, self.written),) if self.written else ()
        # Its tables are loaded when somebody types a formula, not when a library is opened.
        from mathsetu.intake.typed import read_typed

        return self._with_decimal_points(tuple(read_typed(self.written)))

    def _with_decimal_points(self, spans: tuple[Span, ...]) -> tuple[Span, ...]:
        """Typed formulas with 3.14 for the 3,14 of languages that write it so."""
        changed = tuple(
            Span(span.kind, span.raw, with_points)
            if span.kind == "formula"
            and not is_delimited(span)
            and not (following is not None and _GOES_ON.match(following.raw))
            and (with_points := _decimal_points(span.content)) != span.content
            else span
            for span, following in zip_longest(spans, spans[1:])
        )
        if changed == spans:
            return spans
        from mathsetu.languages.detect import NO_PRIOR, detect_in_words
        from mathsetu.languages.table import language

        prior = self.prior or NO_PRIOR
        words = " ".join(span.raw for span in spans if span.kind == "text")
        code = self.query.language or detect_in_words(words, "", prior).language or prior.page
        return changed if language(code).has_decimal_comma else spans

    @property
    def text(self) -> str:
        """The query as one marked text: all its formulas between delimiters."""
        return self.marked.text

    @cached_property
    def marked(self) -> MarkedText:
        """The text, split into words and formulas."""
        if not self.is_typed:
            return MarkedText(self.written)
        return _marked(self.written, self.reading)

    @cached_property
    def title(self) -> Question | None:
        """The title as a question of its own, where there is a text besides.

        >>> Question(Query("1", "Let $n$ be even. Why?", title="Even squares")).title.words
        'Even squares'
        """
        query = self.query
        if not (query.title.strip() and query.text.strip()):
            return None
        alone = replace(query, title="", text=query.title, formulas=(), language=self.language)
        return replace(self, query=alone)

    @property
    def marked_query(self) -> Query:
        """The query with its text marked."""
        if not self.is_typed:
            return self.query
        return replace(self.query, title="", text=self.text)

    @cached_property
    def words(self) -> str:
        """The words alone; what was typed in Latin letters is in those of its language."""
        plain = self.marked.words
        return self._in_script(plain) if self._is_romanised(plain) else plain

    @property
    def texts(self) -> list[str]:
        """What stands between the formulas, in the letters of its language.

        Formulas stay as empty texts: a word beside one is not the whole query.
        """
        is_romanised = self._is_romanised(self.text)
        return [
            "" if span.kind != "text"
            else self._in_script(span.content) if is_romanised
            else span.content
            for span in self.marked.spans
        ]  # fmt: skip

    @cached_property
    def words_once(self) -> str:
        """The words without terms that are only said again in English, for who translates.

        >>> Question(Query("1", "सारणिक (determinant) $D$", language="hi")).words_once.strip()
        'सारणिक'
        """
        return self._said_once(self.words)

    @cached_property
    def readable(self) -> str:
        """The text as someone who reads the language expects it, formulas included."""
        if self._is_romanised(self.text):
            return self._with_text(lambda span: self._in_script(span.content))
        return self._with_text(lambda span: self._accented(span.raw))

    @cached_property
    def readable_once(self) -> str:
        """The same, without terms that are only said again in English."""
        if "(" not in self.text or self._is_romanised(self.text):
            return self.readable
        return self._with_text(lambda span: self._said_once(self._accented(span.raw)))

    def _with_text(self, change: Callable[[Span], str]) -> str:
        """All of it, what stands between the formulas changed."""
        spans = self.marked.spans
        return "".join(change(span) if span.kind == "text" else span.raw for span in spans)

    def _accented(self, text: str) -> str:
        """A piece of text with the accents that nobody typed in all of the query."""
        if self.language in _PLAIN or not self.marked.words.isascii():
            return text
        from mathsetu.languages.accents import with_accents  # not at the start

        return with_accents(text, self.language)

    def _said_once(self, text: str) -> str:
        if "(" not in text:
            return text
        from mathsetu.languages.glossary.glosses import without_glosses  # not at the start

        return without_glosses(text, self.language)

    def _is_romanised(self, text: str) -> bool:
        """Whether a text is in Latin letters, though its language has others."""
        return text.isascii() and self.language in _ROMANISED

    def _in_script(self, text: str) -> str:
        if self.language == "hi":
            return typed_hindi().to_devanagari(text)
        return typed_words(self.language).to_script(text)

    @cached_property
    def formulas(self) -> tuple[str, ...]:
        """The formulas asked for: those the query names itself, else those in its text."""
        named = tuple(formula.latex for formula in self.query.formulas)
        return named or tuple(dict.fromkeys(self.marked.formulas))

    @cached_property
    def parsed(self) -> dict[str, Parsed]:
        """The formulas asked for, read; by their LaTeX."""
        from mathsetu.formulas.parse import parse_once

        return {latex: parse_once(latex) for latex in self.formulas}

    @cached_property
    def language(self) -> str:
        """The language it is asked in, detected where the query does not say."""
        return self.query.language or self.detected.language

    @property
    def asker(self) -> str:
        """The language of whoever asks: that of the words, else that of the page."""
        return self.language or (self.prior.page if self.prior else "")

    @property
    def languages(self) -> tuple[str, ...]:
        """All languages that it may be asked in, the likeliest first; never empty.

        >>> typed_question("vektor").languages, typed_question("vektor", "hr").languages
        (('cs', 'hr'), ('hr',))
        """
        if self.query.language:
            return (self.query.language,)
        return self.detected.likely or (self.detected.language,)

    @cached_property
    def detected(self) -> Detected:
        """What its words say of its language."""
        # Detection is loaded when it is first needed, not at the start.
        from mathsetu.languages.detect import NO_PRIOR, detect_in_words

        return detect_in_words(self.marked.words, "", self.prior or NO_PRIOR)


def typed_question(
    text: str,
    language: str = "",
    *,
    as_words: bool = False,
    page: str = "",
    library: Iterable[str] = (),
) -> Question:
    r"""What a person typed: the one way in for all interfaces.

    Args:
        text: The query.
        language: Its language, where it is stated.
        as_words: Read only delimited text as formulas.
        page: The language of the page or program that it was typed into.
        library: The languages of the posts that are searched.

    >>> typed_question("is sqrt(2) irrational").formulas
    ('\\sqrt{2}',)
    >>> typed_question("is sqrt(2) irrational", as_words=True).formulas
    ()
    """
    from mathsetu.languages.detect import Prior

    prior = Prior(page, frozenset(filter(None, library)))
    return Question(Query("", text, language=language), is_typed=not as_words, prior=prior)


def topic_question(query: Query, library: Iterable[str] = ()) -> Question:
    """A topic, or any other query that comes as a record.

    Args:
        query: The record.
        library: The languages of the posts that are searched.

    >>> topic_question(Query("A.1", "Is $n$ odd if n+1 is even?")).formulas
    ('n',)
    >>> topic_question(Query("A.2", "Is n+1 even?")).formulas
    ('n+1',)
    """
    from mathsetu.languages.detect import Prior

    prior = Prior("", frozenset(filter(None, library)))
    marked = Question(query, prior=prior)
    is_marked = bool(query.formulas) or any(span.kind == "formula" for span in marked.reading)
    return marked if is_marked else Question(query, is_typed=True, prior=prior)


def _marked(written: str, reading: Iterable[Span]) -> MarkedText:
    """A reading as marked text; what was delimited stays as it was."""
    spans = tuple(reading)
    if all(span.kind == "text" or is_delimited(span) for span in spans):
        return MarkedText(written, spans)
    done: list[Span] = []
    for span in spans:
        if span.kind == "text":
            text = _DELIMITER.sub(lambda mark: "\\$" if mark[0] == "$" else "", span.raw)
            done.append(Span("text", text, text))
        elif is_delimited(span):
            done.append(span)
        else:
            latex = span.content.replace("$", "")
            done.append(Span("formula", f"${latex}$", latex))
    return MarkedText("".join(span.raw for span in done), done)


def is_delimited(span: Span) -> bool:
    """Whether a formula stands between delimiters, both of them."""
    again = split(span.raw)
    return len(again) == 1 and again[0].kind == span.kind and again[0].content == span.content


def _decimal_points(latex: str) -> str:
    """A formula with points for decimal commas; in brackets a comma may part two numbers.

    >>> _decimal_points("x=3,14"), _decimal_points("1.234,5+f(1,5)"), _decimal_points("1,2,3")
    ('x=3.14', '1234.5+f(1,5)', '1,2,3')
    """
    depth = 0

    def written(found: re.Match[str]) -> str:
        nonlocal depth
        if found[2] is None:
            depth += 1 if found[3] else -1
            return found[0]
        return found[0] if depth else f"{found[1].replace('.', '')}.{found[2]}"

    return _NATIONAL_NUMBER.sub(written, latex)


@cache
def typed_words(code: str) -> SoundLexicon:
    """The words of a language's glossary and of its parallel text, by how they sound."""
    from mathsetu.languages.glossary import Glossary
    from mathsetu.languages.learned import LearnedWords
    from mathsetu.languages.romanised import SoundLexicon
    from mathsetu.languages.table import language

    forms = (form for concept in Glossary.load() for form in concept.forms.get(code, ()))
    # Where nothing is stemmed, the terms of the table are words.
    is_stemmed = language(code).stemmer != "none"
    others = () if is_stemmed else LearnedWords.load(code, "en").terms()
    return SoundLexicon(code, (word for form in forms for word in form.split()), others)


@cache
def typed_hindi() -> Lexicon:
    """The words of the glossary, to be found by how they are typed in Latin letters."""
    from mathsetu.languages.glossary import Glossary
    from mathsetu.languages.transliterate import Lexicon

    forms = (form for concept in Glossary.load() for form in concept.forms.get("hi", ()))
    return Lexicon(word for form in forms for word in form.split())
