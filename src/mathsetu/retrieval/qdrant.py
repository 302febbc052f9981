"""Qdrant as the engine of graph search: the same vectors, on one server or many.

A segment of a library becomes two collections. ``…-posts`` has a point for each post, with the
named vectors ``doc`` (one, of the whole) and ``all`` (several, compared by MaxSim). ``…-formulas``
has a point for each formula. Their names contain a digest of the vectors, so that a library finds
its own collections and never those of another build. Points are numbered as posts and formulas are.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mathsetu.errors import InputError
from mathsetu.graphs.virtual import FORMULA
from mathsetu.models import require
from mathsetu.retrieval.base import Scored
from mathsetu.retrieval.mapped import Mapped, MappedBytes
from mathsetu.retrieval.multivectors import MultiVectors
from mathsetu.retrieval.qdrant_address import key_for, normalised
from mathsetu.retrieval.segments import Numbering
from mathsetu.retrieval.text_table import TextTable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

#: The stored fields of a post, to filter by: id, language, tags, collection.
Payload = Mapping[str, Any]
#: Called with the kind of points that are uploaded, and how many are done.
Progress = Callable[[str, int], None]

_PURPOSE = "search with Qdrant"
# Points in one request.
_BATCH = 64
#: The search breadth (``ef``) of HNSW, as in the thesis that MathAMR+ comes from.
BREADTH = 128
# Fields of the payload that can be filtered by.
_FILTERS = ("id", "language", "tags", "collection")
_SECONDS = 120
# Bytes of a file read at once.
_CHUNK = 1 << 20


@dataclass(frozen=True)
class Collections:
    """The names of a segment's collections."""

    posts: str
    formulas: str


def collections_of(vectors: Path) -> Collections:
    """The names of the collections for the vectors of a segment."""
    digest = blake2b(digest_size=8)
    for name in ("counts.npy", "vectors.npy"):
        content = MappedBytes(vectors / name)
        for start in range(0, len(content), _CHUNK):
            digest.update(content[start : start + _CHUNK])
    name = f"mathsetu-{digest.hexdigest()}"
    return Collections(f"{name}-posts", f"{name}-formulas")


class QdrantServer:
    """A connection to a server; its errors become an `InputError` of one line.

    Args:
        url: Its address, such as ``http://localhost:6333``, which the user of this machine named;
            an address from a library must go through `qdrant_address.confirmed` first.
    """

    def __init__(self, url: str) -> None:
        self.url = normalised(url)
        key = key_for(self.url)
        package = require("qdrant_client", _PURPOSE, "qdrant")
        self.models = package.models
        with warnings.catch_warnings():
            # `key_for` has decided whether the key may be sent unencrypted.
            warnings.filterwarnings("ignore", message="Api key is used with an insecure")
            self.client = package.QdrantClient(
                url=self.url, api_key=key, timeout=_SECONDS, check_compatibility=False
            )

    @contextmanager
    def connected(self) -> Iterator[Any]:
        """Yield the client, for one request or several; turn its errors into `InputError`."""
        errors = require("qdrant_client.http.exceptions", _PURPOSE, "qdrant")
        try:
            yield self.client
        except errors.ResponseHandlingException as error:
            raise InputError(
                f"{self.url}: the Qdrant server does not answer ({error}); is it running?"
            ) from None
        except errors.UnexpectedResponse as error:
            reason = error.content.decode(errors="replace").strip()[:200]
            raise InputError(f"{self.url}: the Qdrant server refuses ({reason})") from None

    def close(self) -> None:
        """Close the connection."""
        self.client.close()

    def missing(self, collection: str, numbers: Sequence[int]) -> list[int]:
        """The points, of those given, that a collection lacks."""
        with self.connected() as client:
            found = client.retrieve(collection, numbers, with_payload=False, with_vectors=False)
        there = {point.id for point in found}
        return [number for number in numbers if number not in there]


def upload_segment(
    server: QdrantServer, folder: Path, payload: Callable[[int], Payload], progress: Progress
) -> int:
    """Upload the vectors of a graph index's segment; return how many posts the server has now.

    Points that the server already has are not sent again, so an interrupted upload can be resumed.

    Args:
        server: The server.
        folder: The part's folder in a segment of a library.
        payload: Returns the stored fields of a post, by its number.
        progress: Called after each batch.
    """
    names = collections_of(folder / "vectors")
    vectors = MultiVectors(folder / "vectors")
    _create(server, names, vectors.dimensions)
    models = server.models

    def post(number: int) -> Any:
        found = vectors.of_post(number)
        # A post without any vectors matches nothing, but Qdrant requires a vector.
        rows = found if len(found) else np.zeros((1, vectors.dimensions), dtype=np.float32)
        both = {"doc": rows[-1].tolist(), "all": rows.tolist()}
        return models.PointStruct(id=number, vector=both, payload=dict(payload(number)))

    _send(server, names.posts, len(vectors), post, "posts", progress)
    here = np.flatnonzero(Mapped(folder / "kinds.npy", "int8").whole == FORMULA)
    owners = np.searchsorted(vectors.layout.starts, here, side="right") - 1
    ids, latex = TextTable(folder / "ids"), TextTable(folder / "latex")

    def formula(number: int) -> Any:
        owner = int(owners[number])
        about = {"formula": ids[number], "latex": latex[number], "number": owner}
        about["post"] = payload(owner).get("id", "")
        row = vectors.vectors(here[number : number + 1])[0]
        return models.PointStruct(id=number, vector=row.tolist(), payload=about)

    _send(server, names.formulas, len(here), formula, "formulas", progress)
    with server.connected() as client:
        return int(client.count(names.posts, exact=True).count)


