"""Compares our lexical search with rank_bm25 and Gensim, and measures our formula search.

    python -m benchmarks.rivals [--part words|formulas]     (pip install 'mathsetu[rivals]')

words     ARQMath posts and English topics. Every library gets the same lists of tokens. A query
          scores every post and takes the best 1,000. Our index is written to disk and read from
          there; the others stay in memory.
formulas  All distinct formulas of the posts, with the topics of task 2: nDCG@10 over the topics
          with a formula of the posts judged 2 or 3; unjudged formulas count as not relevant.

Times are processor times on one core; libraries alternate, and the best round counts.
"""

from __future__ import annotations

import argparse
import gzip
import importlib
import json
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.shared import DATA, YEARS, arqmath_posts, judged, ndcg, topics
from mathsetu.collections.arqmath import read_topics
from mathsetu.formulas.parse import parse_latex
from mathsetu.languages.analyze import analyze, words
from mathsetu.recipes import load_recipe
from mathsetu.recipes.tables import read_table
from mathsetu.retrieval.base import best
from mathsetu.retrieval.formula import FormulaRetriever
from mathsetu.retrieval.formula_index import FormulaBuilder, FormulaSettings, feature_counts
from mathsetu.retrieval.postings import Postings, PostingsBuilder
from mathsetu.retrieval.weighting import Bm25Plus, Scheme, Smart, WeightedIndex

if TYPE_CHECKING:
    from numpy.typing import NDArray

Tokens = list[str]
#: Returns the scores of all documents for the tokens of a query.
Scorer = Callable[[Tokens], "NDArray[np.float32]"]
DEPTH = 1000
#: Number of formulas to return; each comes with its match, which takes time.
SHOWN = 10
ROUNDS = 3


def ours(documents: Sequence[Tokens], scheme: Scheme, folder: Path) -> Scorer:
    builder = PostingsBuilder()
    for document in documents:
        builder.add(Counter(document))
    builder.write(folder)
    index = WeightedIndex([Postings(folder)], scheme)
    everyone = np.arange(len(documents))
    return lambda query: index.weigh(Counter(query)).scores(everyone)


def rank_bm25(documents: Sequence[Tokens]) -> Scorer:
    library: Any = importlib.import_module("rank_bm25")
    index = library.BM25Plus(documents, k1=1.8, b=0.75, delta=1)
    return lambda query: np.asarray(index.get_scores(query), dtype=np.float32)


def gensim(documents: Sequence[Tokens]) -> Scorer:
    library: Any = importlib.import_module("gensim")
    dictionary = library.corpora.Dictionary(documents)
    bags = [dictionary.doc2bow(document) for document in documents]
    model = library.models.TfidfModel(bags, smartirs="lnc")
    index = library.similarities.SparseMatrixSimilarity(
        model[bags], num_features=len(dictionary), normalize_queries=False
    )
    return lambda query: np.asarray(index[model[dictionary.doc2bow(query)]], dtype=np.float32)


def compare_words(data: Path, place: Path) -> None:
    def tokens(text: str) -> Tokens:
        return analyze(words(text), "en", stemmer="porter")

    documents = [tokens(f"{p.title} {p.body} {p.question}") for p in arqmath_posts(data)]
    # Gensim ignores unknown words; removing them does not change the scores.
    known = {token for document in documents for token in document}
    asked = (tokens(f"{query.title} {query.text}") for query in topics("en", data))
    queries = [[token for token in query if token in known] for query in asked]
    makers: dict[str, Callable[[], Scorer]] = {
        "mathsetu, BM25+": lambda: ours(documents, Bm25Plus(1.8, 0.75, 1), place / "bm25"),
        "rank_bm25, BM25+": lambda: rank_bm25(documents),
        "mathsetu, TF-IDF lnc": lambda: ours(documents, Smart("lnc"), place / "lnc"),
        "gensim, TF-IDF lnc": lambda: gensim(documents),
    }
    built, scorers = {}, {}
    for name, make in makers.items():
        begun = time.process_time()
        scorers[name] = make()
        scorers[name](queries[0])  # the first query is part of building: it fills caches
        built[name] = time.process_time() - begun
    fastest = dict.fromkeys(makers, float("inf"))
    for _ in range(ROUNDS):
        for name, scorer in scorers.items():
            begun = time.process_time()
            for query in queries:
                best(scorer(query), DEPTH)
            fastest[name] = min(fastest[name], time.process_time() - begun)
    print(
        f"{len(documents):,} posts, {sum(map(len, documents)):,} tokens, {len(queries)} queries\n"
    )
    print("|  | build, s | a query, ms | largest difference to ours |\n|---|---|---|---|")
    for name, scorer in scorers.items():
        own = scorers[f"mathsetu, {name.partition(', ')[2]}"]
        apart = max(float(np.abs(scorer(query) - own(query)).max()) for query in queries)
        spent = fastest[name] / len(queries) * 1e3
        print(f"| {name} | {built[name]:.1f} | {spent:.2f} | {apart:.1g} |", flush=True)


def compare_formulas(data: Path, place: Path) -> None:
    names: dict[str, list[str]] = defaultdict(list)
    with gzip.open(data / "arqmath" / "formulas.jsonl.gz", "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            names[row["latex"]].append(row["visual_id"])
    settings = load_recipe("formula").parts["formulas"]
    chosen = {name: value for name, value in settings.items() if name != "kind"}
    choices = read_table(FormulaSettings, chosen, "parts.formulas")
    begun = time.process_time()
    builder = FormulaBuilder(choices)
    builder.add(list(names))
    for latex in names:
        builder.take(latex, feature_counts(parse_latex(latex)))
    builder.write(place / "formulas")
    retriever = FormulaRetriever([place / "formulas"], choices)
    retriever.formulas("x", 1)
    built = time.process_time() - begun
    print(f"\n{len(names):,} formulas built in {built:.0f} s\n")
    print("|  | topics | nDCG@10 | a query, ms |\n|---|---|---|---|")
    for year in YEARS:
        wanted = judged(year, data, task=2)
        asked = {
            query.id: query.formulas[0].latex
            for query in read_topics(data / "arqmath" / f"topics-task2-{year}.xml")
        }
        begun = time.process_time()
        found = {topic: retriever.formulas(asked[topic], SHOWN) for topic in wanted}
        spent = (time.process_time() - begun) / len(wanted) * 1e3
        rankings = {
            topic: [name for formula in ranked for name in names[formula.latex]]
            for topic, ranked in found.items()
        }
        mean = sum(ndcg(rankings[topic], wanted[topic]) for topic in wanted) / len(wanted)
        print(f"| mathsetu, {year} | {len(wanted)} | {mean:.3f} | {spent:.0f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--part", choices=["words", "formulas"], help="one part only")
    parser.add_argument("--data", type=Path, default=DATA)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if arguments.part != "formulas":
            compare_words(arguments.data, Path(folder))
        if arguments.part != "words":
            compare_formulas(arguments.data, Path(folder))


if __name__ == "__main__":
    main()
