"""Translation of posts and queries behind one small interface.

A new backend is one new file and one row in `BACKENDS`. Large libraries are imported only when a
backend translates its first sentence.

>>> from mathsetu.languages.translate import open_translator
>>> [done] = open_translator("glossary").translate(["Is $n$ a prime number?"], "en", "es")
>>> done.text, done.backend, done.model, done.lost
('Is $n$ a número primo?', 'glossary', 'built-in', ())
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from mathsetu.errors import InputError
from mathsetu.languages.translate.apertium import ApertiumBackend
from mathsetu.languages.translate.backend import Backend, CheckedBackend, Translation
from mathsetu.languages.translate.cache import Cache
from mathsetu.languages.translate.ctranslate import CTranslate2Backend
from mathsetu.languages.translate.front import Translator
from mathsetu.languages.translate.glossary import GlossaryBackend
from mathsetu.languages.translate.neural import NeuralBackend
from mathsetu.own_models import is_object, registered

__all__ = [
    "BACKENDS",
    "Backend",
    "Cache",
    "Translation",
    "Translator",
    "check_translator",
    "open_translator",
]


@dataclass(frozen=True, slots=True)
class BackendRow:
    """One row of the table of backends.

    Attributes:
        description: A short description for users.
        make: Creates the backend for a model and a device.
        takes_model: Whether the user may name a model.
        default_model: The default model; "" if a model must be named.
        cached: Whether the cache is faster than translating again.
    """

    description: str
    make: Callable[[str, str], CheckedBackend]
    takes_model: bool = False
    default_model: str = ""
    cached: bool = True


BACKENDS: dict[str, BackendRow] = {
    "glossary": BackendRow(
        "word by word from our own glossary; always available",
        lambda model, device: GlossaryBackend(),
        cached=False,
    ),
    "apertium": BackendRow(
        "rule-based, if the program and a pair are installed",
        lambda model, device: ApertiumBackend(),
    ),
    "nllb": BackendRow(
        "NLLB-200 through transformers",
        lambda model, device: NeuralBackend("nllb", model, device),
        takes_model=True,
        default_model="facebook/nllb-200-distilled-600M",
    ),
    "mbart": BackendRow(
        "mBART-50 through transformers",
        lambda model, device: NeuralBackend("mbart", model, device),
        takes_model=True,
        default_model="facebook/mbart-large-50-many-to-many-mmt",
    ),
    "ctranslate2": BackendRow(
        "NLLB-200 or mBART-50 converted for CTranslate2",
        lambda model, device: CTranslate2Backend(model, device),
        takes_model=True,
    ),
}


def open_translator(
    backend: str = "glossary",
    model: str = "",
    *,
    device: str = "auto",
    cache: Cache | str | Path | None = None,
    remember: bool = True,
) -> Translator:
    """Return a translator with one of the backends.

    Args:
        backend: A name from `BACKENDS`, or ``object:NAME`` (`mathsetu.register`).
        model: A folder or a name on the hub, for backends with models.
        device: The device of a neural model: "auto", "cpu", "cuda", "cuda:1", "mps".
        cache: The cache file; by default in the cache folder of the platform.
        remember: Whether to use a cache.

    >>> open_translator("babelfish")
    Traceback (most recent call last):
    mathsetu.errors.InputError: no translation backend 'babelfish' \
(there are: glossary, apertium, nllb, mbart, ctranslate2)
    """
    if is_object(backend):
        return Translator(registered("translator", backend))
    row = BACKENDS.get(backend)
    if row is None:
        names = ", ".join(BACKENDS)
        raise InputError(f"no translation backend {backend!r} (there are: {names})")
    if model and not row.takes_model:
        raise InputError(f"{backend} takes no model; leave out {model!r}")
    if row.takes_model and not (model or row.default_model):
        raise InputError(f"{backend} needs the folder of a model")
    kept = cache if isinstance(cache, Cache) else Cache(cache)
    return Translator(
        row.make(model or row.default_model, device), kept if remember and row.cached else None
    )


def check_translator(
    backend: str, model: str, sources: Iterable[str], target: str, setting: str = ""
) -> None:
    """Check the requirements of a translator: packages, programs, and its model.

    A model that is not a folder is downloaded. Nothing is loaded.

    Args:
        backend: As for `open_translator`.
        model: As for `open_translator`.
        sources: The languages to translate from.
        target: The language to translate into.
        setting: The setting of a recipe that names the model, for errors.

    >>> check_translator("glossary", "", ["hi"], "en")
    """
    opened = open_translator(backend, model, remember=False)
    if not is_object(backend):
        row = BACKENDS[backend]
        row.make(model or row.default_model, "auto").check(setting)
    for source in sources:
        opened.backend.model_for(source, target)
