"""Stage 2: make examples, each an English text with its translation, from the prepared pairs.

Examples are the pairs themselves; joined pairs with formulas between them, which resemble posts;
English mathematics with swapped words; and templates, typical sentences of askers in every
language, filled with terms of the glossary.
"""

from __future__ import annotations

import json
import lzma
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from mathsetu.errors import InputError
from mathsetu.languages.glossary.concepts import Concept, read_concepts
from mathsetu.pool import all_cores, ordered_map
from mathsetu.training.encoder.code_switching import Lexicon
from mathsetu.training.encoder.folders import found
from mathsetu.training.encoder.packs import Pack
from mathsetu.training.encoder.phonetic_spelling import SCRIPTS
from mathsetu.training.encoder.prepare import FILES
from mathsetu.training.encoder.sources import LANGUAGES
from mathsetu.training.encoder.tokenizer import load_tokenizer, train_tokenizer

#: Sampling weights: languages with little mathematics get more made examples.
_WEIGHTS = {"hi": 3, "es": 2, "cs": 3, "hr": 4, "fa": 4, "ne": 3}
_FORMULA = re.compile(r"\$[^$]{2,80}\$")
# Examples per task of a worker.
_PORTION = 5_000
# The share of English sides for training the tokenizer; other languages need the room.
_ENGLISH_SHARE = 0.25
# Characters of a question or answer of a thread: shorter ones are skipped, longer ones cut.
_SHORTEST = 25
_LONGEST = 600


@dataclass(frozen=True, slots=True)
class Example:
    """A text in two languages; ``kind`` names how it was made."""

    english: str
    other: str
    language: str
    kind: str


@dataclass(frozen=True)
class Amounts:
    """The number of examples of each kind to make."""

    joined: int = 300_000
    swapped: int = 800_000
    templates: int = 200_000


@dataclass(frozen=True)
class StageFiles:
    """The contents of the files of stage 1."""

    pairs: Mapping[str, Sequence[tuple[str, str]]]
    mathematics: Mapping[str, Sequence[tuple[str, str]]]
    answered: Sequence[tuple[str, str, str]]
    lexicons: Mapping[str, Lexicon]
    formulas: Sequence[str]


def read_prepared(folder: Path) -> StageFiles:
    """Read the folder that `prepare` wrote."""
    _require(folder, FILES)
    pairs: dict[str, list[tuple[str, str]]] = {}
    mathematics: dict[str, list[tuple[str, str]]] = {}
    for language, mathematical, english, other in read_parallel(folder):
        pairs.setdefault(language, []).append((english, other))
        if mathematical:
            mathematics.setdefault(language, []).append((english, other))
    with lzma.open(folder / "answered.jsonl.xz", "rt", encoding="utf-8") as lines:
        answered = [tuple(json.loads(line)) for line in lines]
    with lzma.open(folder / "lexicon.json.xz", "rt", encoding="utf-8") as file:
        phrases = json.load(file)
    lexicons = {
        language: Lexicon(
            {phrase: tuple(forms) for phrase, forms in table.items()}, SCRIPTS.get(language, "")
        )
        for language, table in phrases.items()
    }
    formulas = [f for q, _, _ in answered[:40_000] for f in _FORMULA.findall(q)]
    if not pairs or not formulas or all(language != "en" for _, _, language in answered):
        raise InputError(
            f"{folder}: parallel text or English questions with formulas are missing; "
            "examples need both"
        )
    return StageFiles(pairs, mathematics, answered, lexicons, formulas)


def read_parallel(folder: Path) -> Iterator[tuple[str, str, str, str]]:
    """Yield rows of parallel text: language, "m" for mathematics or "", English, translation."""
    _require(folder, ("parallel.tsv.xz",))
    path = folder / "parallel.tsv.xz"
    try:
        with lzma.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                language, mathematical, english, other = line.rstrip("\n").split("\t")
                yield language, mathematical, english, other
    except (OSError, EOFError, ValueError, lzma.LZMAError) as error:
        raise InputError(
            f"{path}: is damaged ({error}); run 'mathsetu train encoder prepare' again"
        ) from None


def _require(folder: Path, names: Sequence[str]) -> None:
    for name in names:
        if not (folder / name).is_file():
            raise InputError(f"{folder}: has no {name}; run 'mathsetu train encoder prepare' first")


