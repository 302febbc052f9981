"""Search by words: BM25+ or TF-IDF over analysed terms, with fields and translation of terms."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from mathsetu.errors import DamagedLibrary
from mathsetu.intake import PostFacts, Question
from mathsetu.plain_files import open_plain
from mathsetu.records import Post, Reason
from mathsetu.retrieval.base import Scored, WrittenSegment
from mathsetu.retrieval.lexical_terms import LexicalSettings, post_terms
from mathsetu.retrieval.postings import Postings, PostingsBuilder, merge_posts
from mathsetu.retrieval.query_terms import MIN_WEIGHT, QueryTerms
from mathsetu.retrieval.weighting import Wanted, WeighedQuery, WeightedIndex, write_impacts
from mathsetu.retrieval.word_evidence import ShortestPassage, WordEvidence, describe

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class LexicalBuilder:
    """Builds one segment."""

    reader = None

    merges_on_disk = True

    def __init__(self, settings: LexicalSettings) -> None:
        self._settings = settings
        self._postings = PostingsBuilder()
        self._languages: Counter[str] = Counter()

    def prepare(self, facts: PostFacts) -> tuple[str, dict[str, float]]:
        """The language of a post and its terms."""
        return facts.language, post_terms(facts, self._settings)

    def add(self, prepared: tuple[str, dict[str, float]]) -> None:
        """Add the next post."""
        language, terms = prepared
        self._languages[language] += 1
        self._postings.add(terms)

    def write(self, folder: Path) -> None:
        """Write the segment into a new folder."""
        self._postings.write(folder)
        self._finish(folder)

    def merge(self, sources: Sequence[WrittenSegment], folder: Path) -> None:
        """Merge posts of other segments into one."""
        for source in sources:
            self._languages.update(source.languages)
        merge_posts(sources, folder)
        self._finish(folder)

    def _finish(self, folder: Path) -> None:
        write_impacts(folder, self._settings.weighting())
        counts = dict(sorted(self._languages.items()))
        (folder / "languages.json").write_text(json.dumps(counts) + "\n", encoding="utf-8")


class LexicalRetriever:
    """Answers questions by words."""

    formula_finder = None
    heat_mapper = None

    def __init__(self, folders: Sequence[Path], settings: LexicalSettings) -> None:
        self.settings = settings
        self.index = WeightedIndex([Postings(folder) for folder in folders], settings.weighting())
        self.index.impacts  # noqa: B018 - mapped now: a rebuild may remove the files
        self.posts = self.index.collection.documents
        spoken = {code for folder in folders for code in _read_languages(folder) if code}
        #: The languages of the posts.
        self.languages = sorted(spoken)

    def has(self, terms: Sequence[str]) -> bool:
        """Whether any post has any of the terms."""
        return any(segment.document_counts(terms).any() for segment in self.index.segments)

    def ask(self, questions: Sequence[Question]) -> list[LexicalReply]:
        """Answer several questions."""
        return [LexicalReply(self, question) for question in questions]


class LexicalReply:
    """Scores posts for one question by their words."""

    def __init__(self, retriever: LexicalRetriever, question: Question) -> None:
        self._index = retriever.index
        self._terms = QueryTerms(question, retriever.settings, retriever.languages)
        self._evidence = WordEvidence(self._terms)

    def best(self, k: int, allowed: NDArray[np.bool_] | None = None) -> Scored:
        """The best posts."""
        return self._weighed.best(k, allowed)

    def scores(self, numbers: NDArray[np.int64]) -> NDArray[np.float32]:
        """The scores of given posts."""
        return self._weighed.scores(numbers)

    def reason(self, number: int, post: Post) -> Reason:
        """The words that a post shares with the question, those with the largest share first.

        The evidence lists other forms of the post at the end.
        """
        shares = self._weighed.parts(number)
        ranked = sorted(zip(shares, self.wanted, strict=True), key=lambda pair: -pair[0])
        counting = (term for share, term in ranked if share > 0 and self.wanted[term] >= MIN_WEIGHT)
        matches, others = self._evidence.found(counting, post)
        return Reason("words", float(sum(shares)), describe(matches), tuple(matches | others))

    def may_match_all(self, number: int) -> bool:
        """Whether a post has terms for all words of the question; fast, with false positives.

        A word matches by its own terms or by those of its translations into any language. Words
        that are translated together must match at least as many terms as there are words, or all
        those of a shorter translation, such as Zwischenwertsatz for intermediate value theorem.
        """
        shares = zip(self._weighed.parts(number), self.wanted, strict=True)
        there = {term for share, term in shares if share > 0}
        return any(
            bool(words)
            and all(
                any(len(there & terms) >= least for terms, least in terms_of_word)
                for terms_of_word in words
            )
            for words in self._terms.terms_of_words
        )

    def is_inflection_of_query(self, found: str, language: str) -> bool:
        """Whether words of a post are those of the question in the same order, up to inflection."""
        return self._terms.is_inflection(found, language)

    @property
    def word_count(self) -> int:
        """The number of words of the question, without stop words."""
        return self._terms.word_count

    def shortest_passage(self, post: Post) -> ShortestPassage | None:
        """The shortest passage of a post that has all words of the question."""
        return self._evidence.shortest_passage(post)

    @property
    def wanted(self) -> Wanted:
        """The weighted query terms, in the languages of the posts."""
        return self._terms.weights

    @cached_property
    def _weighed(self) -> WeighedQuery:
        return self._index.weigh(self._terms.weights, self._terms.translated)


def _read_languages(folder: Path) -> list[str]:
    """The languages of a segment's posts."""
    path = folder / "languages.json"
    try:
        with open_plain(path) as file:
            counts = json.load(file)
        return [str(code) for code in dict(counts)]
    except (OSError, ValueError, TypeError, RecursionError) as error:
        raise DamagedLibrary(path, f"is damaged ({error})") from error
