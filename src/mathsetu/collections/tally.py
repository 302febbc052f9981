"""Counts of what was read and skipped, for the final report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from mathsetu.markup.delimiters import LONE_DOLLAR, has_lone_dollar
from mathsetu.records import Post, is_section_or_row, source_file_of

#: Maximum number of places listed for each reason; all are counted.
_NAMED = 5
#: Maximum number of reasons, and of characters of a reason or an item.
_MAX_REASONS, _LONGEST = 1_000, 1_000
#: Maximum number of files listed individually; all are counted.
_MAX_FILES = 1_000


class Reasons:
    """Counts of items by reason, with the first items of each.

    >>> reasons = Reasons()
    >>> reasons.add("plot.png", "unsupported file type")
    >>> reasons.to_json()
    [{'reason': 'unsupported file type', 'count': 1, 'first': ['plot.png']}]
    """

    def __init__(self) -> None:
        #: How often each reason occurred, and the first items of each.
        self.counts: Counter[str] = Counter()
        self.first: dict[str, list[str]] = {}

    def add(self, item: str, reason: str, count: int = 1) -> None:
        """Count one item, or an item that stands for several.

        Reasons and items may quote untrusted texts, so their number and length are limited.
        """
        reason = _shortened(reason)
        if reason not in self.counts and len(self.counts) >= _MAX_REASONS:
            reason = "other reasons"
        self.counts[reason] += count
        named = self.first.setdefault(reason, [])
        if len(named) < _NAMED:
            named.append(_shortened(item))

    def to_json(self) -> list[dict[str, Any]]:
        """Return the reasons, the most frequent first, as values for JSON."""
        return [
            {"reason": reason, "count": count, "first": self.first[reason]}
            for reason, count in self.counts.most_common()
        ]


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


@dataclass
class Tally:
    """Counts of files by kind, of ignored items, and of formulas that are read only in part.

    >>> tally = Tally()
    >>> tally.add_read("a.md", "markdown")
    >>> tally.to_json()["kinds"]
    {'markdown': 1}
    """

    files: Counter[str] = field(default_factory=Counter)
    words: list[tuple[str, str]] = field(default_factory=list)
    ignored: Reasons = field(default_factory=Reasons)
    faulty: Reasons = field(default_factory=Reasons)
    columns: list[str] = field(default_factory=list)
    fields: set[str] = field(default_factory=set)
    has_forms: bool = False
    posts: int = 0
    formulas: int = 0
    languages: Counter[str] = field(default_factory=Counter)
    new_collections: list[str] = field(default_factory=list)
    source_files: set[str] = field(default_factory=set)
    posts_of_files: Counter[str] = field(default_factory=Counter)
    posts_without_file: int = 0

    def count(self, posts: Iterable[Post]) -> Iterator[Post]:
        """Yield posts unchanged; count them, their formulas and their stated languages."""
        for post in posts:
            self.posts += 1
            self.formulas += len(post.formulas)
            self.languages[post.language] += 1
            if has_lone_dollar(post.body):
                self.faulty.add(post.id, LONE_DOLLAR)
            yield post

    def add_left_out(self, post_id: str, formulas: int) -> None:
        """Count a post that the recipe leaves out, and subtract its formulas."""
        self.formulas -= formulas
        self.add_ignored(post_id, "a post that the recipe leaves out")

    def add_source(self, post: Post) -> None:
        """Count a post for its file, and for the document that includes the file."""
        if (file := source_file_of(post)) and is_section_or_row(post.id, file):
            self.source_files.add(file)
            self.posts_of_files.update({file, post.thread_id})
        else:
            self.posts_without_file += 1

    def add_read(self, path: str, kind: str, word: str = "") -> None:
        """Count a file that was read; ``word`` may describe what was extracted from it."""
        self.files[kind] += 1
        if word and len(self.words) < _MAX_FILES:
            self.words.append((path, word))

    def add_ignored(self, path: str, reason: str, count: int = 1) -> None:
        """Count what was skipped, by reason."""
        self.ignored.add(path, reason, count)

    def to_json(self) -> dict[str, Any]:
        """Return the tally as a dictionary for JSON."""
        return {
            "files": sum(self.files.values()),
            "kinds": dict(sorted(self.files.items())),
            "read": [{"file": path, "got": word} for path, word in self.words],
            "columns": self.columns,
            "ignored": self.ignored.to_json(),
            "faulty_formulas": self.faulty.to_json(),
        }
