"""A retriever for LangChain (extra ``langchain``).

from mathsetu.integrations.langchain import MathSetuRetriever

retriever = MathSetuRetriever(library="my.library", k=5)
retriever.invoke("prove that there are infinitely many primes")
"""

from __future__ import annotations

import os
from typing import Any, ClassVar

from mathsetu.integrations.documents import metadata_of, text_of
from mathsetu.library import Filter, Library
from mathsetu.models import require

_retrievers = require("langchain_core.retrievers", "a LangChain retriever", "langchain")
_documents = require("langchain_core.documents", "a LangChain retriever", "langchain")


_Retriever: Any = _retrievers.BaseRetriever


class MathSetuRetriever(_Retriever):
    """Retrieves posts of a library as documents, with their text and metadata.

    Attributes:
        library: The library, its folder or its address.
        k: How many posts.
        where: A filter for the posts.
        language: The language of questions; detected unless given.
    """

    model_config: ClassVar[Any] = {"arbitrary_types_allowed": True}

    library: Any
    k: int = 4
    where: Filter | None = None
    language: str = ""

    def model_post_init(self, context: Any) -> None:
        """Open the library once, for all questions."""
        super().model_post_init(context)
        if not isinstance(self.library, Library):
            self.library = Library(os.fspath(self.library))

    def _get_relevant_documents(self, query: str, *, run_manager: Any = None) -> list[Any]:
        hits = self.library.search(query, self.k, where=self.where, language=self.language)
        return [
            _documents.Document(id=hit.id, page_content=text_of(hit), metadata=metadata_of(hit))
            for hit in hits
        ]
