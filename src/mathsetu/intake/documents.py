"""Detects the language of short sections from their document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby, islice

from mathsetu.intake.marked_text import MarkedText
from mathsetu.records import Post

# Sections of a document that are analysed together; limits the memory for long documents.
_BATCH_SIZE = 500


def with_document_languages(posts: Iterable[Post]) -> Iterator[Post]:
    r"""Yield the posts; set the language of short sections with the help of their document.

    Args:
        posts: The posts; the sections of a document must be consecutive.

    >>> reihe = Post("a#1", "Die geometrische Reihe konvergiert, weil ihre Glieder klein werden.",
    ...     kind="section", thread_id="a")
    >>> zeta = Post("a#2", "Es folgt $\\zeta(2)$.", "Problem", kind="section", thread_id="a")
    >>> [post.language for post in with_document_languages([reihe, zeta])]
    ['', 'de']
    """
    for (kind, document), some in groupby(posts, key=lambda post: (post.kind, post.thread_id)):
        if kind == "section" and document:
            while together := list(islice(some, _BATCH_SIZE)):
                yield from _with_languages(together)
        else:
            yield from some


def _with_languages(sections: list[Post]) -> list[Post]:
    # Imported lazily: only documents need it.
    from mathsetu.languages.detect import detect_in_words, is_too_short, language_in_document

    words = [f"{MarkedText(post.title).words}\n{MarkedText(post.body).words}" for post in sections]
    is_short = [
        not post.language and is_too_short(own) for post, own in zip(sections, words, strict=True)
    ]
    if len(sections) == 1 or not any(is_short):
        return sections
    document = detect_in_words("\n".join(words)).language
    return [
        replace(post, language=language_in_document(own, document)) if short else post
        for post, own, short in zip(sections, words, is_short, strict=True)
    ]
