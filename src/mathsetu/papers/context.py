"""Input of the sections of the page: data, replaced models, kept libraries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from mathsetu.collections.files import read_lines
from mathsetu.collections.formats import detect, open_posts
from mathsetu.collections.rows import BadRows
from mathsetu.errors import InputError
from mathsetu.library import Library, build_library
from mathsetu.library.build import Progress, quiet
from mathsetu.library.reproduction import same_recipe
from mathsetu.models import is_path
from mathsetu.ranking.rerank import Rerank
from mathsetu.recipes.schema import Recipe
from mathsetu.recipes.tables import parse_toml, read_table
from mathsetu.records import Judgment, Post, Query

# Patterns of data files; the data must contain at least one of these files.
_MEASURED = ("arqmath/topics-*", "arqmath/qrels-*", "crossmath/topics/*", "crossmath/runs/*")


@dataclass(frozen=True)
class Context:
    """Data, models, and where libraries are kept.

    Attributes:
        data: The folder of the data; docs/reproduce.md describes its content.
        keep: The folder of the libraries.
        models: Settings that replace a model, by its name in recipes.
        progress: Called with the current step and its progress.
    """

    data: Path
    keep: Path
    models: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    progress: Progress = quiet

    def say(self, what: str) -> None:
        """Report the current step."""
        self.progress(what, 0)

    def file(self, *names: str) -> Path | None:
        """The first of some data files that exists."""
        paths = (self.data / name for name in names)
        return next((path for path in paths if path.is_file()), None)

    @property
    def has_data(self) -> bool:
        """Whether the data contain topics, judgments or runs of a paper."""
        return any(True for pattern in _MEASURED for _ in self.data.glob(pattern))

    def posts(self) -> Iterator[Post]:
        """The posts of ARQMath."""
        path = self.file("arqmath/Posts.xml", "arqmath/posts.jsonl.gz", "arqmath/posts.jsonl")
        if path is None:
            raise InputError(f"{self.data}: has no arqmath/Posts.xml and no arqmath/posts.jsonl.gz")
        return open_posts(path)

    def queries(self, name: str) -> list[Query]:
        """The topics of a file; empty if it does not exist."""
        return self._records(name, "queries")

    def judgments(self, name: str) -> list[Judgment]:
        """The judgments of a file; empty if it does not exist."""
        return self._records(name, "judgments")

    def _records(self, name: str, holds: str) -> list[Any]:
        path = self.file(name)
        if path is None:
            return []
        form = detect(path)
        if form.holds != holds:
            raise InputError(f"{path}: holds {form.holds}, not {holds}")
        return list(form.read(path, BadRows()))

    def library(self, recipe: Recipe) -> Library:
        """A library of the posts; a library built earlier with the same recipe is reused."""
        folder = self.keep / recipe.name
        if not same_recipe(folder, recipe):
            self.say(f"building {recipe.name}")
            build_library(folder, self.posts(), recipe, progress=self.progress)
        return Library(folder)

    def has(self, model: str) -> bool:
        """Whether a model, or a replacement, is available."""
        return model in self.models or (is_path(model) and Path(model).expanduser().is_dir())

    def part(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """The settings of a part, with its model replaced if `models` says so."""
        return {**settings, **self.models.get(str(settings.get("model", "")), {})}

    def rerank(self, settings: Rerank) -> Rerank:
        """The settings of a reranker, with its model replaced if `models` says so."""
        changed = {**asdict(settings), **self.models.get(settings.model, {})}
        lists = {name: list(value) for name, value in changed.items() if isinstance(value, tuple)}
        return read_table(Rerank, changed | lists, "models")

    def stand_ins(self, names: Iterable[str]) -> list[str]:
        """Describe the replacements of models."""
        found = []
        for name in names:
            settings = dict(self.models.get(name, {}))
            model = _shown_name(str(settings.pop("model", name)))
            if model != Path(name).name:
                others = ", ".join(f"{key} {value}" for key, value in settings.items())
                found.append(f"{model} for {Path(name).name}" + (f" ({others})" if others else ""))
        return found

    def with_models(self, recipe: Recipe) -> Recipe:
        """A recipe with its models replaced as `models` says."""
        return replace(
            recipe,
            parts={name: self.part(part) for name, part in recipe.parts.items()},
            systems={
                name: replace(system, rerank=self.rerank(system.rerank))
                if system.rerank
                else system
                for name, system in recipe.systems.items()
            },
            rerank=self.rerank(recipe.rerank) if recipe.rerank else None,
        )


def _shown_name(model: str) -> str:
    """The name of a model; training puts models into a folder ``model`` of a named folder.

    >>> _shown_name("org/name"), _shown_name("./my-reranker/model")
    ('name', 'my-reranker')
    """
    path = Path(model)
    return path.parent.name if path.name == "model" and path.parent.name else path.name


def read_models(path: Path) -> dict[str, dict[str, Any]]:
    r"""Read the replacements of models; folders are relative to the file.

    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "models.toml"
    >>> _ = path.write_text('["./models/compubert"]\nmodel = "org/name"\n')
    >>> read_models(path)
    {'./models/compubert': {'model': 'org/name'}}
    """
    lines = "\n".join(line for _, line in read_lines(path))
    table = parse_toml(lines, str(path))
    for name, settings in table.items():
        if not isinstance(settings, dict) or not isinstance(settings.get("model"), str):
            raise InputError(f'{path}: ["{name}"] must be a table with a model')
        beside = path.parent / str(settings["model"])
        if beside.is_dir():
            settings["model"] = str(beside)
    return table