def learn_tokenizer(prepared: Path, work: Path, size: int, amounts: Amounts, seed: int) -> None:
    """Train a tokenizer on examples; write ``tokenizer.json`` into the work folder."""
    chance = random.Random(seed)  # noqa: S311
    texts = read_prepared(prepared)

    def seen() -> Any:
        for example in example_texts(texts, amounts, seed):
            yield example.other
            if chance.random() < _ENGLISH_SHARE:
                yield example.english
        yield from (question for question, _, _ in texts.answered)

    work.mkdir(parents=True, exist_ok=True)
    train_tokenizer(seen(), size).save(str(work / "tokenizer.json"))


def write_examples(
    prepared: Path,
    work: Path,
    teacher: Path,
    amounts: Amounts,
    seed: int,
    progress: Callable[[int], None],
    processes: int | None = None,
) -> None:
    """Write the examples and threads as packs of tokens for the student and the teacher."""
    texts = read_prepared(prepared)
    tokenizer = found(work / "tokenizer.json", "learn a tokenizer first")
    theirs = found(teacher / "tokenizer.json", "a teacher needs its tokenizer")
    given = Work(texts, tokenizer, theirs, seed=seed)
    packed = pack_examples(given, amounts, processes or all_cores(), progress)
    for name in ("english", "other", "teacher"):
        getattr(packed, name).save(work / f"{name}.npz")
    _write_threads(texts, work, load_tokenizer(tokenizer), load_tokenizer(theirs), seed)


