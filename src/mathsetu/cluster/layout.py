"""The layout of a library on a cluster: collections, point numbers, and payload fields.

A *build* is one set of collections. The library's name is an alias of the current build, so that a
rebuild takes effect in one step:

    NAME-BUILD              the state of the library, and its tables: a few points without vectors
    NAME-BUILD-posts        a point for each post: its record, and a sparse vector of its words
    NAME-BUILD-part-PART    a point for each distinct formula of a segment (sparse vectors), or for
                            each passage (dense vectors)

The point number of a post combines the number of its segment and its number in the segment. So
posts have the same order as in a folder, which breaks ties between equal scores.

Every point has the version of the library in which it appeared and, if it was removed, the version
in which it disappeared. A search filters by one version, so that it never sees half of a change.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mathsetu.cluster.client import Cluster, MissingCollection, Refused
from mathsetu.errors import InputError
from mathsetu.recipes.parts import settings_of
from mathsetu.recipes.schema import Recipe
from mathsetu.retrieval.lexical_terms import LexicalSettings
from mathsetu.retrieval.weighting import make_scheme

#: Fields of every point: the versions from and until which it is visible, and its segment.
BIRTH, DEATH, SEGMENT = "birth", "death", "segment"
#: Indexed fields of a post; passages have the first three, too.
LANGUAGE, TAGS, COLLECTION, ID, PARENT = "language", "tags", "collection", "id", "parent"
#: The thread of a post. If the post also has a file or archives with other names: a list of all,
#: first the thread, which may be empty.
THREAD = "thread"
#: The kind of a post, if it states one.
KIND = "kind"
#: The number of a passage's post.
POST = "post"
#: Fields of a formula: a hash of its LaTeX; and the version since which it counts in the statistics
#: (absent if another point with the same LaTeX counts).
KEY, COUNTED = "key", "counted"
#: The kinds of parts that a cluster supports.
LEXICAL, FORMULA, MEANING = "lexical", "formula", "meaning"
# Bits of a post's number in its segment, and of a passage's number in its post.
_POST_BITS, _PASSAGE_BITS = 32, 8
# With the bits above, point numbers stay below 2 ** 63.
_MAX_SEGMENTS = 1 << 22
_MAX_PASSAGES = 1 << _PASSAGE_BITS


@dataclass(frozen=True)
class Spread:
    """How a new collection is distributed over the nodes.

    Attributes:
        shards: The number of shards, which share the work of one search.
        replicas: How many nodes have each shard; with two, one node may be down.
    """

    shards: int = 1
    replicas: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.shards <= 1000 or not 1 <= self.replicas <= 100:
            raise InputError("shards must be from 1 to 1000, and replicas from 1 to 100")


@dataclass(frozen=True)
class Names:
    """The names of a build's collections."""

    library: str
    build: str

    @property
    def meta(self) -> str:
        """The collection of the state and the tables."""
        return f"{self.library}-{self.build}"

    @property
    def posts(self) -> str:
        """The collection of posts."""
        return f"{self.meta}-posts"

    def part(self, name: str) -> str:
        """The collection of a part that has its own."""
        return f"{self.meta}-part-{name}"


def post_point(segment: int, number: int) -> int:
    """The point number of a post or a formula.

    >>> post_point(1, 2)
    4294967298
    """
    return segment << _POST_BITS | number


def first_in_segment(number: int) -> int:
    """The point number of the first post or formula in the same segment.

    >>> first_in_segment(post_point(1, 2)) == post_point(1, 0)
    True
    """
    return number >> _POST_BITS << _POST_BITS


def passage_point(post: int, passage: int) -> int:
    """The point number of a passage."""
    return post << _PASSAGE_BITS | passage


def check_segment(segment: int) -> int:
    """Refuse a segment number that does not fit into point numbers."""
    if not 0 <= segment < _MAX_SEGMENTS:
        raise InputError(
            f"the library has had {_MAX_SEGMENTS:,} segments; publish it again to renumber them"
        )
    return segment


def check_recipe(recipe: Recipe) -> None:
    """Refuse a recipe with parts that a cluster does not support."""
    for name, table in recipe.parts.items():
        kind = table["kind"]
        if kind not in (LEXICAL, FORMULA, MEANING):
            raise InputError(
                f"{recipe.name}: parts.{name} is of kind {kind!r}; a cluster has parts of kind "
                f"{LEXICAL}, {FORMULA} and {MEANING}"
            )
        settings = settings_of(table, f"parts.{name}")
        if isinstance(settings, LexicalSettings) and make_scheme(settings.scheme).cosine:
            raise InputError(
                f"{recipe.name}: parts.{name} normalises vectors to length one, which a cluster "
                "cannot update when posts are added; choose bm25+ or a scheme that ends in n"
            )
        if isinstance(settings, LexicalSettings) and settings.without_extremes:
            raise InputError(
                f"{recipe.name}: parts.{name} leaves out rare or frequent terms, which a cluster "
                "does not support; set min_posts to 0 and max_share to 1"
            )
        if kind == MEANING and settings.question_passages + settings.body_passages > _MAX_PASSAGES:
            raise InputError(
                f"{recipe.name}: parts.{name} reads more than {_MAX_PASSAGES} passages of a post; "
                "reduce question_passages or body_passages"
            )


