"""A retriever for LlamaIndex (extra ``llama-index``).

from mathsetu.integrations.llama_index import MathSetuRetriever

retriever = MathSetuRetriever("my.library", k=5)
retriever.retrieve("prove that there are infinitely many primes")
"""

from __future__ import annotations

import os
from typing import Any

from mathsetu.integrations.documents import metadata_of, text_of
from mathsetu.library import Filter, Library
from mathsetu.models import require

_retrievers = require("llama_index.core.retrievers", "a LlamaIndex retriever", "llama-index")
_schema = require("llama_index.core.schema", "a LlamaIndex retriever", "llama-index")


_Retriever: Any = _retrievers.BaseRetriever


class MathSetuRetriever(_Retriever):
    """Retrieves posts of a library as nodes, with their text and metadata."""

    def __init__(
        self,
        library: Library | str | os.PathLike[str],
        k: int = 4,
        *,
        where: Filter | None = None,
        language: str = "",
        **others: Any,
    ) -> None:
        """Search a library.

        Args:
            library: The library, its folder or its address.
            k: How many posts.
            where: A filter for the posts.
            language: The language of questions; detected unless given.
            others: Arguments of LlamaIndex's base retriever.
        """
        self._library = library if isinstance(library, Library) else Library(os.fspath(library))
        self._k, self._where, self._language = k, where, language
        super().__init__(**others)

    def _retrieve(self, query_bundle: Any) -> list[Any]:
        hits = self._library.search(
            query_bundle.query_str, self._k, where=self._where, language=self._language
        )
        return [
            _schema.NodeWithScore(
                node=_schema.TextNode(id_=hit.id, text=text_of(hit), metadata=metadata_of(hit)),
                score=hit.score,
            )
            for hit in hits
        ]
