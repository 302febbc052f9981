"""Converts records to answers: hits, posts and formulas as users see them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from functools import lru_cache
from typing import Any

from mathsetu.answers.values import (
    AboutPost,
    FoundPost,
    MatchedFormula,
    MatchedWord,
    Piece,
    PostAnswer,
    QueryReading,
    ReadPiece,
    Renamed,
    Rendered,
    SearchAnswer,
    Share,
    Version,
    Warned,
)
from mathsetu.formulas.pairs import match_latex
from mathsetu.formulas.parse import parse_latex
from mathsetu.formulas.part_latex import part_text
from mathsetu.intake.question import Question, is_delimited
from mathsetu.languages.table import LANGUAGES, Grade, language, language_name
from mathsetu.library import Answer, Filter
from mathsetu.markup import (
    Span,
    formula_body,
    formula_in_markdown,
    marked_words,
    plain_words,
    spans_of,
    split,
)
from mathsetu.printable import counted
from mathsetu.records import Evidence, Hit, Post, Reason

# Values of each facet that an answer lists, at most.
_FACET_VALUES = 50
# Formula matches kept in memory: good posts are found again and again.
_CACHE_SIZE = 2_000


def pieces(text: str) -> tuple[Piece, ...]:
    r"""Split a marked text into pieces, without escapes in words and delimiters in formulas.

    >>> pieces("Let $x$ be even.")[1]
    Piece(kind='formula', text='x', display=False)
    >>> pieces(r"It costs \$5.")
    (Piece(kind='text', text='It costs $5.', display=False),)
    >>> pieces(r"\begin{equation}a=b\end{equation}")
    (Piece(kind='formula', text='a=b', display=True),)
    """
    return tuple(
        Piece(
            span.kind,
            formula_body(span.content) if span.kind == "formula" else _content(span),
            span.display,
        )
        for span in spans_of(text)
    )


def _content(span: Span) -> str:
    return plain_words(span.content) if span.kind == "text" else span.content


def rendered(text: str, trees: bool = False) -> tuple[Rendered, ...]:
    r"""Split a marked text into pieces; formulas get MathML and, with ``trees``, tree drawings.

    >>> rendered(r"Let $\frac{1}{2$ be")[1].warnings
    (Warned(position=10, message='{ is not closed'),)
    """
    return rendered_spans(split(text), trees)


def rendered_spans(spans: Iterable[Span], trees: bool = False) -> tuple[Rendered, ...]:
    """As `rendered`, for a text that is already split."""
    shown: list[Rendered] = []
    start = 0
    for number, span in enumerate(spans):
        if span.kind == "formula":
            shown.append(rendered_formula(span, start, f"formula-{number}", trees))
        else:
            shown.append(Rendered(span.kind, _content(span), start))
        start += len(span.raw)
    return tuple(shown)


def rendered_formula(span: Span, start: int, prefix: str, trees: bool = False) -> Rendered:
    """A formula as MathML, with the parser's warnings."""
    from mathsetu.formulas.drawing import draw_layout_tree, draw_operator_tree
    from mathsetu.formulas.mathml import write_mathml

    parsed = parse_latex(span.content)
    return Rendered(
        "formula",
        span.content,
        start,
        span.display,
        write_mathml(parsed.layout, prefix=prefix, display=span.display),
        tuple(Warned(warning.position, warning.message) for warning in parsed.warnings),
        draw_layout_tree(parsed.slt) if trees else "",
        draw_operator_tree(parsed.opt) if trees else "",
    )


def read_query(question: Question) -> QueryReading:
    r"""How a query was interpreted.

    >>> from mathsetu.intake.question import typed_question
    >>> reading = read_query(typed_question("is sqrt(2) irrational"))
    >>> reading.formulas, reading.words, reading.language
    (('\\sqrt{2}',), 'is   irrational', 'en')
    """
    languages = tuple(filter(None, question.languages))
    return QueryReading(
        question.written,
        question.language,
        question.words.strip(),
        question.formulas,
        languages,
        tuple(read_piece(span) for span in question.reading),
        grade_note(question.language),
    )