def create(
    cluster: Cluster, names: Names, recipe: Recipe, spread: Spread, dimensions: dict[str, int]
) -> None:
    """Create the missing collections of a build.

    Args:
        cluster: The cluster.
        names: The names of the collections.
        recipe: The recipe with the parts.
        spread: How collections are distributed over the nodes; the state has one shard.
        dimensions: For each part with dense vectors, their number of dimensions.
    """
    models = cluster.models
    words = {
        name: models.SparseVectorParams(index=models.SparseIndexParams(on_disk=False))
        for name, table in recipe.parts.items()
        if table["kind"] == LEXICAL
    }
    visible = dict.fromkeys((BIRTH, DEATH, SEGMENT), models.PayloadSchemaType.INTEGER)
    known = dict.fromkeys((LANGUAGE, TAGS, COLLECTION), models.PayloadSchemaType.KEYWORD)
    named = dict.fromkeys((ID, PARENT, THREAD), models.PayloadSchemaType.KEYWORD)
    _create(cluster, names.meta, {}, {}, Spread(1, spread.replicas))
    _create(
        cluster,
        names.posts,
        {"sparse_vectors_config": words},
        {**visible, **known, **named},
        spread,
    )
    for name, table in recipe.parts.items():
        if table["kind"] == FORMULA:
            features = models.SparseVectorParams(index=models.SparseIndexParams(on_disk=False))
            config: dict[str, Any] = {"sparse_vectors_config": {name: features}}
            written = dict.fromkeys((KEY, COUNTED), models.PayloadSchemaType.INTEGER)
            _create(cluster, names.part(name), config, {**visible, **written}, spread)
        elif table["kind"] == MEANING:
            # The final scores are computed from int8 vectors, so half precision is sufficient
            # here; the first pass uses binary quantisation in memory.
            vectors = models.VectorParams(
                size=dimensions[name],
                distance=models.Distance.DOT,
                on_disk=True,
                datatype=models.Datatype.FLOAT16,
                quantization_config=models.BinaryQuantization(
                    binary=models.BinaryQuantizationConfig(always_ram=True)
                ),
            )
            of_post = {POST: models.PayloadSchemaType.INTEGER}
            config = {"vectors_config": {name: vectors}}
            _create(cluster, names.part(name), config, {**visible, **known, **of_post}, spread)


def _create(
    cluster: Cluster, name: str, config: dict[str, Any], indexes: dict[str, Any], spread: Spread
) -> None:
    if not cluster.read("a collection", "collection_exists", name):
        settings = {"vectors_config": {}, **config}
        try:
            cluster.write(
                "a new collection",
                "create_collection",
                name,
                shard_number=spread.shards,
                replication_factor=spread.replicas,
                on_disk_payload=True,
                **settings,
            )
        except Refused:
            # Another worker may have created it at the same time.
            if not cluster.read("a collection", "collection_exists", name):
                raise
    for field, kind in indexes.items():
        cluster.write(
            "an index of a field",
            "create_payload_index",
            name,
            field,
            kind,
            wait=True,
        )


def builds(cluster: Cluster, library: str) -> dict[str, list[str]]:
    """The builds of a library, with their collections."""
    found: dict[str, list[str]] = {}
    listed = cluster.read("the list of collections", "get_collections")
    for collection in listed.collections:
        steps = collection.name.split("-")
        if len(steps) >= 2 and steps[0] == library:
            found.setdefault(steps[1], []).append(collection.name)
    return found


def drop(cluster: Cluster, collections: list[str]) -> None:
    """Remove collections, the one of the state last, so that an unfinished removal is visible."""
    for name in sorted(collections, key=lambda name: -name.count("-")):
        try:
            cluster.write("an old collection", "delete_collection", name)
        except MissingCollection:
            continue


def visible_at(models: Any, version: int) -> list[Any]:
    """The conditions that exclude points not visible in a version of the library."""
    return [
        models.FieldCondition(key=BIRTH, range=models.Range(gt=version)),
        models.FieldCondition(key=DEATH, range=models.Range(lte=version)),
    ]
