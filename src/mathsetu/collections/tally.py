"""Counts of what was read and skipped, for the final report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from mathsetu.records import Post, is_section_or_row, source_file_of

#: Maximum number of places listed for each reason; all are counted.
_NAMED = 5
#: Maximum number of files listed individually; all are counted.
_MOST_FILES = 1_000


@dataclass
class Tally:
    """Counts of files by kind, and of skipped items by reason.

    >>> tally = Tally()
    >>> tally.add_read("a.md", "markdown")
    >>> tally.add_ignored("plot.png", "unsupported file type")
    >>> tally.to_json()["ignored"]
    [{'reason': 'unsupported file type', 'count': 1, 'first': ['plot.png']}]
    """

    files: Counter[str] = field(default_factory=Counter)
    words: list[tuple[str, str]] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)
    places: dict[str, list[str]] = field(default_factory=dict)
    columns: list[str] = field(default_factory=list)
    fields: set[str] = field(default_factory=set)
    has_forms: bool = False
    posts: int = 0
    formulas: int = 0
    languages: Counter[str] = field(default_factory=Counter)
    new_collections: list[str] = field(default_factory=list)
    source_files: set[str] = field(default_factory=set)
    posts_of_files: Counter[str] = field(default_factory=Counter)

    def count(self, posts: Iterable[Post]) -> Iterator[Post]:
        """Yield posts unchanged; count them, their formulas and their stated languages."""
        for post in posts:
            self.posts += 1
            self.formulas += len(post.formulas)
            self.languages[post.language] += 1
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

    def add_read(self, path: str, kind: str, word: str = "") -> None:
        """Count a file that was read; ``word`` may describe what was extracted from it."""
        self.files[kind] += 1
        if word and len(self.words) < _MOST_FILES:
            self.words.append((path, word))

    def add_ignored(self, path: str, reason: str, count: int = 1) -> None:
        """Count what was skipped, by reason."""
        self.reasons[reason] += count
        named = self.places.setdefault(reason, [])
        if len(named) < _NAMED:
            named.append(path)

    def to_json(self) -> dict[str, Any]:
        """Return the tally as a dictionary for JSON."""
        return {
            "files": sum(self.files.values()),
            "kinds": dict(sorted(self.files.items())),
            "read": [{"file": path, "got": word} for path, word in self.words],
            "columns": self.columns,
            "ignored": [
                {"reason": reason, "count": count, "first": self.places[reason]}
                for reason, count in self.reasons.most_common()
            ],
        }