def read_piece(span: Span) -> ReadPiece:
    """How a piece of a query was interpreted."""
    if span.kind != "formula":
        return ReadPiece(span.raw)
    return ReadPiece(span.raw, span.content, not is_delimited(span))


# Explanations of the grades for users.
_GRADES: dict[Grade, str] = {
    "good": "has grade good: the encoder supports it, but no native speaker has checked its terms",
    "basic": "has grade basic: words find posts in {name}, formulas find posts in all languages",
    "formulas only": "is not supported: formulas are found, and words only as they are written",
}


def grade_note(code: str) -> str:
    """A note on a language that is not fully supported; empty for other languages.

    >>> grade_note("fi")[:26], grade_note("cs")
    ('Finnish is not supported: ', '')
    """
    grade = language(code).grade
    if not code or grade == "full":
        return ""
    name = language_name(code)
    served = ", ".join(row.name for row in LANGUAGES.values())
    return f"{name} {_GRADES[grade].format(name=name)} (fully supported: {served})"


def languages_note(where: Filter | None, known: Iterable[str]) -> str:
    """A note if the library has no posts in the languages of a filter; else empty.

    >>> languages_note(Filter("de"), ["hi", "en", ""]), languages_note(Filter("en"), ["en"])
    ('the library has posts in: en, hi', '')
    """
    if where is None or not where.languages or set(where.languages) & set(known):
        return ""
    return f"the library has posts in: {', '.join(sorted(filter(None, known)))}"


def older_posts_notes(older: Mapping[str, int]) -> list[str]:
    """Notes on older posts of files that were added again (`Library.older_posts`).

    >>> older_posts_notes({"notes/sums.md": 2})
    ['still in the library under other ids: 2 older posts of notes/sums.md']
    """
    return [
        f"still in the library under other ids: {counted(count, 'older post')} of {name}"
        for name, count in older.items()
    ]


def search_answer(answer: Answer, *, typeset: bool, note: str = "") -> SearchAnswer:
    """Convert the answer to a search; with ``typeset``, matched formulas also get MathML.

    ``note`` is appended to the note on the query's language.
    """
    query = read_query(answer.question)
    return SearchAnswer(
        replace(query, note="; ".join(filter(None, (query.note, note)))),
        all_found(answer, typeset),
        answer.unfinished,
        answer.is_close,
        answer.offset,
        answer.total,
        answer.is_total_exact,
        {
            name: dict(list(counts.items())[:_FACET_VALUES])
            for name, counts in answer.facets.items()
        },
    )


def all_found(answer: Answer, typeset: bool) -> tuple[FoundPost, ...]:
    """The hits of an answer with their posts, best first."""
    return tuple(
        replace(
            found(hit, answer.posts[hit.id], rank, typeset=typeset),
            versions=tuple(_version(answer.posts[other]) for other in hit.versions),
        )
        for rank, hit in enumerate(answer.hits, start=answer.offset + 1)
    )


def _version(post: Post) -> Version:
    return Version(post.id, post.language, post.title)


def found(hit: Hit, post: Post, rank: int, *, typeset: bool) -> FoundPost:
    """A hit with its post, and everything that matched."""
    evidence = [item for reason in hit.reasons for item in reason.evidence]
    pairs = [
        (formula_body(item.asked), formula_body(item.found))
        for item in evidence
        if item.kind == "formula"
    ]
    return FoundPost(
        **_about(post),
        rank=rank,
        score=hit.score,
        snippet=pieces(hit.snippet_of(post)),
        reasons=_shares(hit.reasons),
        words=matched_words(evidence),
        formulas=tuple(
            matched_formula(ours, theirs, f"hit-{rank}-{number}" if typeset else "")
            for number, (ours, theirs) in enumerate(dict.fromkeys(pairs))
        ),
    )


