"""What a library on a cluster holds, for `mathsetu.library.Library` to search."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from mathsetu.cluster.address import parse_address
from mathsetu.cluster.client import Cluster
from mathsetu.cluster.formulas import ClusterFormulas
from mathsetu.cluster.layout import FORMULA, LEXICAL, check_recipe
from mathsetu.cluster.meaning import ClusterMeaning, Remembered
from mathsetu.cluster.posts import ClusterPosts
from mathsetu.cluster.snapshot import Newest, Snapshot
from mathsetu.cluster.words import ClusterWords
from mathsetu.library.backend import View
from mathsetu.library.segmented_posts import Filter
from mathsetu.recipes import searched_with
from mathsetu.recipes.parts import settings_of
from mathsetu.recipes.schema import Recipe
from mathsetu.retrieval.base import Retriever

if TYPE_CHECKING:
    from numpy.typing import NDArray


class ClusterBackend:
    """A library on a cluster.

    Attributes:
        place: Its address.
    """

    def __init__(self, address: str, settings: Iterable[str] = ()) -> None:
        self.place = address
        self._cluster = Cluster(parse_address(address))
        self._settings = tuple(settings)
        self._newest = Newest(self._cluster)
        # A rebuild may come with another recipe.
        self._recipe = lru_cache(2)(self._read_recipe)
        self._remembered: defaultdict[str, Remembered] = defaultdict(Remembered)

    def _read_recipe(self, table: str) -> Recipe:
        recipe = searched_with(json.loads(table), self._settings, self.place)
        check_recipe(recipe)
        return recipe

    def close(self) -> None:
        """End the connections."""
        self._cluster.close()

    def renew(self, view: View) -> bool:
        """Look for another version than that of a view; whether there is one."""
        return self._newest.renew() or self.now().version != view.version

    def refreshed(self) -> ClusterBackend | None:
        """This library if there is a newer version, which searches see from now on."""
        return self if self._newest.renew() else None

    def now(self) -> ClusterView:
        """The library as it is now, at most a second ago."""
        snapshot = self._newest.get()
        recipe = self._recipe(json.dumps(snapshot.state.recipe))
        return ClusterView(snapshot, recipe, self._remembered)


class ClusterView:
    """One version of a library on a cluster.

    Attributes:
        count: How many posts can be found.
        languages: How many there are of each language.
        recipe: What it is searched by.
        version: Names the version.
        stored_posts: Its posts.
    """

    def __init__(
        self, snapshot: Snapshot, recipe: Recipe, remembered: Mapping[str, Remembered]
    ) -> None:
        self._snapshot, self.recipe, self._remembered = snapshot, recipe, remembered
        self.count = snapshot.state.posts
        self.languages: Mapping[str, int] = snapshot.state.languages
        self.version = f"{snapshot.state.build}.{snapshot.state.version}"
        self.stored_posts = ClusterPosts(snapshot)

    def parts(self, where: Filter | None) -> tuple[dict[str, Retriever], NDArray[Any] | None]:
        """The parts, which find only what a filter allows."""
        limited = None if where is None or not where.conditions else where
        return {name: self._part(name, limited) for name in self.recipe.parts}, None

    def _part(self, name: str, where: Filter | None) -> Retriever:
        table = self.recipe.parts[name]
        settings = settings_of(table, f"parts.{name}")
        if table["kind"] == LEXICAL:
            return ClusterWords(self._snapshot, name, settings, where)
        if table["kind"] == FORMULA:
            return ClusterFormulas(self._snapshot, name, settings, where)
        remembered = self._remembered[name]
        return ClusterMeaning(self._snapshot, name, settings, where, self.stored_posts, remembered)
