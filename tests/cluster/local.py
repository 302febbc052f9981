"""The local engine of qdrant-client instead of a server, for quick tests of our own logic."""

import warnings
from contextlib import contextmanager

import pytest

from mathsetu.cluster.client import Cluster


class LocalClient:
    """The client of a server that lives in this process, with a server's errors."""

    def __init__(self):
        from qdrant_client import QdrantClient

        self._client = QdrantClient(":memory:")
        #: Requests to collections with such a text in their names fail as if no node answered.
        self.away = set()
        self.requests = []
        #: Called before each request with the name of the method and that of the collection.
        self.watch = lambda name, asked: None

    def __getattr__(self, name):
        method = getattr(self._client, name)

        def call(*arguments, **options):
            from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

            asked = str(arguments[0]) if arguments else ""
            self.requests.append((name, asked))
            self.watch(name, asked)
            if any(part in asked or part == "all" for part in self.away):
                raise ResponseHandlingException(ConnectionError("connection refused"))
            try:
                with warnings.catch_warnings():
                    # This engine warns that indexes of fields have no effect.
                    warnings.simplefilter("ignore")
                    return method(*arguments, **options)
            except ValueError as error:
                if "not found" in str(error):
                    raise UnexpectedResponse(404, "", str(error).encode(), None) from None
                raise

        return call

    def close(self):
        """Close nothing: the content outlives a connection."""


@contextmanager
def local_node():
    """A cluster of one node, which every address leads to."""
    pytest.importorskip("qdrant_client", reason="the extra 'qdrant' is not installed")
    client = LocalClient()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Cluster, "_client", staticmethod(lambda url, seconds: client))
        # Pauses are of no use here.
        patched.setattr("mathsetu.cluster.client._PAUSE", 0.0)
        patched.setattr("mathsetu.cluster.snapshot._REFRESH", 0.0)
        yield client


@pytest.fixture
def node():
    """A new cluster of one node."""
    with local_node() as client:
        yield client
