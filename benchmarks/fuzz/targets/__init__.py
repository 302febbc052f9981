"""The table of fuzz targets by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from benchmarks.fuzz.target import Target
from benchmarks.fuzz.targets.documents import Archives, Documents, Tables, Wikis
from benchmarks.fuzz.targets.formulas import Latex, Matching, MathML, Notation
from benchmarks.fuzz.targets.languages import Languages, Translation
from benchmarks.fuzz.targets.library import LibraryFiles
from benchmarks.fuzz.targets.markup import Markup
from benchmarks.fuzz.targets.queries import TypedQueries
from benchmarks.fuzz.targets.readers import Folder, ParquetReader, Reader
from benchmarks.fuzz.targets.service import Http
from benchmarks.fuzz.targets.texts import Evaluation, LearnedFusions, Penman, Recipes
from benchmarks.fuzz.targets.tools import Tools
from mathsetu.collections.formats import FORMATS

_OWN: dict[str, Callable[[], Target]] = {
    "folder": Folder,
    "document": Documents,
    "archive": Archives,
    "table": Tables,
    "wikipedia": Wikis,
}
_READERS: dict[str, Callable[[], Target]] = {
    f"read-{name}": _OWN.get(
        name, partial(ParquetReader if name.startswith("parquet") else Reader, name)
    )
    for name in FORMATS
    if not name.startswith("ir_datasets")  # the name of a dataset, and no file
}
_OTHERS = (
    *(Latex, Matching, MathML, Notation, Penman, Markup, Languages, Translation, TypedQueries),
    *(Recipes, LearnedFusions, Evaluation, LibraryFiles, Http, Tools),
)

#: The function that makes each target.
TARGETS: dict[str, Callable[[], Target]] = {target.name: target for target in _OTHERS} | _READERS
#: The time share of a target, if it is not 1: readers get less, because there are many.
SHARES = dict.fromkeys(_READERS, 0.4) | {"library": 1.5, "http": 1.5}
