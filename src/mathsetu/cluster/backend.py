"""The backend of `mathsetu.library.Library` for libraries on a cluster."""

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
from mathsetu.cluster.meaning import ClusterMeaning, SentenceCache
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
        # The recipe may change with a rebuild.
        self._recipe = lru_cache(2)(self._read_recipe)
        self._remembered: defaultdict[str, SentenceCache] = defaultdict(SentenceCache)

    def _read_recipe(self, table: str) -> Recipe:
        recipe = searched_with(json.loads(table), self._settings, self.place)
        check_recipe(recipe)
        return recipe

    def close(self) -> None:
        """Close the connections."""
        self._cluster.close()

    def renew(self, view: View) -> bool:
        """Check for a version other than the view's; return whether there is one."""
        return self._newest.renew() or self.now().version != view.version

    def refreshed(self) -> ClusterBackend | None:
        """Load a newer version, if any; returns this backend, or None if there is none."""
        return self if self._newest.renew() else None

    def now(self) -> ClusterView:
        """The current version, at most one second old."""
        snapshot = self._newest.get()
        recipe = self._recipe(json.dumps(snapshot.state.recipe))
        return ClusterView(snapshot, recipe, self._remembered)


class ClusterView:
    """One version of a library on a cluster.

    Attributes:
        count: How many posts can be found.
        languages: The number of posts in each language.
        recipe: The recipe to search with.
        version: Identifies the version.
        stored_posts: The posts.
    """

    def __init__(
        self, snapshot: Snapshot, recipe: Recipe, remembered: Mapping[str, SentenceCache]
    ) -> None:
        self._snapshot, self.recipe, self._remembered = snapshot, recipe, remembered
        self.count = snapshot.state.posts
        self.languages: Mapping[str, int] = snapshot.state.languages
        self.version = f"{snapshot.state.build}.{snapshot.state.version}"
        self.stored_posts = ClusterPosts(snapshot)

    def parts(self, where: Filter | None) -> tuple[dict[str, Retriever], NDArray[Any] | None]:
        """The retriever of each part, restricted by the filter; the mask is always None."""
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
