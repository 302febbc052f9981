"""Converts a hit to a text with plain metadata, for programs that use language models."""

from __future__ import annotations

from mathsetu.records import Hit


def text_of(hit: Hit) -> str:
    r"""The text of a hit: title, question and body, with formulas in LaTeX.

    >>> from mathsetu.records import Post
    >>> text_of(Hit("7", 1.0, post=Post("7", "Let $x>0$.", title="Signs")))
    'Signs\n\nLet $x>0$.'
    """
    if hit.post is None:
        return ""
    question = hit.post.question
    return "\n\n".join(part for part in (hit.title, question, hit.post.body) if part)


def metadata_of(hit: Hit) -> dict[str, str | float]:
    """The metadata of a hit, without empty fields."""
    known: dict[str, str | float] = {
        "id": hit.id,
        "score": hit.score,
        "title": hit.title,
        "language": hit.language,
        "url": hit.url,
        "collection": hit.post.collection if hit.post else "",
        "reasons": "; ".join(reason.detail for reason in hit.reasons if reason.detail),
    }
    return {name: value for name, value in known.items() if value != ""}
