"""Measures how typed queries are read: formulas and languages detected, and time.

    python -m benchmarks.typed_queries [--file FILE] [--terms FILE] [--data DIR] [--wrong]

A formula is correct if exactly the expected span was read as one formula. The queries and terms
(tests/intake, tests/languages) were written before the code that reads queries.
"""

from __future__ import annotations

import argparse
import re
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks.shared import DATA
from mathsetu.collections.crossmath import read_topics
from mathsetu.intake.typed import read_typed
from mathsetu.languages.detect import Prior, detect, detect_in_words
from mathsetu.markup import split

ROOT = Path(__file__).resolve().parent.parent
QUERIES = ROOT / "tests" / "intake" / "typed_queries.tsv"
TERMS = ROOT / "tests" / "languages" / "terms.tsv"
_MARKED = re.compile("⟦(.*?)⟧")
_SIZES = (1_000, 10_000, 100_000)
_ODD = (
    "a ", "x+", "(", "()", "f(", "a, ", "1,", "1, ..., ", "|", "|x ", "||", "$", "\\", "\\frac{",
    "x^", "x^{", "{", "<math>", "<math></math",
    "sin ", "a-", "-", "1/", "word (", "(word ", "a_", "x:",
    "...", "a'", "a@", "http://a ", "²", "√", "²√", "∀", "Σ", "x\n", "a mod ", "\\left( ", "[a,",
    "a x^2 + b ", "lim ", "n!", "ab (", "x x", "\\text{a} ", "\\begin{align} ", "is x^2 prime or ",
)  # fmt: skip


class Expected(NamedTuple):
    """A query with its expected reading: the positions of its formulas, and its language."""

    kind: str
    language: str
    text: str
    formulas: tuple[tuple[int, int], ...]


def read_queries(path: Path) -> Iterator[Expected]:
    """Read the queries of a file, in which formulas are marked by ⟦ and ⟧."""
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        kind, language, marked = line.split("\t")
        text, places, position = "", [], 0
        for match in _MARKED.finditer(marked):
            text += marked[position : match.start()]
            places.append((len(text), len(text) + len(match[1])))
            text += match[1]
            position = match.end()
        yield Expected(kind, language.strip("-"), text + marked[position:], tuple(places))


def found_in(text: str) -> tuple[tuple[int, int], ...]:
    """The positions of the formulas in a typed query."""
    places, position = [], 0
    for span in read_typed(text):
        if span.kind == "formula":
            places.append((position, position + len(span.raw)))
        position += len(span.raw)
    return tuple(places)


def measure_formulas(queries: list[Expected], wrong: bool) -> tuple[float, float]:
    """Print and return precision and recall of the formulas."""
    right: Counter[str] = Counter()
    found: Counter[str] = Counter()
    expected: Counter[str] = Counter()
    whole: Counter[str] = Counter()
    count: Counter[str] = Counter(query.kind for query in queries)
    for query in queries:
        places = found_in(query.text)
        right[query.kind] += len(set(places) & set(query.formulas))
        found[query.kind] += len(places)
        expected[query.kind] += len(query.formulas)
        whole[query.kind] += places == query.formulas
        if wrong and places != query.formulas:
            read = [query.text[start:end] for start, end in places]
            print(f"    {query.kind}: {query.text!r} read as {read}")
    print("kind          queries  read as expected  precision  recall")
    for kind in [*count, "all"]:
        kinds = list(count) if kind == "all" else [kind]
        r, f, e, w, n = (sum(c[k] for k in kinds) for c in (right, found, expected, whole, count))
        precision = f"{r / f:9.3f}" if f else "        -"
        recall = f"{r / e:7.3f}" if e else "      -"
        print(f"{kind:12} {n:8} {w / n:17.3f}  {precision} {recall}")
    total = sum(right.values())
    return total / max(sum(found.values()), 1), total / max(sum(expected.values()), 1)