def _write_threads(texts: StageFiles, work: Path, own: Any, theirs: Any, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311
    threads = [
        (question[:_LONGEST], answer[:_LONGEST])
        for question, answer, language in texts.answered
        if language == "en" and min(len(question), len(answer)) >= _SHORTEST
    ]
    lexicons = list(texts.lexicons.values())
    questions, answers = ([thread[side] for thread in threads] for side in (0, 1))
    asked = [
        chance.choice(lexicons).swap(question, chance, chance.uniform(0.6, 1.0))
        for question in questions
    ]
    for name, rows in (("questions", questions), ("asked", asked), ("answers", answers)):
        Pack.encode(rows, own, Work.limit).save(work / f"{name}.npz")
        if name != "asked":
            Pack.encode(rows, theirs, Work.limit).save(work / f"teacher-{name}.npz")


@dataclass(frozen=True)
class Packed:
    """Examples as token ids: both sides for the student, the English side for the teacher."""

    english: Pack
    other: Pack
    teacher: Pack


def pack_examples(
    work: Work, amounts: Amounts, processes: int, progress: Callable[[int], None]
) -> Packed:
    """Make all examples and tokenise them, in parallel.

    The examples depend on the seed, not on the number of processes.

    Args:
        work: The prepared texts, tokenizers and seed.
        amounts: The number of examples of each kind.
        processes: The number of worker processes.
        progress: Called with the number of examples so far.
    """
    portions: list[Packed] = []
    made = 0
    with closing(ordered_map(work, _tasks(work.prepared, amounts), processes)) as packs:
        for packed in packs:
            portions.append(packed)
            made += len(packed.english)
            progress(made)
    return Packed(
        Pack.join(packed.english for packed in portions),
        Pack.join(packed.other for packed in portions),
        Pack.join(packed.teacher for packed in portions),
    )


def example_texts(prepared: StageFiles, amounts: Amounts, seed: int = 1) -> Iterator[Example]:
    """Yield the examples as text, for training a tokenizer."""
    for task in _tasks(prepared, amounts):
        yield from _portion(prepared, seed, task)


@dataclass(frozen=True)
class Work:
    """The input of a worker: texts, two tokenizer files, the most tokens of a text, and a seed."""

    prepared: StageFiles
    student: Path
    teacher: Path
    limit: int = 128
    seed: int = 1

    def __call__(self, task: tuple[str, int, int]) -> Packed:
        """Make and tokenise the examples of a task."""
        examples = _portion(self.prepared, self.seed, task)
        student, teacher = _tokenizer(self.student), _tokenizer(self.teacher)
        english = [example.english for example in examples]
        return Packed(
            Pack.encode(english, student, self.limit),
            Pack.encode((example.other for example in examples), student, self.limit),
            Pack.encode(english, teacher, self.limit),
        )


def _tasks(prepared: StageFiles, amounts: Amounts) -> list[tuple[str, int, int]]:
    """Return the tasks: a kind or language, the first number, and the count."""
    sizes = {language: len(pairs) for language, pairs in prepared.pairs.items()}
    return [
        (kind, start, min(_PORTION, total - start))
        for kind, total in (*sizes.items(), *vars(amounts).items())
        for start in range(0, total, _PORTION)
    ]


def _portion(prepared: StageFiles, seed: int, task: tuple[str, int, int]) -> list[Example]:
    kind, start, count = task
    if kind in prepared.pairs:
        pairs = prepared.pairs[kind][start : start + count]
        return [Example(english, other, kind, "pair") for english, other in pairs]
    chance = random.Random(f"{seed} {kind} {start}")  # noqa: S311
    make = {"joined": _joined, "swapped": _swapped, "templates": _from_templates}[kind]
    return [make(prepared, chance) for _ in range(count)]


@cache
def _tokenizer(path: Path) -> Any:
    return load_tokenizer(path)


def _language(chance: random.Random, among: Sequence[str] = LANGUAGES) -> str:
    return chance.choices(among, [_WEIGHTS[language] for language in among])[0]


def _joined(prepared: StageFiles, chance: random.Random) -> Example:
    """Join one to three pairs, each with a formula after it or not."""
    language = _language(chance, tuple(prepared.pairs))
    english: list[str] = []
    other: list[str] = []
    for _ in range(chance.randint(1, 3)):
        mathematical = chance.random() < 0.6 and language in prepared.mathematics
        pool = prepared.mathematics if mathematical else prepared.pairs
        first, second = chance.choice(pool[language])
        english.append(first)
        other.append(second)
        if chance.random() < 0.5:
            formula = chance.choice(prepared.formulas)
            english.append(formula)
            other.append(formula)
    return Example(" ".join(english), " ".join(other), language, "joined")


def _swapped(prepared: StageFiles, chance: random.Random) -> Example:
    """Swap words of a passage of an English question or answer into another language."""
    while True:
        question, answer, language = chance.choice(prepared.answered)
        if language == "en":
            break
    text = question if chance.random() < 0.5 else answer
    start = chance.randrange(max(1, len(text) - 300)) if chance.random() < 0.4 else 0
    text = text[start : start + chance.randint(60, 600)]
    target = _language(chance)
    share = chance.uniform(0.6, 1.0)
    return Example(text, prepared.lexicons[target].swap(text, chance, share), target, "swapped")


def _from_templates(prepared: StageFiles, chance: random.Random) -> Example:
    """Fill one to three templates with terms and formulas."""
    language = _language(chance)
    rows = [chance.choice(_templates()) for _ in range(chance.randint(1, 3))]
    slots = [_slots(prepared, chance, language) for _ in rows]
    english = " ".join(row["en"].format(**own) for row, (own, _) in zip(rows, slots, strict=True))
    other = " ".join(row[language].format(**own) for row, (_, own) in zip(rows, slots, strict=True))
    return Example(english, other, language, "templates")


def _slots(
    prepared: StageFiles, chance: random.Random, language: str
) -> tuple[dict[str, str], dict[str, str]]:
    formulas = {"f": chance.choice(prepared.formulas), "g": chance.choice(prepared.formulas)}
    english, other = dict(formulas), dict(formulas)
    for slot in "tu":
        concept = chance.choice(_concepts())
        english[slot] = concept.term("en")
        forms = [form for form in concept.forms.get(language, ()) if form] or [concept.term("en")]
        other[slot] = forms[0] if chance.random() < 0.6 else chance.choice(forms)
    return english, other


@cache
def _concepts() -> Sequence[Concept]:
    return tuple(read_concepts())


@cache
def _templates() -> Sequence[Mapping[str, str]]:
    table = resources.files(__package__) / "templates.tsv"
    header, *rows = table.read_text(encoding="utf-8").splitlines()
    names = header.split("\t")
    return tuple(dict(zip(names, row.split("\t"), strict=True)) for row in rows)