def _shares(reasons: Sequence[Reason]) -> tuple[Share, ...]:
    """The score that each part added, and its share; a reranker can also subtract."""
    whole = sum(max(reason.score, 0.0) for reason in reasons) or 1.0
    return tuple(
        Share(reason.part, reason.score, max(reason.score, 0.0) / whole, reason.detail)
        for reason in reasons
    )


@lru_cache(maxsize=_CACHE_SIZE)
def matched_formula(ours: str, theirs: str, prefix: str = "") -> MatchedFormula:
    """How a formula of a query matches one of a post.

    Args:
        ours: The formula of the query.
        theirs: The formula of the post.
        prefix: Prefix of the ids of symbols in MathML; without one, MathML is left out.

    >>> matched = matched_formula("x^2+1", "1+t^2")
    >>> matched.substitution, matched.coverage
    ((Renamed(asked='x', found='t'),), 1.0)
    >>> scattered = matched_formula("x+y", "x+2y")
    >>> scattered.coverage, scattered.in_one_piece
    (1.0, False)
    """
    pair = match_latex(ours, theirs)
    result = pair.match
    query_symbols, symbols = pair.query_symbols, pair.candidate_symbols
    formula = MatchedFormula(
        asked=ours,
        found=theirs,
        score=result.score,
        coverage=result.coverage,
        in_one_piece=result.in_one_piece,
        substitution=tuple(
            Renamed(letter, other) for letter, other in pair.substitution.items()
            if letter != other
        ),
        wildcards=tuple(
            Renamed(name, part_text(part, theirs)) for name, part in result.bindings.items()
        ),
        asked_symbols=tuple(sorted(query_symbols)),
        symbols=tuple(sorted(symbols)),
    )  # fmt: skip
    if not prefix:
        return formula
    # Interfaces that show plain text do not wait for typesetting.
    from mathsetu.formulas.mathml import write_mathml

    return replace(
        formula,
        asked_mathml=write_mathml(
            pair.query.layout, prefix=f"{prefix}-asked", highlight=query_symbols
        ),
        mathml=write_mathml(pair.candidate.layout, prefix=prefix, highlight=symbols),
    )


def matched_words(evidence: Iterable[Evidence]) -> tuple[MatchedWord, ...]:
    """Each word of the query that matched a word of the post, both as written."""
    met = (
        MatchedWord(item.asked, item.translation, item.found)
        for item in evidence
        if item.kind == "word"
    )
    return tuple({(word.asked, word.found): word for word in met}.values())


def whole_post(post: Post) -> PostAnswer:
    """A post with its texts in pieces."""
    return PostAnswer(
        **_about(post),
        body=pieces(post.body),
        question=pieces(post.question),
        parent_id=post.parent_id,
        score=post.score,
    )


def _about(post: Post) -> dict[str, Any]:
    """The fields of `AboutPost`; most are fields of the post with the same name."""
    same = {field.name: getattr(post, field.name, None) for field in fields(AboutPost)}
    return same | {"title_pieces": pieces(post.title)}


def marked(shown: Iterable[Piece]) -> str:
    r"""Join pieces into one marked text, formulas between dollars.

    >>> marked([Piece("text", "For $5, let "), Piece("formula", "x"), Piece("text", " be even.")])
    'For \\$5, let $x$ be even.'
    >>> marked([Piece("formula", r"\begin{equation} x=1 \end{equation}", display=True)])
    '$$x=1$$'
    """
    return readable(
        replace(piece, text=marked_words(piece.text)) if piece.kind == "text" else piece
        for piece in shown
    )


def readable(shown: Iterable[Piece]) -> str:
    r"""As `marked`, for people: dollars in words are not escaped.

    >>> readable(pieces(r"A pencil costs \$5 if $x=5$."))
    'A pencil costs $5 if $x=5$.'
    """

    def written(piece: Piece) -> str:
        if piece.kind == "formula":
            return formula_in_markdown(piece.text, display=piece.display)
        return f"`{piece.text}`" if piece.kind == "code" else piece.text

    return "".join(map(written, shown))