def _create(server: QdrantServer, names: Collections, dimensions: int) -> None:
    """Create the collections that do not exist yet."""
    models = server.models
    # Vectors have length one, so their inner product is their cosine, and they stay unchanged.
    plain = models.VectorParams(size=dimensions, distance=models.Distance.DOT)
    several = plain.model_copy(
        update={
            "multivector_config": models.MultiVectorConfig(
                comparator=models.MultiVectorComparator.MAX_SIM
            )
        }
    )
    with server.connected() as client:
        if not client.collection_exists(names.posts):
            client.create_collection(names.posts, vectors_config={"doc": plain, "all": several})
            for field in _FILTERS:
                client.create_payload_index(names.posts, field, models.PayloadSchemaType.KEYWORD)
        if not client.collection_exists(names.formulas):
            client.create_collection(names.formulas, vectors_config=plain)
            client.create_payload_index(names.formulas, "post", models.PayloadSchemaType.KEYWORD)
            client.create_payload_index(names.formulas, "number", models.PayloadSchemaType.INTEGER)


def _send(
    server: QdrantServer,
    collection: str,
    count: int,
    point: Callable[[int], Any],
    what: str,
    progress: Progress,
) -> None:
    for start in range(0, count, _BATCH):
        end = min(start + _BATCH, count)
        missing = server.missing(collection, range(start, end))
        if missing:
            with server.connected() as client:
                client.upsert(collection, [point(number) for number in missing], wait=True)
        progress(what, end)


class QdrantSearch:
    """Finds the posts of some segments that are most similar to a query, on a server.

    Args:
        server: The server that has them.
        folders: The vectors of each segment.
        strategy: ``exact`` compares every vector; ``hnsw`` uses Qdrant's index of them;
            ``document`` finds candidates by the document vector; ``single`` compares nothing else.
            ``document-hnsw`` and ``single-hnsw`` use the index of the document vectors. However
            candidates are found, they are ranked by exact scores.
        depth: How many candidates of each segment ``document`` scores; it finds no more posts
            than that in all, however many are requested.
    """

    def __init__(
        self,
        server: QdrantServer,
        folders: Sequence[Path],
        strategy: str = "exact",
        depth: int = 1000,
    ) -> None:
        self._server = server
        self._strategy, self._depth = strategy.removesuffix("hnsw").rstrip("-"), depth
        self._exact = not strategy.endswith("hnsw")
        self._names = [collections_of(folder) for folder in folders]
        self._counts = [len(MultiVectors(folder)) for folder in folders]
        self._firsts = Numbering(self._counts).firsts
        for names, count in zip(self._names, self._counts, strict=True):
            with self._server.connected() as client:
                known = client.collection_exists(names.posts)
                there = client.count(names.posts, exact=True).count if known else 0
            if there < count:
                raise InputError(
                    f"{self._server.url}: has {there:,} of the library's {count:,} posts; upload "
                    "the others with 'mathsetu graph upload'"
                )

    def search(
        self, queries: Sequence[Vectors], k: int, allowed: NDArray[np.bool_] | None = None
    ) -> list[Scored]:
        """The best posts of each query, among those allowed."""
        found: list[list[tuple[float, int]]] = [[] for _ in queries]
        asked = [number for number, query in enumerate(queries) if len(query)]
        for names, first, count in zip(self._names, self._firsts, self._counts, strict=True):
            here = None if allowed is None else allowed[first : first + count]
            if asked and (here is None or here.any()):
                requests = [self._request(queries[number], k, here) for number in asked]
                with self._server.connected() as client:
                    answers = client.query_batch_points(names.posts, requests)
                for number, answer in zip(asked, answers, strict=True):
                    parts = 1 if self._strategy == "single" else len(queries[number])
                    found[number] += (
                        (point.score / parts, first + point.id) for point in answer.points
                    )
        most = min(k, self._depth) if self._strategy == "document" else k
        return [_ranked(hits, most) for hits in found]

    def _request(self, query: Vectors, k: int, allowed: NDArray[np.bool_] | None) -> Any:
        models = self._server.models
        rows = query.tolist()
        exact = models.SearchParams(exact=self._exact, hnsw_ef=BREADTH)
        chosen = self._filter(allowed)
        if self._strategy == "single":
            return models.QueryRequest(
                query=rows[-1], using="doc", limit=k, params=exact, filter=chosen
            )
        first = None
        if self._strategy == "document":
            first = models.Prefetch(
                query=rows[-1], using="doc", limit=self._depth, params=exact, filter=chosen
            )
        return models.QueryRequest(
            query=rows, using="all", limit=k, params=exact, filter=chosen, prefetch=first
        )

    def _filter(self, allowed: NDArray[np.bool_] | None) -> Any:
        """A filter by the posts that may be found or those that may not, whichever are fewer."""
        if allowed is None or allowed.all():
            return None
        models = self._server.models
        if allowed.mean() <= 0.5:
            few = models.HasIdCondition(has_id=np.flatnonzero(allowed).tolist())
            return models.Filter(must=[few])
        return models.Filter(
            must_not=[models.HasIdCondition(has_id=np.flatnonzero(~allowed).tolist())]
        )


def _ranked(hits: Sequence[tuple[float, int]], k: int) -> Scored:
    """The best hits above zero; ties go to the earlier post."""
    ordered = sorted((hit for hit in hits if hit[0] > 0), key=lambda hit: (-hit[0], hit[1]))[:k]
    numbers = np.array([number for _, number in ordered], dtype=np.int64)
    return Scored(numbers, np.array([score for score, _ in ordered], dtype=np.float32))
