"""The fixture that the tests of clusters share."""

from tests.cluster.local import node

__all__ = ["node"]
