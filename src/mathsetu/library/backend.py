"""The content of a library, in a folder on this machine or on a cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from mathsetu.errors import DamagedLibrary, InputError, reason
from mathsetu.intake.posts import LazyPost
from mathsetu.library.manifest import (
    Manifest,
    check,
    check_models,
    read_manifest,
    segment_folder,
)
from mathsetu.library.segmented_posts import Filter, SegmentedPosts
from mathsetu.library.store import Heading
from mathsetu.places import is_address
from mathsetu.recipes import searched_with
from mathsetu.recipes.parts import make_retriever, models_of
from mathsetu.recipes.schema import Recipe
from mathsetu.records import Post
from mathsetu.retrieval.base import BoundedCache, Retriever

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Allowed = NDArray[np.bool_] | None

# Cache sizes: complete posts; posts as written, of which a query reads more than it shows; ids and
# headings, of which an evaluation run reads a thousand per query.
_CACHED_POSTS, _CACHED_TEXTS, _CACHED_HEADINGS = 2_000, 5_000, 50_000
# Attempts to open a library that is being replaced by a rebuild.
_TRIES = 5


class Posts(Protocol):
    """Access to the posts of a library by id and by number."""

    def __contains__(self, post_id: str) -> bool: ...

    def number_of(self, post_id: str) -> int:
        """The number of a post."""
        ...

    def post(self, post_id: str) -> Post:
        """A post by its id; an answer is completed from its question."""
        ...

    def named(self, ids: Iterable[str]) -> dict[str, Post]:
        """Posts by their ids; answers are completed from their questions."""
        ...

    def posts(self, numbers: Sequence[int]) -> dict[int, Post]:
        """Posts by their numbers; answers are completed from their questions."""
        ...

    def lazy_posts(self, numbers: Sequence[int]) -> dict[int, LazyPost]:
        """Posts by their numbers as they were written; answers are not completed."""
        ...

    def headings(self, numbers: Sequence[int]) -> dict[int, Heading]:
        """The `Heading` of each post, by number."""
        ...

    def ids(self, numbers: Sequence[int]) -> dict[int, str]:
        """The ids of posts by their numbers."""
        ...

    def collections(self, ids: Iterable[str]) -> dict[str, str]:
        """The collection of each given post that exists, by id."""
        ...

    def has_collection(self, name: str) -> bool:
        """Whether a collection has any post."""
        ...

    def threads(self, names: Iterable[str]) -> dict[str, dict[int, str]]:
        """For each known thread or file, the languages of its posts by their numbers."""
        ...

    def threads_below(self, prefix: str) -> list[str]:
        """The names of threads and files that start with a prefix; empty on a cluster."""
        ...

    def not_removed(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """The given numbers without those of removed posts."""
        ...

    def tags(self, limit: int) -> dict[str, int]:
        """The most frequent tags and how many posts have each."""
        ...

    def titles(self, limit: int) -> Iterator[tuple[int, str]]:
        """The numbers and titles of the first posts with a title; empty on a cluster."""
        ...

    def facets(self, numbers: Sequence[int]) -> dict[str, dict[str, int]]:
        """How many of the given posts have each language, tag and collection."""
        ...


class View(Protocol):
    """One version of a library; a search reads a single version."""

    @property
    def count(self) -> int:
        """How many posts can be found."""
        ...

    @property
    def languages(self) -> Mapping[str, int]:
        """The number of posts in each language."""
        ...

    @property
    def recipe(self) -> Recipe:
        """The recipe to search with."""
        ...

    @property
    def version(self) -> str:
        """Identifies the content; it differs after a change."""
        ...

    @property
    def stored_posts(self) -> Posts:
        """The posts."""
        ...

    def parts(self, where: Filter | None) -> tuple[Mapping[str, Retriever], Allowed]:
        """The retriever of each part, and the mask of posts it may return (None: no mask)."""
        ...


class LibraryBackend(Protocol):
    """An open library."""

    def now(self) -> View:
        """The current version."""
        ...

    def renew(self, view: View) -> bool:
        """Check for a version other than the view's; return whether there is one."""
        ...

    def refreshed(self) -> LibraryBackend | None:
        """A backend for the current version, or None if the library has not changed."""
        ...

    def close(self) -> None:
        """Close the files or connections."""
        ...


