"""The content of a library, in a folder on this machine or on a cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from mathsetu.errors import DamagedLibrary, InputError, reason
from mathsetu.intake.posts import Glance
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
from mathsetu.retrieval.base import Recent, Retriever

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Allowed = NDArray[np.bool_] | None

# Posts that are kept in memory as they were read; a query glances at more than it shows. Names and
# headings of posts: a run for evaluation asks for a thousand with each query.
_REMEMBERED, _GLANCED, _NAMED = 2_000, 5_000, 50_000
# How often opening is tried again when a rebuild replaces the library at that moment.
_TRIES = 5


class Posts(Protocol):
    """The posts of a library by their ids and numbers."""

    def __contains__(self, post_id: str) -> bool: ...

    def number_of(self, post_id: str) -> int:
        """The number of a post."""
        ...

    def post(self, post_id: str) -> Post:
        """One post by its id, as `posts` gives it."""
        ...

    def named(self, ids: Iterable[str]) -> dict[str, Post]:
        """Posts by their ids, as `posts` gives them."""
        ...

    def posts(self, numbers: Sequence[int]) -> dict[int, Post]:
        """Posts by their numbers, each answer with what its question says."""
        ...

    def glances(self, numbers: Sequence[int]) -> dict[int, Glance]:
        """Posts by their numbers as they were written, answers without their questions."""
        ...

    def headings(self, numbers: Sequence[int]) -> dict[int, Heading]:
        """The languages and threads of posts by their numbers, and whether they are answers."""
        ...

    def ids(self, numbers: Sequence[int]) -> dict[int, str]:
        """The ids of posts by their numbers."""
        ...

    def collections(self, ids: Iterable[str]) -> dict[str, str]:
        """The collections of those of some posts that are here, by their ids."""
        ...

    def has_collection(self, name: str) -> bool:
        """Whether there is a post in a collection."""
        ...

    def threads(self, names: Iterable[str]) -> dict[str, dict[int, str]]:
        """The posts of some threads, as far as they are known: their numbers and languages."""
        ...

    def threads_below(self, prefix: str) -> list[str]:
        """The names of threads and files that begin with a prefix; none where that takes long."""
        ...

    def not_removed(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Those of some numbers whose posts are still there."""
        ...

    def tags(self, limit: int) -> dict[str, int]:
        """The most frequent tags and how many posts have each."""
        ...

    def titles(self, limit: int) -> Iterator[tuple[int, str]]:
        """The numbers and titles of the first posts that have one; none where that takes long."""
        ...

    def facets(self, numbers: Sequence[int]) -> dict[str, dict[str, int]]:
        """How many of some posts have each language, tag and collection."""
        ...


class View(Protocol):
    """A library at one moment, as one search sees it."""

    @property
    def count(self) -> int:
        """How many posts can be found."""
        ...

    @property
    def languages(self) -> Mapping[str, int]:
        """How many posts there are of each language."""
        ...

    @property
    def recipe(self) -> Recipe:
        """What it is searched by."""
        ...

    @property
    def version(self) -> str:
        """Names what is there, so that a change can be told."""
        ...

    @property
    def stored_posts(self) -> Posts:
        """The posts."""
        ...

    def parts(self, where: Filter | None) -> tuple[Mapping[str, Retriever], Allowed]:
        """The parts of the recipe, and which posts they may find."""
        ...


class LibraryBackend(Protocol):
    """A library that is open."""

    def now(self) -> View:
        """The library as it is now."""
        ...

    def renew(self, view: View) -> bool:
        """Look for another version than that of a view; whether there is one."""
        ...

    def refreshed(self) -> LibraryBackend | None:
        """The library as it is now where it was changed since it was opened; None where not."""
        ...

    def close(self) -> None:
        """Close files, or connections."""
        ...


def open_backend(place: str | Path, settings: Iterable[str]) -> LibraryBackend:
    """Open a library in a folder, or on a cluster.

    Args:
        place: The folder, or the address.
        settings: Settings of its recipe to search with instead.
    """
    if is_address(place):
        from mathsetu.cluster.backend import ClusterBackend  # most libraries are in folders

        return ClusterBackend(str(place), settings)
    return _opened(Path(place), tuple(settings))


def _opened(folder: Path, settings: tuple[str, ...]) -> FolderBackend:
    for attempt in range(_TRIES):
        manifest = read_manifest(folder)
        try:
            return FolderBackend(folder, manifest, settings)
        except (InputError, OSError) as error:
            # A rebuild may have removed the old segments between two lines above.
            if attempt + 1 == _TRIES or read_manifest(folder) == manifest:
                if isinstance(error, InputError):
                    raise
                place = error.filename or folder
                raise InputError(f"{place}: cannot be read ({reason(error)})") from error
    raise AssertionError("the last attempt ends above")


class FolderBackend:
    """A library in a folder, whose files never change while they are open.

    Attributes:
        manifest: What it consists of.
        recipe: What it is searched by.
        stored_posts: Its posts.
    """

    def __init__(self, folder: Path, manifest: Manifest, settings: tuple[str, ...]) -> None:
        check(folder, manifest)
        self._folder, self._settings = folder, settings
        self.manifest = manifest
        self.count, self.languages = manifest.posts, manifest.languages
        #: Nothing changes while it is open.
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
        """The library, which stays as it is."""
        return self

    def renew(self, view: View) -> bool:
        """There is no other version of what is open."""
        return False

    def refreshed(self) -> FolderBackend | None:
        """The folder opened again if it was changed."""
        if read_manifest(self._folder) == self.manifest:
            return None
        return _opened(self._folder, self._settings)

    def parts(self, where: Filter | None) -> tuple[Mapping[str, Retriever], Allowed]:
        """The parts of the recipe, and which posts they may find."""
        return self._parts, self.stored_posts.allowed(where)

    def close(self) -> None:
        """Close the files."""
        self.stored_posts.close()


class CachedPosts(SegmentedPosts):
    """Posts of all segments, the last ones read kept in memory.

    Reading one takes longer than finding it, and good posts are found again and again.
    """

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)  # type: ignore[arg-type]
        self._whole = Recent(super().posts, _REMEMBERED)
        self._glances = Recent(super().glances, _GLANCED)
        self._named = Recent(super().ids, _NAMED)
        self._headings = Recent(super().headings, _NAMED)

    def posts(self, numbers: Sequence[int]) -> dict[int, Post]:
        """Posts by their numbers, each answer with what its question says."""
        return self._whole.read(numbers)

    def glances(self, numbers: Sequence[int]) -> dict[int, Glance]:
        """Posts by their numbers as they were written, answers without their questions."""
        return self._glances.read(numbers)

    def ids(self, numbers: Sequence[int]) -> dict[int, str]:
        """The ids of posts by their numbers."""
        return self._named.read(numbers)

    def headings(self, numbers: Sequence[int]) -> dict[int, Heading]:
        """The languages and threads of posts by their numbers, and whether they are answers."""
        return self._headings.read(numbers)

    def close(self) -> None:
        """Close the files."""
        for recent in (self._whole, self._glances, self._named, self._headings):
            recent.clear()
        super().close()
