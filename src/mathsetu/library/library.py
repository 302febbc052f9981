"""A library opened for searching."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np

from mathsetu.errors import InputError
from mathsetu.library.manifest import Manifest, check, read_manifest, segment_folder
from mathsetu.library.store import Store
from mathsetu.ranking.hybrid import adapted, order, shares
from mathsetu.recipes.parts import is_silent, make_retriever
from mathsetu.recipes.schema import Recipe, parse_table
from mathsetu.records import Hit, Post, Query, Reason, Run
from mathsetu.retrieval.base import Question, Retriever
from mathsetu.retrieval.formula import FormulaMatch, FormulaRetriever

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

#: A query longer than this is refused: it is a file sent by mistake, or an attack.
LONGEST_QUERY = 100_000
# How often opening is tried again when a rebuild replaces the library at that moment.
_TRIES = 5


@dataclass(frozen=True)
class Filter:
    """Which posts may be found: of one language, with all of these tags, of one collection."""

    language: str = ""
    tags: tuple[str, ...] = ()
    collection: str = ""


class Library:
    r"""Opens a library folder and answers queries.

    Example:
        >>> from mathsetu.collections import sampler
        >>> from mathsetu.library import build_library
        >>> from tempfile import mkdtemp
        >>> folder = Path(mkdtemp()) / "library"
        >>> build_library(folder, sampler.posts(), "default", processes=1)
        >>> library = Library(folder)
        >>> library.search(r"समाकल $\int_0^\infty \frac{\sin x}{x}dx$ का मान", k=1)[0].id
        'dirichlet-integral.fa'
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        for attempt in range(_TRIES):
            self.manifest = read_manifest(self.folder)
            try:
                self._open()
                return
            except (InputError, OSError) as error:
                # A rebuild may have removed the old segments between two lines above.
                if attempt + 1 == _TRIES or read_manifest(self.folder) == self.manifest:
                    raise InputError(str(error)) from error

    def _open(self) -> None:
        check(self.folder, self.manifest)
        self.recipe: Recipe = parse_table(self.manifest.recipe, str(self.folder))
        folders = [segment_folder(self.folder, s.name) for s in self.manifest.segments]
        self._stores = [Store(folder / "posts.sqlite") for folder in folders]
        self._parts: dict[str, Retriever] = {
            name: make_retriever(settings, [folder / name for folder in folders], f"parts.{name}")
            for name, settings in self.recipe.parts.items()
        }
        self._offsets = np.cumsum([0, *(store.count for store in self._stores)])
        self._present = self._not_removed(self.manifest)

    def _not_removed(self, manifest: Manifest) -> NDArray[np.bool_] | None:
        if not any(segment.removed for segment in manifest.segments):
            return None
        present = np.ones(self._offsets[-1], dtype=np.bool_)
        for offset, segment in zip(self._offsets, manifest.segments, strict=False):
            present[offset + np.array(segment.removed, dtype=np.int64)] = False
        return present

    def close(self) -> None:
        """Close the files; a library that is used in a ``with`` block closes itself."""
        for store in self._stores:
            store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        """How many posts can be found."""
        return self.manifest.posts

    def search(
        self,
        query: str | Query,
        k: int | None = None,
        *,
        language: str = "",
        where: Filter | None = None,
        explain: bool = True,
    ) -> tuple[Hit, ...]:
        """The best posts for one query, with the reasons for each.

        Args:
            query: Words and formulas (between dollars), or a query record.
            k: How many hits; what the recipe says unless given.
            language: The language of the query; detected unless given.
            where: Which posts may be found.
            explain: Whether reasons are worked out.
        """
        if isinstance(query, str):
            query = Query(id="", text=query, language=language)
        return self.run([query], k, where=where, explain=explain).rankings[query.id]

    def run(
        self,
        queries: Iterable[Query],
        k: int | None = None,
        *,
        where: Filter | None = None,
        explain: bool = False,
        name: str = "",
    ) -> Run:
        """Answer many queries at once."""
        questions = [Question(query) for query in queries]
        for question in questions:
            _check_length(question)
        if k is None:
            k = self.recipe.ranking.k
        if k < 1:
            raise InputError(f"k is {k}; it must be at least 1")
        allowed = self._allowed(where)
        rankings: dict[str, tuple[Hit, ...]] = {}
        for question, weights, numbers, scores in self._candidates(questions, k, allowed):
            ranked = self._ranked(question, weights, numbers, scores, k, explain)
            rankings[question.query.id] = ranked
        return Run(name or self.recipe.name, rankings)

    def _candidates(
        self, questions: Sequence[Question], k: int, allowed: NDArray[np.bool_] | None
    ) -> Iterator[tuple[Question, dict[str, float], NDArray[np.int64], dict[str, Numbers]]]:
        """For each question the weights of the parts, the candidates, and their scores."""
        ranking = self.recipe.ranking
        depth = max(k, ranking.candidates)
        retrieving = ranking.candidates_from or tuple(self._parts)
        found = {part: self._parts[part].retrieve(questions, depth, allowed) for part in retrieving}
        for place, question in enumerate(questions):
            weights, silent = self._weights(question)
            lists = {part: scored[place] for part, scored in found.items()}
            if silent.issuperset(lists):
                # Those that should find candidates have nothing to go on: the others find them.
                lists = {
                    part: retriever.retrieve([question], depth, allowed)[0]
                    for part, retriever in self._parts.items()
                    if part not in silent
                } or lists
            numbers = np.unique(np.concatenate([scored.numbers for scored in lists.values()]))
            scores: dict[str, Numbers] = {}
            for part in weights:
                if part in lists:
                    scores[part] = np.zeros(len(numbers))
                    where_found = np.searchsorted(numbers, lists[part].numbers)
                    scores[part][where_found] = lists[part].scores
                else:
                    scores[part] = self._parts[part].score(question, numbers).astype(np.float64)
            yield question, weights, numbers, scores

    def _weights(self, question: Question) -> tuple[dict[str, float], frozenset[str]]:
        """The weight of each part for a question, and the parts with nothing to go on."""
        ranking = self.recipe.ranking
        silent = frozenset(
            name for name in ranking.weights if is_silent(self.recipe.parts[name], question)
        )
        weights = adapted(ranking.weights, silent) if ranking.adaptive else dict(ranking.weights)
        return weights, silent

    def _ranked(
        self,
        question: Question,
        weights: dict[str, float],
        numbers: NDArray[np.int64],
        scores: dict[str, Numbers],
        k: int,
        explain: bool,
    ) -> tuple[Hit, ...]:
        ranking = self.recipe.ranking
        parts = shares(scores, weights, ranking.normalise)
        places = order(parts, numbers)
        # What only a part without any weight here has found is not found.
        found = np.any([scores[part] != 0 for part in parts if weights[part]], axis=0)
        places = places[found[places]][:k]
        chosen = numbers[places].tolist()
        ids = self._ids(chosen)
        hits = []
        for place, number in zip(places.tolist(), chosen, strict=True):
            added = {name: float(part[place]) for name, part in parts.items()}
            reasons = self._reasons(question, number, added) if explain else ()
            hits.append(Hit(ids[number], sum(added.values()), ids[number], reasons))
        return tuple(hits)

    def _reasons(
        self, question: Question, number: int, added: dict[str, float]
    ) -> tuple[Reason, ...]:
        reasons = []
        for name, share in added.items():
            if share > 0:
                detail = self._parts[name].explain(question, number).detail
                reasons.append(Reason(name, share, detail))
        return tuple(reasons)

    def formulas(self, latex: str, k: int = 10) -> list[FormulaMatch]:
        """The formulas of the library that are most like one formula."""
        for retriever in self._parts.values():
            if isinstance(retriever, FormulaRetriever):
                return retriever.formulas(latex, k)
        raise InputError(f"{self.folder}: the recipe {self.recipe.name} has no formula index")

    def post(self, post_id: str) -> Post:
        """One post by its id."""
        for store, segment in zip(self._stores, self.manifest.segments, strict=True):
            number = store.number_of(post_id)
            if number is not None and number not in segment.removed:
                return store.by_number([number])[number]
        raise InputError(f"{self.folder}: there is no post {post_id!r}")

    def _allowed(self, where: Filter | None) -> NDArray[np.bool_] | None:
        if where is None or where == Filter():
            return self._present
        masks = [
            store.allowed(where.language, where.tags, where.collection) for store in self._stores
        ]
        allowed = np.concatenate(masks)
        return allowed if self._present is None else allowed & self._present

    def _ids(self, numbers: Sequence[int]) -> dict[int, str]:
        ids: dict[int, str] = {}
        for offset, store in zip(self._offsets.tolist(), self._stores, strict=False):
            own = [number - offset for number in numbers if 0 <= number - offset < store.count]
            ids.update((offset + number, name) for number, name in store.ids(own).items())
        return ids


def _check_length(question: Question) -> None:
    size = len(question.text)
    if size > LONGEST_QUERY:
        name = f"query {question.query.id}" if question.query.id else "the query"
        raise InputError(
            f"{name} has {size:,} characters; at most {LONGEST_QUERY:,} can be searched for"
        )
