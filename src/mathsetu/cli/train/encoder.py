"""``mathsetu train encoder``: makes an encoder like the built-in one, stage by stage."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial, wraps
from pathlib import Path
from typing import Any

import click

from mathsetu.cli import VerbGroup
from mathsetu.cli.output import json_option, print_json, print_table, progress_bar, say
from mathsetu.errors import InputError
from mathsetu.languages.table import language
from mathsetu.models import require
from mathsetu.training.encoder.examples import Amounts, learn_tokenizer, write_examples
from mathsetu.training.encoder.folders import take_tokenizer
from mathsetu.training.encoder.prepare import prepare as clean
from mathsetu.training.encoder.prepare import unseen_texts
from mathsetu.training.encoder.schedule import Schedule
from mathsetu.training.encoder.sources import LANGUAGES
from mathsetu.training.encoder.word_tables import write_word_tables

_PURPOSE = "training the encoder"
_folder = click.Path(file_okay=False, path_type=Path)
_file = click.Path(dir_okay=False, path_type=Path)


@click.group("encoder", cls=VerbGroup)
def command() -> None:
    r"""Make an encoder like the built-in one: prepare, examples, teach, distil, blend, reader.

    To teach a finished encoder more languages: widen.

    To make word tables like the built-in ones: words.

    Every stage reads the output of the one before, is seeded, and resumes where it stopped.

    \b
    Example:
      mathsetu train encoder prepare raw prepared --avoid topics.tsv
      mathsetu train encoder examples prepared work --teacher all-mpnet-base-v2
      mathsetu train encoder teach work --teacher all-mpnet-base-v2
      mathsetu train encoder distil work --start all-MiniLM-L6-v2
      mathsetu index library posts.jsonl --recipe meaning \
          --set parts.meaning.model=work/model
      mathsetu train encoder words raw tables --avoid topics.tsv
    """


@command.command()
@click.argument("raw", type=_folder)
@click.argument("prepared", type=_folder)
@click.option("--avoid", type=_file, multiple=True,
              help="Topics and queries; texts that share ten words in a row "
                   "with them are dropped.")  # fmt: skip
@click.option("--held-out", type=click.IntRange(0), default=5000, show_default=True,
              help="Hindi pairs of mathematics to hold out for evaluation.")  # fmt: skip
@json_option
def prepare(
    raw: Path, prepared: Path, avoid: tuple[Path, ...], held_out: int, as_json: bool
) -> None:
    """Clean the texts of RAW and drop texts of the evaluation data."""
    counts = clean(raw, unseen_texts(avoid), prepared, held_out)
    if as_json:
        print_json(counts)
    else:
        print_table(("pairs", "number"), sorted(counts.items()))


@command.command()
@click.argument("raw", type=_folder)
@click.argument("tables", type=_folder)
@click.option("--languages", default=",".join(LANGUAGES), show_default=True,
              help="Language codes, separated by commas.")  # fmt: skip
@click.option("--avoid", type=_file, multiple=True,
              help="Topics and queries; texts that share ten words in a row "
                   "with them are dropped.")  # fmt: skip
@json_option
def words(raw: Path, tables: Path, languages: str, avoid: tuple[Path, ...], as_json: bool) -> None:
    """Learn word translations from the texts and word lists of RAW, and write them as TABLES.

    The built-in tables for search by words are in the package's folder languages/learned.
    """
    codes = [code for code in languages.split(",") if code]
    counts = write_word_tables(raw, codes, unseen_texts(avoid), tables)
    if as_json:
        print_json(counts)
    else:
        print_table(("languages", "words"), sorted(counts.items()))


@command.command()
@click.argument("raw", type=_folder)
@click.argument("folder", type=_folder)
@click.option("--languages", required=True, help="Language codes, separated by commas.")
@click.option("--revise", is_flag=True,
              help="Keep existing terms that have good sources; find only the others.")  # fmt: skip
def terms(raw: Path, folder: Path, languages: str, revise: bool) -> None:
    """Find the terms of the glossary in the word lists and texts of RAW; write tables into FOLDER.

    Such tables for the most used concepts are built in; speakers can correct them (mathsetu
    glossary export).
    """
    from mathsetu.training.terms import write_terms

    for code in filter(None, languages.split(",")):
        count = write_terms(raw, language(code).code, folder, revise=revise)
        say(f"{code}: {count} terms")


@command.command()
@click.argument("prepared", type=_folder)
@click.argument("work", type=_folder)
@click.option("--teacher", type=_folder, required=True, help="Folder of an English encoder.")
@click.option("--vocabulary", type=click.IntRange(100, 65_536), default=56_000, show_default=True,
              help="Vocabulary size of the student.")  # fmt: skip
@click.option("--tokenizer", type=_file,
              help="Use this tokenizer of another work folder "
                   "instead of learning one.")  # fmt: skip
@click.option("--scale", type=click.FloatRange(0), default=1.0, show_default=True,
              help="Factor for the number of generated examples.")  # fmt: skip
@click.option("--processes", type=click.IntRange(1),
              help="Worker processes (default: one per core).")  # fmt: skip
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True)
def examples(
    prepared: Path,
    work: Path,
    teacher: Path,
    vocabulary: int,
    tokenizer: Path | None,
    scale: float,
    processes: int | None,
    seed: int,
) -> None:
    """Learn a tokenizer, unless WORK has one or one is given, and write the tokenised examples."""
    amounts = Amounts(*(int(amount * scale) for amount in vars(Amounts()).values()))
    if tokenizer:
        take_tokenizer(tokenizer, work)
    elif not (work / "tokenizer.json").exists():
        learn_tokenizer(prepared, work, vocabulary, amounts, seed)
    with progress_bar() as show:
        told = partial(show, "examples")
        write_examples(prepared, work, teacher, amounts, seed, told, processes)


@command.command()
@click.argument("work", type=_folder)
@click.option("--teacher", type=_folder, required=True)
@click.option("--pooling", type=click.Choice(["mean", "cls"]), default="mean")
@click.option("--dimensions", type=click.IntRange(1), default=384, show_default=True,
              help="Dimensions of the vectors; at most those of the teacher.")  # fmt: skip
@click.option("--space", type=_folder,
              help="A work folder whose vector space to use.")  # fmt: skip
@click.option("--device", default="cpu", show_default=True, help="Device, such as cuda.")
def teach(
    work: Path, teacher: Path, pooling: str, dimensions: int, space: Path | None, device: str
) -> None:
    """Encode the English texts with the teacher."""
    require("torch", _PURPOSE, "neural")
    from mathsetu.training.encoder import pipeline

    pipeline.teach(work, teacher, pooling, dimensions, device, space)


def _learning(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of training, which it gets as two schedules and a device."""

    @wraps(function)
    def learn(
        steps: int, batch: int, contrast_steps: int, seed: int, device: str, **given: Any
    ) -> None:
        require("torch", _PURPOSE, "neural")
        from mathsetu.training.encoder.pipeline import usable_device

        schedule = Schedule(steps=steps, batch=batch, seed=seed)
        after = schedule.for_contrast(contrast_steps) if contrast_steps else None
        function(schedule=schedule, after=after, device=usable_device(device), **given)

    for option in (
        click.option("--device", default="cpu", show_default=True),
        click.option("--seed", type=click.IntRange(0), default=1, show_default=True),
        click.option("--contrast-steps", type=click.IntRange(0), default=0, show_default=True,
                     help="Additional steps of question-answer contrast."),
        click.option("--batch", type=click.IntRange(2), default=2048, show_default=True),
        click.option("--steps", type=click.IntRange(1), default=8000, show_default=True),
    ):  # fmt: skip
        learn = option(learn)
    return learn


