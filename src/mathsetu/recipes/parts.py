"""The table of parts that a recipe can name; adding a retriever is one line here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mathsetu.encoders.accelerator import PROCESSOR
from mathsetu.errors import InputError
from mathsetu.intake.question import Question
from mathsetu.models import folder_of, is_path, model_fingerprint
from mathsetu.recipes.schema import Recipe
from mathsetu.recipes.tables import read_table
from mathsetu.retrieval.base import Builder, Retriever


@dataclass(frozen=True)
class Part:
    """How one kind of part is made from its settings.

    ``silent``: whether a question has nothing that the part can search for. ``join`` shares
    statistics between segments that were built together. ``on_device``: whether the builder also
    takes the device to encode on. ``model_folder``: the folder of the model that makes the part's
    vectors (None if there is no model, or if it is a name on the hub). ``check`` raises an error
    if models or packages for building are missing, given the settings and the part's place in the
    recipe. ``built_with``: the settings that determine the content of an index; they cannot be
    changed after it was built.
    """

    settings: type
    builder: Callable[..., Builder]
    retriever: Callable[[Sequence[Path], Any], Retriever]
    silent: Callable[[Question], bool]
    join: Callable[[Sequence[Path]], None] = lambda folders: None
    on_device: bool = False
    model_folder: Callable[[Any], Path | None] = lambda settings: None
    check: Callable[[Any, str], None] = lambda settings, where: None
    built_with: tuple[str, ...] = ("fields",)


def _no_words(question: Question) -> bool:
    return not any(character.isalpha() for character in question.words)


def _no_formulas(question: Question) -> bool:
    return not question.formulas


def _nothing(question: Question) -> bool:
    return _no_words(question) and _no_formulas(question)


def _encoder_folder(settings: Any) -> Path | None:
    from mathsetu.encoders.builtin import NAME, own_folder

    if settings.model == NAME:
        return own_folder()
    return Path(settings.model).expanduser() if is_path(settings.model) else None


def _lexical() -> Part:
    from mathsetu.retrieval.lexical import LexicalBuilder, LexicalRetriever
    from mathsetu.retrieval.lexical_terms import LexicalSettings

    # The index stores the score of each posting, which depends on the scheme.
    built_with = ("fields", "analysis", "stop_words", "scheme")
    return Part(LexicalSettings, LexicalBuilder, LexicalRetriever, _no_words, built_with=built_with)


def _formula() -> Part:
    from mathsetu.retrieval.formula import FormulaRetriever
    from mathsetu.retrieval.formula_index import FormulaBuilder, FormulaSettings, join_masses

    return Part(FormulaSettings, FormulaBuilder, FormulaRetriever, _no_formulas, join_masses)


def _dense() -> Part:
    from mathsetu.retrieval.dense import (
        DenseBuilder,
        DenseRetriever,
        DenseSettings,
        check_dense,
    )

    return Part(
        DenseSettings,
        DenseBuilder,
        DenseRetriever,
        _no_words,
        model_folder=_encoder_folder,
        check=check_dense,
        built_with=(
            *("fields", "text", "stop_words", "stem", "transliterate"),
            *("post_prefix", "max_tokens", "nlist"),
        ),
    )


def _overlap() -> Part:
    from mathsetu.retrieval.overlap import OverlapBuilder, OverlapRetriever, OverlapSettings

    built_with = ("of", "numeric", "fields")
    return Part(
        OverlapSettings, OverlapBuilder, OverlapRetriever, _no_formulas, built_with=built_with
    )


def _meaning() -> Part:
    from mathsetu.retrieval.meaning import MeaningBuilder, MeaningRetriever, MeaningSettings

    return Part(
        MeaningSettings,
        MeaningBuilder,
        MeaningRetriever,
        _no_words,
        on_device=True,
        model_folder=lambda settings: _encoder_folder(settings) or Path(settings.model),
        built_with=("tokens", "question_passages", "body_passages", "titles", "careful"),
    )


def _graph() -> Part:
    from mathsetu.retrieval.graph_search import (
        GraphIndexBuilder,
        GraphRetriever,
        GraphSettings,
        graph_model_folder,
    )

    return Part(
        GraphSettings,
        GraphIndexBuilder,
        GraphRetriever,
        _nothing,
        model_folder=lambda settings: graph_model_folder(settings.model),
        built_with=("fields", "storage"),
    )


#: How each kind of part is made; its modules are imported when a recipe names it.
PARTS: dict[str, Callable[[], Part]] = {
    "lexical": _lexical,
    "formula": _formula,
    "dense": _dense,
    "meaning": _meaning,
    "overlap": _overlap,
    "graph": _graph,
}


def check_parts(recipe: Recipe, source: str = "") -> None:
    """Refuse unknown kinds and settings of parts before any work is done."""
    for name, table in recipe.parts.items():
        _resolve(table, f"{source or recipe.name}: parts.{name}")


def check_built_with(built: Recipe, chosen: Recipe) -> None:
    """Refuse changes to settings that were fixed when the library was built."""
    changed = [] if built.posts == chosen.posts else ["posts"]
    for name in built.parts.keys() & chosen.parts.keys():
        part, before = _resolve(built.parts[name], f"parts.{name}")
        other, after = _resolve(chosen.parts[name], f"parts.{name}")
        if part.settings is not other.settings:
            changed.append(f"parts.{name}.kind")
            continue
        changed += (
            f"parts.{name}.{setting}"
            for setting in part.built_with
            if getattr(before, setting) != getattr(after, setting)
        )
    if changed:
        raise InputError(
            f"{', '.join(sorted(changed))}: decided what was indexed when the library was built; "
            "build another one: mathsetu index LIBRARY SOURCE… --set NAME=VALUE"
        )


def make_builder(table: Mapping[str, Any], where: str, device: str = PROCESSOR) -> Builder:
    """The builder of a part, from its table in a recipe; it encodes on the device."""
    part, settings = _resolve(table, where)
    return part.builder(settings, device) if part.on_device else part.builder(settings)


def make_retriever(table: Mapping[str, Any], folders: Sequence[Path], where: str) -> Retriever:
    """The retriever of a part over the segments of its index."""
    part, settings = _resolve(table, where)
    return part.retriever(folders, settings)


def settings_of(table: Mapping[str, Any], where: str) -> Any:
    """The settings of a part, from its table in a recipe."""
    return _resolve(table, where)[1]


def check_model(table: Mapping[str, Any], where: str) -> None:
    """Raise an error if a model or package of a part is missing, before the part is built."""
    part, settings = _resolve(table, where)
    folder = part.model_folder(settings)
    if folder is not None:
        folder_of(str(folder), f"{where}.model")
    part.check(settings, where)


def models_of(recipe: Recipe) -> dict[str, str]:
    """The fingerprints of the models that make the vectors of parts, if they are local folders."""
    found: dict[str, str] = {}
    for name, table in recipe.parts.items():
        part, settings = _resolve(table, f"parts.{name}")
        folder = part.model_folder(settings)
        if folder is not None and folder.is_dir():
            found[name] = model_fingerprint(folder)
    return found


def join_statistics(table: Mapping[str, Any], folders: Sequence[Path]) -> None:
    """Share statistics between the segments of a part, which were built together."""
    PARTS[table["kind"]]().join(folders)


def is_silent(table: Mapping[str, Any], question: Question) -> bool:
    """Whether a question has nothing that a part can search for."""
    return PARTS[table["kind"]]().silent(question)


def _resolve(table: Mapping[str, Any], where: str) -> tuple[Part, Any]:
    kind = table["kind"]
    if kind not in PARTS:
        raise InputError(f"{where}: unknown kind {kind!r} (known: {', '.join(PARTS)})")
    part = PARTS[kind]()
    chosen = {name: value for name, value in table.items() if name != "kind"}
    return part, read_table(part.settings, chosen, where)