def measure_titles(data: Path) -> None:
    """Print how well formulas of real titles are found without their delimiters.

    Single letters and numbers are not counted: without dollar signs they are words.
    """
    expected = exact = touched = found = beside = 0
    for path in sorted((data / "crossmath" / "topics").glob("*.tsv")):
        for topic in read_topics(path):
            text, places = "", set()
            for span in split(topic.title):
                written = span.content.strip() if span.kind == "formula" else span.raw
                if span.kind == "formula" and len(written) > 1 and not written.isdigit():
                    places.add((len(text), len(text) + len(written)))
                text += written
            read = found_in(text)
            expected += len(places)
            found += len(read)
            exact += len(places.intersection(read))
            touched += sum(any(s < e2 and s2 < e for s, e in read) for s2, e2 in places)
            beside += sum(not any(s < e2 and s2 < e for s2, e2 in places) for s, e in read)
    print(
        f"titles of topics without their dollars: {expected} formulas, {exact / expected:.3f} "
        f"found as they were, {touched / expected:.3f} found in part; {beside} of {found} found "
        "elsewhere"
    )


def read_terms(path: Path) -> list[tuple[str, tuple[str, ...]]]:
    """Read terms with the languages that they belong to."""
    rows = (line.split("\t") for line in path.read_text(encoding="utf-8").splitlines())
    return [(row[0], tuple(row[1].split())) for row in rows if not row[0].startswith("#")]


def measure_terms(
    terms: list[tuple[str, tuple[str, ...]]], name: str, prior: bool, wrong: bool
) -> float:
    """Print and return the share of terms of one language that are detected as such.

    With ``prior``, the language of a term is detected for a library that has posts in that
    language and in English.
    """
    right = Counter[str]()
    count = Counter[str]()
    likely = shared = 0
    for term, languages in terms:
        known = Prior(library=frozenset({languages[0], "en"})) if prior else Prior()
        found = detect(term, prior=known)
        if len(languages) > 1:
            shared += found.language in languages
            continue
        count[languages[0]] += 1
        right[languages[0]] += found.language in languages
        likely += bool({found.language, *found.likely} & set(languages))
        if wrong and found.language not in languages:
            print(f"    {term!r} is {languages[0]}, found {found}")
    total = sum(count.values())
    each = " ".join(f"{code} {right[code] / count[code]:.3f}" for code in count)
    print(
        f"terms, {name}: {sum(right.values()) / total:.3f} of {total} in one language ({each}); "
        f"{likely / total:.3f} read in it among others; "
        f"shared {shared / max(len(terms) - total, 1):.3f} of {len(terms) - total}"
    )
    return sum(right.values()) / total


def measure_languages(queries: list[Expected], wrong: bool) -> float:
    """Print and return the share of typed queries whose language is detected."""
    asked = [query for query in queries if query.language]
    right = 0
    for query in asked:
        words = "".join(s.content if s.kind == "text" else " " for s in read_typed(query.text))
        found = detect_in_words(words)
        right += found.language == query.language
        if wrong and found.language != query.language:
            print(f"    {query.text!r} is {query.language}, found {found}")
    print(f"queries with words: language of {right / len(asked):.3f} of {len(asked)}")
    return right / len(asked)


def measure_time() -> None:
    """Print the time for unrealistic texts of 1, 10 and 100 kB."""
    slowest: list[tuple[float, ...]] = []
    for piece in _ODD:
        seconds = []
        for size in _SIZES:
            text = (piece * size)[:size]
            begun = time.process_time()
            read_typed(text)
            seconds.append(time.process_time() - begun)
        slowest.append((*reversed(seconds), len(slowest)))
    print("slowest texts (repeated)      1 kB    10 kB   100 kB, milliseconds")
    for *seconds, number in sorted(slowest, reverse=True)[:6]:
        cells = "".join(f"{1000 * one:9.1f}" for one in reversed(seconds))
        print(f"  {_ODD[int(number)]!r:22} {cells}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--file", type=Path, default=QUERIES, help="queries with marked formulas")
    parser.add_argument("--terms", type=Path, default=TERMS, help="terms and their languages")
    parser.add_argument("--data", type=Path, default=DATA, help="the public evaluation data")
    parser.add_argument("--wrong", action="store_true", help="print what was read otherwise")
    arguments = parser.parse_args()
    queries = list(read_queries(arguments.file))
    measure_formulas(queries, arguments.wrong)
    if (arguments.data / "crossmath").exists():
        measure_titles(arguments.data)
    measure_languages(queries, arguments.wrong)
    terms = read_terms(arguments.terms)
    measure_terms(terms, "nothing known", prior=False, wrong=arguments.wrong)
    measure_terms(terms, "library known", prior=True, wrong=arguments.wrong)
    measure_time()


if __name__ == "__main__":
    main()
