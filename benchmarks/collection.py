r"""A collection of any size for measuring: real sentences and formulas, put together again.

    python -m benchmarks.collection 250000 --out posts.jsonl
    python -m benchmarks.collection 60000 --real --out posts.jsonl
    mathsetu index library posts.jsonl

Sentences come from the question-answer pairs of ``../shared/data/training/qa.jsonl.xz``. A post has
as many sentences as a pair drawn by chance, in its language; the sentences are drawn by chance, so
that words are as frequent as they really are. Each formula of a sentence is replaced: by one drawn
from all occurrences of formulas (so $x$ comes as often as it really does), or by a formula of
``formulas.tsv.xz`` or the pairs whose letters and numbers are changed, so that the number of
distinct formulas grows with the collection as it does in ARQMath's (10 million among 25 million).

Tags are those of a real ARQMath answer where that data is there; ``common`` is on four posts of
ten and ``rare`` on ten posts of the collection, for measuring filters. Post 17 is the same in
collections of all sizes, but for that tag. Memory does not depend on the size. With ``--real``
the posts are pairs as they are, drawn by chance: there are 137,000.
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

# Stands in a sentence where a formula goes.
_SLOT = "\ue000"
_FORMULA = re.compile(r"\$\$([^$]+)\$\$|\$([^$]+)\$")
# What is left of money, of other ways to write formulas, and of the sources of books.
_LEFT_OVER = re.compile(r"\$|\\[()\[\]]|\\(?:begin|end|label|bibitem|PM[a-z]+)\b|\[asy\]|<<")
# Words one after the other: the text between two formulas, taken for one.
_PROSE = re.compile(r"(?<![\\A-Za-z{])[A-Za-z]{3,}[,.]? [A-Za-z]{2,}|://|\]\(|\[\[|<<")
_TEXT = re.compile(r"\\text[a-z]*\s*\{[^{}]*\}")
# Commands, names of environments and texts stay; single letters and numbers change.
_PIECE = re.compile(
    r"(\\(?:begin|end|text[a-z]*|operatorname|mathrm|mathbf|mathsf|tag|label|color)\*?\s*\{[^{}]*\}"
    r"|\\[A-Za-z]+|\\.|[A-Za-z]{2,})|([A-Za-z])|(\d+)"
)
# Letters that stand for the same kind of thing.
_KINDS = ("abcd", "fgh", "ijklmn", "pqrst", "uvwxyz", "ABCDEFGH", "KLMNPQRS", "TUVWXYZ")
# Of the formulas of posts, so many are not among those seen before.
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
        """Take the sentences of a text; gives how many there are."""

        def slot(found: re.Match[str]) -> str:
            latex = (found[1] or found[2]).strip()
            if not is_formula(latex):
                # Its dollars stay, and its sentence is left out.
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
        """One post of the collection, as our JSON Lines have it."""
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
        """A formula as frequent as it really is, or a new one."""
        if random.random() < _NEW:
            return changed(random.choice(self.patterns), random)
        return random.choice(self.occurrences)

    def posts(self, count: int, seed: int) -> Iterator[dict[str, Any]]:
        """All posts, one after the other."""
        rare = {count * place // _RARE for place in range(_RARE)}
        for number in range(count):
            post = self.post(number, seed)
            if number in rare:
                post["tags"] = [*post.get("tags", []), "rare"]
            yield post


def is_formula(latex: str) -> bool:
    r"""Whether it is not the prose between two formulas or sums of money, taken for a formula.

    >>> is_formula(r"x > 0 \text{ for all } x"), is_formula("8 each. The problem is")
    (True, False)
    """
    prose = _PROSE.search(_TEXT.sub("", latex))
    return 0 < len(latex) <= _LONGEST_FORMULA and "$" not in latex and not prose


def changed(latex: str, random: Random) -> str:
    r"""A formula with other letters of the same kind, and other numbers as long as before.

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
        # Noughts and ones are part of the structure.
        return (
            digits
            if digits in "01"
            else str(random.randint(1, 9)) + "".join(str(random.randint(0, 9)) for _ in digits[1:])
        )

    return _PIECE.sub(other, latex)


def real_posts(data: Path, count: int, seed: int) -> Iterator[dict[str, Any]]:
    """Pairs of a question and its answer as they are."""
    pairs = list(_pairs(data))
    for number in sorted(Random(seed).sample(range(len(pairs)), min(count, len(pairs)))):
        row = pairs[number]
        yield {"id": f"p{number}", "question": row["q"], "body": row["a"], "language": row["lang"]}


def write(path: str | Path, posts: Iterator[dict[str, Any]]) -> None:
    """Write a collection; posts leave out their formulas, which are found in their texts."""
    with writing(path) as file:
        file.write(json.dumps({"mathsetu": "posts", "version": VERSION}) + "\n")
        for post in posts:
            file.write(json.dumps(post, ensure_ascii=False) + "\n")


def _pairs(data: Path) -> Iterator[dict[str, str]]:
    with lzma.open(data / "training" / "qa.jsonl.xz", "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _formulas(data: Path) -> Iterator[str]:
    """The formulas of the other file, but for prose that stands between formulas."""
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
    """What a sample of the collection is like."""
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
