r"""Makes a synthetic collection of any size from real sentences and formulas, for benchmarks.

    python -m benchmarks.collection 250000 --out posts.jsonl
    python -m benchmarks.collection 60000 --real --out posts.jsonl
    mathsetu index library posts.jsonl

Sentences come from the question-answer pairs of ``../shared/data/training/qa.jsonl.xz``. A post
has the language and the number of sentences of a randomly drawn pair. Its sentences are drawn at
random, so that words keep their frequencies. Each formula of a sentence is replaced: either by one
drawn from all occurrences of formulas (so $x$ keeps its frequency), or by a formula of
``formulas.tsv.xz`` or of the pairs with changed letters and numbers, so that the number of distinct
formulas grows with the collection as in ARQMath (10 million among 25 million).

Tags are those of a real ARQMath answer if that data exists; ``common`` is added to four posts of
ten and ``rare`` to ten posts of the collection, to measure filters. Apart from that tag, post 17 is
the same in collections of all sizes. Memory use does not depend on the size. With ``--real``, the
posts are unchanged pairs, drawn at random: there are 137,000.
"""

from __future__ import annotations

import argparse
import gzip
import json
import lzma
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.shared import DATA
from mathsetu.collections.files import writing
from mathsetu.collections.jsonl import VERSION
from mathsetu.languages.sentences import sentences

# Placeholder for a formula in a sentence.
_SLOT = "\ue000"
_FORMULA = re.compile(r"\$\$([^$]+)\$\$|\$([^$]+)\$")
# Remains of money amounts, of other delimiters of formulas, and of LaTeX sources of books.
_LEFT_OVER = re.compile(r"\$|\\[()\[\]]|\\(?:begin|end|label|bibitem|PM[a-z]+)\b|\[asy\]|<<")
# Several words in a row: the text between two formulas, mistaken for a formula.
_PROSE = re.compile(r"(?<![\\A-Za-z{])[A-Za-z]{3,}[,.]? [A-Za-z]{2,}|://|\]\(|\[\[|<<")
_TEXT = re.compile(r"\\text[a-z]*\s*\{[^{}]*\}")
# Commands, names of environments and texts are kept; single letters and numbers are replaced.
_PIECE = re.compile(
    r"(\\(?:begin|end|text[a-z]*|operatorname|mathrm|mathbf|mathsf|tag|label|color)\*?\s*\{[^{}]*\}"
    r"|\\[A-Za-z]+|\\.|[A-Za-z]{2,})|([A-Za-z])|(\d+)"
)
# Letters that are used for the same kind of object.
_KINDS = ("abcd", "fgh", "ijklmn", "pqrst", "uvwxyz", "ABCDEFGH", "KLMNPQRS", "TUVWXYZ")
# The share of formulas in posts that are new.
_NEW = 0.45
_LONGEST_FORMULA, _LONGEST_SENTENCE = 300, 600
_COMMON, _RARE = 0.4, 10