@command.command()
@click.argument("work", type=_folder)
@click.option("--start", type=_folder,
              help="A BERT of the same width, or another work folder, to start from.")  # fmt: skip
@click.option("--start-layers", default="0,1,3,5", show_default=True,
              help="Layers of a BERT to initialise the student with, one per "
                   "layer of the student.")  # fmt: skip
@click.option("--width", type=click.IntRange(32), default=384, show_default=True,
              help="Width of the network.")  # fmt: skip
@click.option("--layers", type=click.IntRange(1), default=4, show_default=True)
@click.option("--group", type=click.IntRange(1), default=4, show_default=True,
              help="Tokens pooled into one position.")  # fmt: skip
@_learning
def distil(
    work: Path,
    start: Path | None,
    start_layers: str,
    width: int,
    layers: int,
    group: int,
    schedule: Schedule,
    after: Schedule | None,
    device: str,
) -> None:
    """Train a student, and write it as a model into WORK/model."""
    from mathsetu.training.encoder import contrast, distil, pipeline
    from mathsetu.training.encoder.model_files import export_stage

    shape = pipeline.student_shape(work, width, layers, group)
    student = pipeline.start_student(work, shape, start, _numbers(start_layers), schedule.seed)
    student = student.to(device)
    lessons = pipeline.read_lessons(work, device)
    distil.distil(student, lessons, schedule, work / "distilled", _report)
    if after:
        threads = pipeline.read_threads(work, device)
        contrast.contrast(student, threads, after, work / "contrasted", _report)
    export_stage(student, [work], work / "model")


