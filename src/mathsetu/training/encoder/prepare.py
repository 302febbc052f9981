"""Stage 1: turn raw material into clean pairs, without texts of the evaluation."""

from __future__ import annotations

import gzip
import json
import lzma
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from mathsetu.errors import InputError, RowError
from mathsetu.training.encoder.alignment import align_words
from mathsetu.training.encoder.code_switching import BORROWED, Learned, Lexicon, make_lexicon
from mathsetu.training.encoder.nepali import near_nepali
from mathsetu.training.encoder.overlap import Overlap
from mathsetu.training.encoder.sources import (
    LANGUAGES,
    PARALLEL,
    Answered,
    Translation,
    answered,
    dictionary,
    translations,
)

#: The files that the next stage reads.
FILES = ("parallel.tsv.xz", "answered.jsonl.xz", "lexicon.json.xz")
#: Natural translations of Hindi school mathematics, held out to measure English to Hindi.
_HELD_OUT_SOURCES = frozenset({"ncert", "hi_qbanks_math"})
#: One in this many non-mathematical Hindi pairs is also converted to Nepali.
_NEPALI_OF_THE_REST = 3


def prepare(data: Path, avoid: Iterable[str], folder: Path, held_out: int = 5000) -> Counter[str]:
    """Write the prepared folder; return counts of kept and dropped pairs.

    Args:
        data: The folder with the raw material (see `sources`).
        avoid: Topics and queries; texts that share ten words in a row with them are dropped.
        folder: A new folder for ``parallel.tsv.xz``, ``answered.jsonl.xz``, ``lexicon.json.xz``
            and ``held-out.hi.tsv``.
        held_out: The number of Hindi pairs to hold out for evaluation.
    """
    folder.mkdir(parents=True, exist_ok=True)
    counts: Counter[str] = Counter()
    kept_aside = _held_out(data, held_out)
    with (folder / "held-out.hi.tsv").open("w", encoding="utf-8") as file:
        file.writelines(f"{pair.english}\t{pair.other}\n" for pair in kept_aside)
    sieve = _TextFilter(avoid, kept_aside)
    kept: dict[str, list[tuple[str, str]]] = {language: [] for language in PARALLEL}
    with lzma.open(folder / "parallel.tsv.xz", "wt", encoding="utf-8", preset=6) as file:
        for language in PARALLEL:
            for pair in translations(data, language):
                wrong = sieve.reason_to_drop(pair.english, pair.other)
                counts[f"{language}: {wrong or 'kept'}"] += 1
                if not wrong:
                    kept[language].append((pair.english, pair.other))
                    file.write(_row(pair))
                    nepali = to_near_nepali(pair)
                    if nepali and not sieve.reason_to_drop(nepali.other):
                        counts["ne: made of Hindi"] += 1
                        file.write(_row(nepali))
    with lzma.open(folder / "answered.jsonl.xz", "wt", encoding="utf-8", preset=6) as file:
        for row in answered(data):
            wrong = sieve.reason_to_drop(row.question, row.answer)
            counts[f"questions: {wrong or 'kept'}"] += 1
            if not wrong:
                file.write(_line(row))
    learned: dict[str, Learned] = {name: align_words(pairs) for name, pairs in kept.items()}
    with lzma.open(folder / "lexicon.json.xz", "wt", encoding="utf-8") as file:
        lexicons = {language: _lexicon(language, data, learned) for language in LANGUAGES}
        json.dump({name: dict(lexicon.phrases) for name, lexicon in lexicons.items()}, file)
    return counts


class _TextFilter:
    """Decides which texts must not be used for training."""

    def __init__(self, avoid: Iterable[str], kept_aside: Iterable[Translation]) -> None:
        aside = [text for pair in kept_aside for text in (pair.english, pair.other)]
        self._unseen = Overlap(avoid)
        # Question banks have near-duplicates: texts close to a held-out pair are dropped, too.
        self._near = Overlap(aside)
        self._equal = {text.casefold() for text in aside}

    def reason_to_drop(self, *texts: str) -> str:
        """Return why the texts must be dropped, or an empty string."""
        if any(map(self._unseen.overlaps, texts)):
            return "overlaps a topic"
        if any(self._near.overlaps(text) or text.casefold() in self._equal for text in texts):
            return "near a held-out pair"
        return ""


def _lexicon(language: str, data: Path, learned: Mapping[str, Learned]) -> Lexicon:
    source = BORROWED.get(language, language)
    entries, words = dictionary(data, source), learned[source]
    if language == "ne":
        entries = ((english, near_nepali(other)) for english, other in entries)
        words = {
            english: [(near_nepali(other), share) for other, share in forms]
            for english, forms in words.items()
        }
    return make_lexicon(language, entries, words)


def unseen_texts(paths: Iterable[Path]) -> Iterator[str]:
    """Yield the texts of files to avoid: lines, columns of a table, or values of JSON lines."""
    for path in paths:
        opened = gzip.open if path.suffix == ".gz" else open
        try:
            with opened(path, "rt", encoding="utf-8") as lines:
                for number, line in enumerate(lines, 1):
                    yield from _columns(path, number, line)
        except (OSError, EOFError, UnicodeDecodeError) as error:
            raise InputError(f"{path}: cannot be read ({error})") from None


def _columns(path: Path, number: int, line: str) -> list[str]:
    if not line.startswith("{"):
        return line.rstrip("\n").split("\t")
    try:
        return [value for value in json.loads(line).values() if isinstance(value, str)]
    except ValueError as error:
        raise RowError(path, number, f"is not JSON ({error})") from None


def _held_out(data: Path, count: int) -> list[Translation]:
    """Choose the pairs with the smallest digests, so that the choice depends only on the texts."""
    found = {
        pair.english.casefold(): pair
        for pair in translations(data, "hi")
        if pair.source in _HELD_OUT_SOURCES and len(pair.english.split()) >= 4
    }
    return sorted(found.values(), key=lambda pair: sha256(pair.english.encode()).digest())[:count]


def to_near_nepali(pair: Translation) -> Translation | None:
    """Convert a Hindi pair to near-Nepali: all mathematical pairs, and a sample of the rest."""
    if pair.language != "hi":
        return None
    digest = sha256(f"{pair.english}\t{pair.other}".encode()).digest()
    if not pair.mathematical and int.from_bytes(digest[:8]) % _NEPALI_OF_THE_REST:
        return None
    return replace(pair, other=near_nepali(pair.other), language="ne")


def _row(pair: Translation) -> str:
    mathematical = "m" if pair.mathematical else ""
    return "\t".join((pair.language, mathematical, pair.english, pair.other)) + "\n"


def _line(row: Answered) -> str:
    return json.dumps([row.question, row.answer, row.language], ensure_ascii=False) + "\n"
