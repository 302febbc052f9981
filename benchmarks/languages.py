"""Measures the package `languages`: language detection, speed of analysis, and the stemmers.

    python -m benchmarks.languages [--data DIR]

Language detection is measured on the CrossMath topics (title only, title and body), on problems in
other languages, and on a few words of these in libraries of two languages; speed on the topics.
Stemmers are measured on the forms of the glossary: how many pairs of forms of one word get the same
stem, and how many words typed without accents get the stem of the accented word.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path

from benchmarks.shared import DATA
from mathsetu.languages.analyze import analyze, words
from mathsetu.languages.detect import Prior, detect
from mathsetu.languages.glossary import Glossary
from mathsetu.languages.normalise import fold, normalise
from mathsetu.languages.stem import stemmer
from mathsetu.languages.table import LANGUAGES, ROWS, language
from mathsetu.languages.transliterate import romanise

Topics = dict[str, list[tuple[str, str]]]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, default=DATA, help="the public evaluation data")
    arguments = parser.parse_args()
    topics = read_topics(arguments.data / "crossmath" / "topics")
    detection(topics)
    strangers(arguments.data / "math-problems")
    pieces(arguments.data / "math-problems")
    speed(topics)
    stemmers()


def read_topics(folder: Path) -> Topics:
    topics: Topics = {}
    for row in LANGUAGES.values():
        lines = (folder / f"{row.nllb}.tsv").read_text(encoding="utf-8").splitlines()
        cells = [line.split("\t") for line in lines]
        topics[row.code] = [(cell[1], f"{cell[1]} {cell[2]}") for cell in cells]
    return topics


def detection(topics: Topics) -> None:
    detect("loads the model, which is not what is timed")
    print("detection, share of topics         " + "".join(f"{code:>7}" for code in topics))
    for which, name in enumerate(("title alone", "title and body")):
        shares: list[float] = []
        either: list[bool] = []
        texts = 0
        start = time.process_time()
        for code, rows in topics.items():
            found = [detect(row[which]).language for row in rows]
            texts += len(rows)
            shares.append(found.count(code) / len(rows))
            if code in ("hi", "ne"):
                either += [one in ("hi", "ne") for one in found]
        each = (time.process_time() - start) / texts * 1000
        print(f"  {name:33}" + "".join(f"{share:7.3f}" for share in shares))
        print(f"    hi or ne {sum(either) / len(either):.3f}; {each:.2f} ms a text")
        latin = Counter(detect(romanise(row[which])).language for row in topics["hi"])
        print(f"    Hindi in Latin letters {latin['hi'] / len(topics['hi']):.3f}")


def strangers(folder: Path) -> None:
    """Texts in other languages: none should be detected as one of ours with confidence."""
    right = wrong = sure = total = 0
    for path in sorted(folder.glob("queries.math100.*.jsonl")):
        if language(path.name.split(".")[2]).name in {row.name for row in LANGUAGES.values()}:
            continue
        for line in path.read_text(encoding="utf-8").splitlines():
            found = detect(json.loads(line)["question"])
            total += 1
            ours = found.language in LANGUAGES
            wrong += ours
            right += not ours
            sure += ours and found.confidence >= 0.9
    print(f"other languages: {total} texts, {wrong} called one of ours, {sure} with 0.9 or more")


def pieces(folder: Path) -> None:
    """Detect short pieces of problems in Latin script, in libraries of English and one other."""
    print("words in a row of problems: the first language, or a likely one, is right")
    print("  asked in a library of      " + "".join(f"{count:>10} words" for count in (1, 2, 4)))
    english = list(_problems(folder / "queries.math100.English.jsonl"))
    for code, row in ROWS.items():
        path = folder / f"queries.math100.{row.name}.jsonl"
        if row.script != "Latn" or code == "en" or not path.exists():
            continue
        for page, asked, texts in (
            ("", code, list(_problems(path))),
            (code, code, list(_problems(path))),
            ("", "en", english),
        ):
            prior = Prior(page, frozenset({"en", code}))
            cells = []
            for count in (1, 2, 4):
                found = [detect(piece, prior=prior) for piece in _in_a_row(texts, count)]
                first = sum(one.language == asked for one in found) / len(found)
                any_of = (one.likely or (one.language,) for one in found)
                likely = sum(asked in codes for codes in any_of) / len(found)
                cells.append(f"  {first:6.3f} {likely:6.3f} ")
            where = f"en, {code}" + (f", page {page}" if page else "")
            print(f"  {asked} {where:22}" + "".join(cells))


def _problems(path: Path) -> Iterator[str]:
    for line in path.read_text(encoding="utf-8").splitlines():
        yield words(json.loads(line)["question"])


def _in_a_row(texts: Sequence[str], count: int) -> Iterator[str]:
    """Yield pieces of ``count`` words from the beginnings of texts, if they have a long word."""
    for text in texts:
        tokens = text.split()[:20]
        for start in range(0, len(tokens) - count + 1, count):
            piece = tokens[start : start + count]
            if any(sum(map(str.isalpha, word)) > 3 for word in piece):
                yield " ".join(piece)


def speed(topics: Topics) -> None:
    print("analysis                     MB/s   tokens/s")
    for code, rows in topics.items():
        text = "\n".join(words(row[1]) for row in rows)
        for name in ("first time", "again"):
            start = time.process_time()
            tokens = len(analyze(text, code))
            seconds = time.process_time() - start
            size = len(text.encode()) / 1e6
            print(f"  {code} {name:20} {size / seconds:8.1f} {tokens / seconds:10.0f}")


def stemmers() -> None:
    print("stemmers, on the forms of the glossary")
    glossary = Glossary.load()
    for code in LANGUAGES:
        rows = [concept.forms[code] for concept in glossary]
        pairs = {pair for row in rows for pair in related(row)}
        singles = {word for pair in pairs for word in pair}
        names = {"none", LANGUAGES[code].stemmer} | {"en": {"porter"}, "hr": {"serbian"}}.get(
            code, set()
        )
        for name in sorted(names):
            stem = stemmer(name)
            key = {word: fold(stem(normalise(word))) for word in singles}
            met = sum(key[one] == key[other] for one, other in pairs)
            typed = sum(fold(stem(fold(normalise(word)))) == key[word] for word in singles)
            print(
                f"  {code} {name:10} {met / len(pairs):.3f} of {len(pairs)} pairs of forms meet; "
                f"{typed / len(singles):.3f} of words when typed without accents"
            )


def related(row: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield pairs of forms of one word: in the same position, with most letters in common."""
    forms = [form.lower().split() for form in row]
    for first, second in combinations(forms, 2):
        if len(first) != len(second):
            continue
        for one, other in zip(first, second, strict=True):
            common = next(
                (
                    place
                    for place, (a, b) in enumerate(zip(fold(one), fold(other), strict=False))
                    if a != b
                ),
                min(len(one), len(other)),
            )
            close = common >= max(3, 0.6 * min(len(one), len(other)))
            if one != other and min(len(one), len(other)) > 3 and close:
                yield (one, other) if one < other else (other, one)


if __name__ == "__main__":
    main()