@command.command()
@click.argument("works", metavar="WORK...", type=_folder, nargs=-1, required=True)
@click.argument("folder", type=_folder)
def blend(works: tuple[Path, ...], folder: Path) -> None:
    r"""Write the mean of the students of work folders as a model into FOLDER.

    Later trainings must use the tokenizer and the vector space of the first, and continue from its
    student.

    \b
    Example:
      mathsetu train encoder examples prepared later --teacher all-mpnet-base-v2 \
          --seed 2 --tokenizer work/tokenizer.json
      mathsetu train encoder teach later --teacher all-mpnet-base-v2 --space work
      mathsetu train encoder distil later --start work
      mathsetu train encoder blend work later both
    """
    require("torch", _PURPOSE, "neural")
    from mathsetu.training.encoder.blend import blend

    blend(works, folder)


@command.command()
@click.argument("works", metavar="WORK...", type=_folder, nargs=-1, required=True)
@click.argument("folder", type=_folder)
@click.option("--layers", type=click.IntRange(1), default=6, show_default=True,
              help="Number of layers: from as many as the student to twice as many.")  # fmt: skip
@click.option("--group", type=click.IntRange(1), default=2, show_default=True,
              help="Tokens pooled into one position.")  # fmt: skip
@_learning
def reader(
    works: tuple[Path, ...],
    folder: Path,
    layers: int,
    group: int,
    schedule: Schedule,
    after: Schedule | None,
    device: str,
) -> None:
    r"""Train a query network next to the students' mean; write both as a model into FOLDER.

    It shares the token vectors with that student, but may have more layers and pool fewer tokens.
    It is trained on the examples of the last work folder.

    \b
    Example:
      mathsetu train encoder reader work later both
    """
    from mathsetu.training.encoder.reader import Plan, add_reader

    add_reader(works, folder, Plan(layers, group, schedule, after), device, _report)


@command.command()
@click.argument("raw", type=_folder)
@click.argument("folder", type=_folder)
@click.option("--languages", required=True, help="Codes of the new languages, separated by commas.")
@click.option("--model", type=_folder,
              help="The finished model (default: the built-in one).")  # fmt: skip
@click.option("--vocabulary", type=click.IntRange(1), default=120_000, show_default=True,
              help="Maximum size of the new vocabulary.")  # fmt: skip
@click.option("--avoid", type=_file, multiple=True,
              help="Topics and queries; texts that share ten words in a row "
                   "with them are dropped.")  # fmt: skip
@_learning
def widen(
    raw: Path,
    folder: Path,
    languages: str,
    model: Path | None,
    vocabulary: int,
    avoid: tuple[Path, ...],
    schedule: Schedule,
    after: Schedule | None,
    device: str,
) -> None:
    r"""Teach a finished model more languages, from the texts of RAW; write it into FOLDER.

    Vectors of its own languages do not change: a wide network encodes the new ones.

    \b
    Example:
      mathsetu train encoder widen raw wider --languages de,fr,it
    """
    from mathsetu.encoders.builtin import own_folder
    from mathsetu.training.encoder.widen import read_pairs, widen

    if after:
        raise InputError("widen does not use --contrast-steps; leave it out")
    codes = [code for code in languages.split(",") if code]
    pairs = read_pairs(raw, codes, unseen_texts(avoid))
    slow = replace(schedule, token_decay=0.0, rate=3e-4)
    widen(model or own_folder(), folder, pairs, vocabulary, slow, device, _report)


def _numbers(written: str) -> list[int]:
    try:
        return [int(number) for number in written.split(",")]
    except ValueError:
        raise InputError(
            f"--start-layers must be numbers separated by commas, not {written!r}"
        ) from None


def _report(step: int, figures: dict[str, float]) -> None:
    said = ", ".join(f"{name} {value:.3f}" for name, value in figures.items())
    say(f"step {step}: {said}", err=True)
