"""An analysed query, shared by all parts: split, language detected and formulas parsed once.

All interfaces read typed queries in the same way (`typed_question`): formulas are found without
delimiters. In a topic of a test collection, formulas are delimited; only a topic without any
delimited formula is read like a typed query (`topic_question`). In posts, only delimited formulas
are read (`mathsetu.intake.posts`).
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

# Languages in other scripts that are also typed in Latin letters.
_ROMANISED = frozenset({"hi", "bn", "mr", "ur", "ar", "ru"})
# Languages written without accents; "" is an unknown language.
_PLAIN = frozenset({"", "en", "id"})

# Formula delimiters, escaped or removed in text without formulas.
_DELIMITER = re.compile(r"(?<!\\)\$|\\(?=[()\[\]]|begin\{)")

# Every formula contains one of these: a sign or digit, a single letter, a Greek or raised letter,
# the constant of Planck, a name before brackets, a prime or factorial after brackets, a hyphen
# between pairs of letters, or the name of a function. Most queries are only words; the tables of
# the formula reader are not loaded for these.
_HINT = re.compile(
    r"[^\w\s.,;:?!¿¡'’\"()\-–…।؟،؛«»\u0300-\u036f\u0600-\u06ff\u0900-\u097f\u200c\u200d]"
    r"|[\d_²³¹¼½¾\u02b0-\u02ff\u0370-\u03ff\u1d00-\u1dbf\u2070-\u209f\u2100-\u218f]"
    r"|[\U0001d400-\U0001d7ff]|ħ|hbar"
    r"|(?<=[^\W\d_])\(|\)['’!]"
    r"|(?<![^\W\d_])[A-Za-z](?![^\W\d_])"
    r"|\b[a-z]{2} ?[-–] ?[a-z]{2}\b"
    r"|\b(?:x?(?:arc)?(?:sin|cos|tan|cot|sec|csc|ln|log|exp)h?x?|sqrt|cbrt|sen|c?tg|cotg)\b"
)
# A number with a decimal comma and points between thousands: 3,14 and 1.234,5, but not 1,2,3.
_NATIONAL_NUMBER = re.compile(
    r"(?<![\d.,])(\d{1,3}(?:\.\d{3})+|\d++),(\d++)(?![.,]\d)|([(\[{])|([)\]}])"
)
# The continuation of a list.
_GOES_ON = re.compile(r"\s*,\s*\d")


@dataclass(frozen=True)
class Question:
    r"""An analysed query.

    >>> question = Question(Query(id="1", text=r"निश्चित समाकल $\int_0^1 f$ का मान"))
    >>> question.words, question.formulas, question.language
    ('निश्चित समाकल   का मान', ('\\int_0^1 f',), 'hi')
    """

    query: Query
    #: Changes made to the query beforehand, reported with every hit.
    notes: tuple[Reason, ...] = ()
    #: Whether formulas are found without delimiters.
    is_typed: bool = False
    #: Prior knowledge of its language.
    prior: Prior | None = None

    @property
    def written(self) -> str:
        """Title and text, unchanged."""
        return f"{self.query.title}\n{self.query.text}" if self.query.title else self.query.text

    @cached_property
    def reading(self) -> tuple[Span, ...]:
        """The spans of the query; their raw texts joined are the query as written."""
        if not self.is_typed:
            return self.marked.spans
        if not _HINT.search(self.written):
            return (Span("text", self.written, self.written),) if self.written else ()
        # Imported lazily: its tables are only needed if a formula is typed.
        from mathsetu.intake.typed import read_typed

        return self._with_decimal_points(tuple(read_typed(self.written)))

    def _with_decimal_points(self, spans: tuple[Span, ...]) -> tuple[Span, ...]:
        """Replace decimal commas in typed formulas by points, if the language uses commas."""
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
        """The query as one marked text, with all formulas between delimiters."""
        return self.marked.text

    @cached_property
    def marked(self) -> MarkedText:
        """The text, split into words and formulas."""
        if not self.is_typed:
            return MarkedText(self.written)
        return _marked(self.written, self.reading)

    @cached_property
    def title(self) -> Question | None:
        """The title as a separate question, if there is also a text.

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
        """The query with a marked text."""
        if not self.is_typed:
            return self.query
        return replace(self.query, title="", text=self.text)

    @cached_property
    def words(self) -> str:
        """The words without formulas; romanised words are converted to the language's script."""
        plain = self.marked.words
        return self._in_script(plain) if self._is_romanised(plain) else plain

    @property
    def texts(self) -> list[str]:
        """The texts between the formulas, in the script of the language.

        A formula becomes an empty text, so that a single word next to it does not look like the
        whole query.
        """
        is_romanised = self._is_romanised(self.text)
        return [
            "" if span.kind != "text"
            else self._in_script(span.content) if is_romanised
            else span.content
            for span in self.marked.spans
        ]  # fmt: skip

    @cached_property
    def words_without_glosses(self) -> str:
        """The words without English glosses of preceding terms, for translation.

        >>> question = Question(Query("1", "सारणिक (determinant) $D$", language="hi"))
        >>> question.words_without_glosses.strip()
        'सारणिक'
        """
        return self._without_glosses(self.words)

    @cached_property
    def readable(self) -> str:
        """The text in the script and with the accents of its language, including formulas."""
        if self._is_romanised(self.text):
            return self._with_text(lambda span: self._in_script(span.content))
        return self._with_text(lambda span: self._accented(span.raw))

    @cached_property
    def readable_without_glosses(self) -> str:
        """The same without English glosses of preceding terms."""
        if "(" not in self.text or self._is_romanised(self.text):
            return self.readable
        return self._with_text(lambda span: self._without_glosses(self._accented(span.raw)))

    def _with_text(self, change: Callable[[Span], str]) -> str:
        """Return the marked text with the texts between formulas changed."""
        spans = self.marked.spans
        return "".join(change(span) if span.kind == "text" else span.raw for span in spans)

    def _accented(self, text: str) -> str:
        """Add missing accents to a text, if the words of the query have no accents at all."""
        if self.language in _PLAIN or not self.marked.words.isascii():
            return text
        from mathsetu.languages.accents import with_accents  # lazy

        return with_accents(text, self.language)

    def _without_glosses(self, text: str) -> str:
        if "(" not in text:
            return text
        from mathsetu.languages.glossary.glosses import without_glosses  # lazy

        return without_glosses(text, self.language)

    def _is_romanised(self, text: str) -> bool:
        """Whether a text is in Latin letters, although its language uses another script."""
        return text.isascii() and self.language in _ROMANISED

    def converts(self, word: str) -> bool:
        """Whether a word of the query is converted to the script of its language.

        >>> question = Question(Query("1", "abhajya sankhya", language="hi"))
        >>> question.converts("sankhya"), question.converts("equation")
        (True, False)
        """
        return self._is_romanised(word) and self._in_script(word) != word

    def _in_script(self, text: str) -> str:
        if self.language == "hi":
            return typed_hindi().to_devanagari(text)
        return typed_words(self.language).to_script(text)

    @cached_property
    def formulas(self) -> tuple[str, ...]:
        """The formulas of the query: those listed in its record, else those in its text."""
        named = tuple(formula.latex for formula in self.query.formulas)
        return named or tuple(dict.fromkeys(self.marked.formulas))

    @cached_property
    def parsed(self) -> dict[str, Parsed]:
        """The parsed formulas of the query, by their LaTeX."""
        from mathsetu.formulas.parse import parse_once

        return {latex: parse_once(latex) for latex in self.formulas}

    @cached_property
    def language(self) -> str:
        """The language of the query: as stated, else as detected."""
        return self.query.language or self.detected.language

    @property
    def asker(self) -> str:
        """The language of the user: that of the query, else that of the page."""
        return self.language or (self.prior.page if self.prior else "")

    @property
    def languages(self) -> tuple[str, ...]:
        """All likely languages of the query, most likely first; never empty.

        >>> typed_question("vektor").languages, typed_question("vektor", "hr").languages
        (('cs', 'hr'), ('hr',))
        """
        if self.query.language:
            return (self.query.language,)
        return self.detected.likely or (self.detected.language,)

    @cached_property
    def detected(self) -> Detected:
        """The result of language detection on its words."""
        # Imported lazily: a query with a stated language may not need it.
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
    r"""Return the question of a typed query; all interfaces use this function.

    Args:
        text: The query.
        language: Its language, if stated.
        as_words: Read only delimited text as formulas.
        page: The language of the page or program in which it was typed.
        library: The languages of the posts to search.

    >>> typed_question("is sqrt(2) irrational").formulas
    ('\\sqrt{2}',)
    >>> typed_question("is sqrt(2) irrational", as_words=True).formulas
    ()
    """
    from mathsetu.languages.detect import Prior

    prior = Prior(page, frozenset(filter(None, library)))
    return Question(Query("", text, language=language), is_typed=not as_words, prior=prior)