class Material:
    """Real sentences and formulas."""

    def __init__(self, data: Path) -> None:
        #: Sentences by language, with slots for formulas.
        self.sentences: dict[str, list[str]] = {}
        #: The language of each pair, and how many sentences its question and its answer have.
        self.shapes: list[tuple[str, int, int]] = []
        #: Every occurrence of a formula in the pairs.
        self.occurrences: list[str] = []
        #: Formulas that are changed to make new ones.
        self.patterns: list[str] = []
        known: dict[str, str] = {}
        for row in _pairs(data):
            question, answer = (self._read(row[key], row["lang"], known) for key in "qa")
            if answer:
                self.shapes.append((row["lang"], question, answer))
        self.patterns += known
        self.patterns += (latex for latex in _formulas(data) if latex not in known)
        self.tags = _tags(data)

    def _read(self, text: str, language: str, known: dict[str, str]) -> int:
        """Collect the sentences of a text; return their number."""

        def slot(found: re.Match[str]) -> str:
            latex = (found[1] or found[2]).strip()
            if not is_formula(latex):
                # Its dollar signs remain, so that its sentence is left out.
                return found[0]
            # One string for all occurrences of a formula.
            self.occurrences.append(known.setdefault(latex, latex))
            return _SLOT

        kept = 0
        for sentence in sentences(_FORMULA.sub(slot, text)):
            sentence = " ".join(sentence.split())
            if 1 < len(sentence) <= _LONGEST_SENTENCE and not _LEFT_OVER.search(sentence):
                self.sentences.setdefault(language, []).append(sentence)
                kept += 1
        return kept

    def post(self, number: int, seed: int) -> dict[str, Any]:
        """Make one post of the collection, as a row of our JSON Lines."""
        random = Random(f"{seed}/{number}")
        language, question, answer = random.choice(self.shapes)
        pool = self.sentences[language]

        def text(count: int) -> str:
            chosen = " ".join(random.choice(pool) for _ in range(count))
            first, *rest = chosen.split(_SLOT)
            return first + "".join(f"${self.formula(random)}${piece}" for piece in rest)

        tags = list(random.choice(self.tags)) if self.tags else []
        if random.random() < _COMMON:
            tags.append("common")
        post = {
            "id": str(number),
            "title": text(1),
            "body": text(answer),
            "question": text(max(question - 1, 0)),
            "tags": tags,
            "language": language,
            "kind": "answer",
            "parent_id": f"q{number}",
        }
        return {key: value for key, value in post.items() if value}

    def formula(self, random: Random) -> str:
        """Draw a formula by its frequency, or make a new one."""
        if random.random() < _NEW:
            return changed(random.choice(self.patterns), random)
        return random.choice(self.occurrences)

    def posts(self, count: int, seed: int) -> Iterator[dict[str, Any]]:
        """Make all posts."""
        rare = {count * place // _RARE for place in range(_RARE)}
        for number in range(count):
            post = self.post(number, seed)
            if number in rare:
                post["tags"] = [*post.get("tags", []), "rare"]
            yield post


def is_formula(latex: str) -> bool:
    r"""Whether a text is a formula, and not prose between two formulas or amounts of money.

    >>> is_formula(r"x > 0 \text{ for all } x"), is_formula("8 each. The problem is")
    (True, False)
    """
    prose = _PROSE.search(_TEXT.sub("", latex))
    return 0 < len(latex) <= _LONGEST_FORMULA and "$" not in latex and not prose


def changed(latex: str, random: Random) -> str:
    r"""Replace letters by others of the same kind, and numbers by others of the same length.

    >>> changed(r"\frac{a+b}{2} = f(10x)", Random(1))
    '\\frac{b+c}{9} = f(22y)'
    """
    letters: dict[str, str] = {}
    for kind in _KINDS:
        letters |= zip(kind, random.sample(kind, len(kind)), strict=True)

    def other(found: re.Match[str]) -> str:
        kept, letter, digits = found.groups()
        if kept:
            return str(kept)
        if letter:
            return letters.get(letter, letter)
        # Zeros and ones are part of the structure.
        return (
            digits
            if digits in "01"
            else str(random.randint(1, 9)) + "".join(str(random.randint(0, 9)) for _ in digits[1:])
        )

    return _PIECE.sub(other, latex)


def real_posts(data: Path, count: int, seed: int) -> Iterator[dict[str, Any]]:
    """Yield pairs of a question and its answer, unchanged."""
    pairs = list(_pairs(data))
    for number in sorted(Random(seed).sample(range(len(pairs)), min(count, len(pairs)))):
        row = pairs[number]
        yield {"id": f"p{number}", "question": row["q"], "body": row["a"], "language": row["lang"]}


def write(path: str | Path, posts: Iterator[dict[str, Any]]) -> None:
    """Write a collection; rows have no list of formulas, because the texts contain them."""
    with writing(path) as file:
        file.write(json.dumps({"mathsetu": "posts", "version": VERSION}) + "\n")
        for post in posts:
            file.write(json.dumps(post, ensure_ascii=False) + "\n")


def _pairs(data: Path) -> Iterator[dict[str, str]]:
    with lzma.open(data / "training" / "qa.jsonl.xz", "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _formulas(data: Path) -> Iterator[str]:
    """Read the formulas of the file of formulas, without prose between formulas."""
    with lzma.open(data / "training" / "formulas.tsv.xz", "rt", encoding="utf-8") as lines:
        for line in lines:
            latex = line.partition("\t")[0].strip()
            if is_formula(latex):
                yield latex


def _tags(data: Path) -> list[tuple[str, ...]]:
    """The tags of each ARQMath answer."""
    path = data / "arqmath" / "posts.jsonl.gz"
    if not path.is_file():
        return []
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [tuple(json.loads(line)["tags"]) for line in lines]


def _figures(material: Material, count: int, seed: int) -> str:
    """Describe a sample of the collection."""
    formulas: Counter[str] = Counter()
    characters = 0
    for number in range(count):
        post = material.post(number, seed)
        texts = [post.get(key, "") for key in ("title", "question", "body")]
        characters += sum(map(len, texts))
        formulas.update(one for text in texts for _, one in _FORMULA.findall(text))
    total = sum(formulas.values())
    return (
        f"{characters / count:.0f} characters, {total / count:.1f} formulas and "
        f"{len(formulas) / count:.1f} distinct ones per post among the first {count:,}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("posts", type=int, help="how many posts")
    parser.add_argument("--out", default="-", help="the file to write (default: standard output)")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--real", action="store_true", help="pairs as they are")
    options = parser.parse_args()
    if options.real:
        write(options.out, real_posts(options.data, options.posts, options.seed))
        return
    material = Material(options.data)
    if options.posts:
        sample = min(options.posts, 2000)
        print(_figures(material, sample, options.seed), file=sys.stderr)
    write(options.out, material.posts(options.posts, options.seed))


if __name__ == "__main__":
    main()