def open_backend(place: str | Path, settings: Iterable[str]) -> LibraryBackend:
    """Open a library in a folder, or on a cluster.

    Args:
        place: The folder or the address.
        settings: Recipe settings that override those of the library.
    """
    if is_address(place):
        from mathsetu.cluster.backend import ClusterBackend  # only needed for clusters

        return ClusterBackend(str(place), settings)
    return _opened(Path(place), tuple(settings))


def _opened(folder: Path, settings: tuple[str, ...]) -> FolderBackend:
    for attempt in range(_TRIES):
        manifest = read_manifest(folder)
        try:
            return FolderBackend(folder, manifest, settings)
        except (InputError, OSError) as error:
            # A rebuild may have removed the old segments after the manifest was read.
            if attempt + 1 == _TRIES or read_manifest(folder) == manifest:
                if isinstance(error, InputError):
                    raise
                place = error.filename or folder
                raise InputError(f"{place}: cannot be read ({reason(error)})") from error
    raise AssertionError("the last attempt ends above")


class FolderBackend:
    """A library in a folder. Its files never change while they are open.

    Attributes:
        manifest: The manifest that was read when the folder was opened.
        recipe: The recipe to search with.
        stored_posts: The posts of all segments.
    """

    def __init__(self, folder: Path, manifest: Manifest, settings: tuple[str, ...]) -> None:
        check(folder, manifest)
        self._folder, self._settings = folder, settings
        self.manifest = manifest
        self.count, self.languages = manifest.posts, manifest.languages
        #: Constant: an open folder does not change.
        self.version = ""
        self.recipe: Recipe = searched_with(manifest.recipe, settings, str(folder))
        check_models(folder, manifest, models_of(self.recipe))
        folders = [segment_folder(folder, segment.name) for segment in manifest.segments]
        with ExitStack() as opened:
            self.stored_posts = CachedPosts(folders, manifest.segments)
            opened.callback(self.stored_posts.close)
            self._parts: dict[str, Retriever] = {
                name: make_retriever(settings, [one / name for one in folders], f"parts.{name}")
                for name, settings in self.recipe.parts.items()
            }
            for name, part in self._parts.items():
                if part.posts != self.stored_posts.count:
                    raise DamagedLibrary(folder, f"its part {name!r} was built from other posts")
            opened.pop_all()

    def now(self) -> FolderBackend:
        """Return this backend: an open folder has only one version."""
        return self

    def renew(self, view: View) -> bool:
        """Return False: an open folder has only one version."""
        return False

    def refreshed(self) -> FolderBackend | None:
        """A backend for the current version, or None if the manifest has not changed."""
        if read_manifest(self._folder) == self.manifest:
            return None
        return _opened(self._folder, self._settings)

    def parts(self, where: Filter | None) -> tuple[Mapping[str, Retriever], Allowed]:
        """The retriever of each part, and the mask of posts it may return (None: no mask)."""
        return self._parts, self.stored_posts.allowed(where)

    def close(self) -> None:
        """Close the files."""
        self.stored_posts.close()


class CachedPosts(SegmentedPosts):
    """Posts of all segments, with a cache of those read last.

    Reading a post takes longer than finding it, and good posts are found by many queries.
    """

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)  # type: ignore[arg-type]
        self._whole = BoundedCache(super().posts, _CACHED_POSTS)
        self._lazy_posts = BoundedCache(super().lazy_posts, _CACHED_TEXTS)
        self._named = BoundedCache(super().ids, _CACHED_HEADINGS)
        self._headings = BoundedCache(super().headings, _CACHED_HEADINGS)

    def posts(self, numbers: Sequence[int]) -> dict[int, Post]:
        """Posts by their numbers; answers are completed from their questions."""
        return self._whole.read(numbers)

    def lazy_posts(self, numbers: Sequence[int]) -> dict[int, LazyPost]:
        """Posts by their numbers as they were written; answers are not completed."""
        return self._lazy_posts.read(numbers)

    def ids(self, numbers: Sequence[int]) -> dict[int, str]:
        """The ids of posts by their numbers."""
        return self._named.read(numbers)

    def headings(self, numbers: Sequence[int]) -> dict[int, Heading]:
        """The `Heading` of each post, by number."""
        return self._headings.read(numbers)

    def close(self) -> None:
        """Close the files."""
        for recent in (self._whole, self._lazy_posts, self._named, self._headings):
            recent.clear()
        super().close()