def topic_question(query: Query, library: Iterable[str] = ()) -> Question:
    """Return the question of a topic, or of any other query that is a record.

    Args:
        query: The record.
        library: The languages of the posts to search.

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
    """Convert the spans of a typed query to marked text; delimited formulas stay unchanged."""
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
    """Whether a formula has both delimiters."""
    again = split(span.raw)
    return len(again) == 1 and again[0].kind == span.kind and again[0].content == span.content


def _decimal_points(latex: str) -> str:
    """Replace decimal commas by points, except in brackets, where commas may separate numbers.

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
    """Return the words of a language, from glossary and parallel text, by their sound."""
    from mathsetu.languages.glossary import Glossary
    from mathsetu.languages.learned import LearnedWords
    from mathsetu.languages.romanised import SoundLexicon
    from mathsetu.languages.table import language

    forms = (form for concept in Glossary.load() for form in concept.forms.get(code, ()))
    # Without a stemmer, the terms of the learned table are whole words.
    is_stemmed = language(code).stemmer != "none"
    others = () if is_stemmed else LearnedWords.load(code, "en").terms()
    return SoundLexicon(code, (word for form in forms for word in form.split()), others)


@cache
def typed_hindi() -> Lexicon:
    """Return the Hindi words of the glossary, indexed by their romanised spelling."""
    from mathsetu.languages.glossary import Glossary
    from mathsetu.languages.transliterate import Lexicon

    forms = (form for concept in Glossary.load() for form in concept.forms.get("hi", ()))
    return Lexicon(word for form in forms for word in form.split())
