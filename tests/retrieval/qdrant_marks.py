"""Marks of tests that talk to a Qdrant server; benchmarks start one without pytest."""

from importlib.util import find_spec

import pytest

from tests.retrieval.qdrant_server import PROGRAM, qdrant_program

#: Marks tests that talk to a server; importing the client takes too long for those that do not.
needs_client = pytest.mark.skipif(
    find_spec("qdrant_client") is None, reason="the extra 'qdrant' is not installed"
)
#: Marks tests that start a server.
needs_server = pytest.mark.skipif(
    not qdrant_program(),
    reason=f"no Qdrant server: put 'qdrant' on the path, or name it in {PROGRAM}",
)
