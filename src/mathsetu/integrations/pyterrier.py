"""A transformer for PyTerrier pipelines and experiments (extra ``pyterrier``).

    from mathsetu.integrations.pyterrier import MathSetuRetriever

    first = MathSetuRetriever("my.library", k=100)
    pipeline = first % 50 >> my_reranker
    pt.Experiment([first, pipeline], topics, qrels, ["map", "nDCG@10"])

No Java is started.
"""

from __future__ import annotations

import os
from typing import Any

from mathsetu.library import Filter, Library
from mathsetu.models import require
from mathsetu.records import Post, Query

pyterrier = require("pyterrier", "a PyTerrier transformer", "pyterrier")
pandas = require("pandas", "a PyTerrier transformer", "pyterrier")


_Transformer: Any = pyterrier.Transformer


class MathSetuRetriever(_Transformer):
    """Ranks the posts of a library for topics.

    As in topics, formulas in queries are between dollars. If a frame also has documents
    (``docno``), these are reranked: only each topic's own documents are scored.
    """

    def __init__(
        self,
        library: Library | str | os.PathLike[str],
        k: int | None = None,
        *,
        where: Filter | None = None,
        language: str = "",
        text: bool = False,
    ) -> None:
        """Search a library.

        Args:
            library: The library, its folder or its address.
            k: How many posts for each topic; the number in the recipe unless given.
            where: A filter for the posts.
            language: The language of topics without a column ``language``; detected unless given.
            text: Whether to add the columns ``title`` and ``text``, which some rerankers read.
        """
        super().__init__()
        self._library = library if isinstance(library, Library) else Library(os.fspath(library))
        self._k, self._where, self._language, self._text = k, where, language, text

    def __repr__(self) -> str:
        return f"MathSetuRetriever({str(self._library.place)!r}, k={self._k})"

    def transform(self, inp: Any) -> Any:
        """The posts of each topic, with the columns of the topics."""
        with pyterrier.validate.any(inp) as valid:
            valid.result_frame(extra_columns=["query"], mode="rerank")
            valid.query_frame(extra_columns=["query"], mode="retrieve")
        own = ["docno", "score", "rank", *(("title", "text") if self._text else ())]
        topics = inp.drop_duplicates("qid")
        pools: dict[str, list[str]] | None = None
        if "docno" in inp.columns:
            pools = {str(qid): list(rows["docno"]) for qid, rows in inp.groupby("qid")}
        run = self._library.run(
            [self._query(row) for row in topics.to_dict("records")],
            self._k,
            where=self._where,
            pools=pools,
        )
        first_rank = pyterrier.model.FIRST_RANK
        rows = [
            (qid, hit.id, hit.score, rank, *self._texts(hit.id))
            for qid, hits in run.rankings.items()
            for rank, hit in enumerate(hits, start=first_rank)
        ]
        found = pandas.DataFrame(rows, columns=["qid", *own]).astype(
            {"qid": object, "docno": object, "score": float, "rank": int}
        )
        kept = topics.drop(columns=[name for name in own if name in topics.columns])
        return kept.astype({"qid": str}).merge(found, on="qid", how="inner")

    def _query(self, row: dict[str, Any]) -> Query:
        language = row.get("language")
        stated = language if isinstance(language, str) else self._language
        return Query(str(row["qid"]), str(row["query"]), language=stated)

    def _texts(self, post_id: str) -> tuple[str, ...]:
        if not self._text:
            return ()
        post: Post = self._library.post(post_id)
        return post.title, post.body
