"""Libraries in folders and on a cluster, side by side."""

from mathsetu.cluster.client import connected
from mathsetu.cluster.layout import Spread
from mathsetu.cluster.publish import publish_library
from mathsetu.cluster.snapshot import Newest
from mathsetu.collections import sampler
from mathsetu.library import Library, build_library
from tests.light import LIGHT

ADDRESS = "qdrant://localhost/math"
QUERIES = (
    r"समाकल $\int_0^\infty \frac{\sin x}{x}dx$ का मान",
    "$a^2+b^2=c^2$",
    "suma de fracciones $\\frac{a}{b}+\\frac{c}{d}$ común $x$",
    "infinitely many primes",
)


def quiet(what, number):
    pass


def some_posts(count=60):
    """Posts of the sampler in all of its languages."""
    return list(sampler.posts())[:count]


def publish(folder, address=ADDRESS, **options):
    with connected(address) as cluster:
        return publish_library(cluster, folder, Spread(), quiet, **options)


def published(folder, posts, recipe=LIGHT, address=ADDRESS):
    """A library built in a folder and published: opened in both places."""
    build_library(folder, posts, recipe, processes=1)
    publish(folder, address)
    return Library(folder), Library(address)


def newest(address=ADDRESS):
    with connected(address) as cluster:
        return Newest(cluster).get()


def counts_of(address=ADDRESS):
    """How many documents have each term, by part, and how many documents there are."""
    snapshot = newest(address)
    found = {}
    for name, counts in snapshot.counts.items():
        table, part = counts.together(), snapshot.state.parts[name]
        terms = dict(zip(table.terms.tolist(), table.counts.tolist(), strict=True))
        found[name] = (terms, part.documents, round(part.length, 3))
    return found


def content_of(client, address=ADDRESS):
    """All points of a library's collections, as they can be found."""
    snapshot = newest(address)
    found = {}
    for collection in (snapshot.names.posts, *map(snapshot.names.part, snapshot.state.parts)):
        if client.collection_exists(collection):
            points, _ = client.scroll(
                collection, scroll_filter=snapshot.visible(), limit=10_000, with_vectors=True
            )
            found[collection.partition("-")[2].partition("-")[2]] = {
                point.id: (_now(point.payload, snapshot.state.version), str(point.vector))
                for point in points
            }
    return found


def _now(payload, version):
    """A payload without marks that count from a later version on."""
    marks = ("death", "counted")
    return {key: value for key, value in payload.items() if key not in marks or value <= version}


def nearly_equal(here, there):
    """Whether two lists of hits are the same up to the rounding of scores."""
    return [hit.id for hit in here] == [hit.id for hit in there] and all(
        abs(one.score - other.score) < 1e-5 for one, other in zip(here, there, strict=True)
    )
