"""What backends with a neural model share: packages, folders and language codes."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

from mathsetu.errors import InputError, MissingExtra
from mathsetu.languages.table import language

Family = Literal["nllb", "mbart"]

FULL_NAMES: dict[Family, str] = {"nllb": "NLLB-200", "mbart": "mBART-50"}
# A token that every tokenizer of the family has.
_ENGLISH: dict[Family, str] = {"nllb": "eng_Latn", "mbart": "en_XX"}


def require(module: str, purpose: str, extra: str) -> Any:
    """Import a package that is only there when an extra was installed.

    >>> require("no_such_package", "translation with NLLB-200", "neural")
    Traceback (most recent call last):
    mathsetu.errors.MissingExtra: translation with NLLB-200 needs an optional part: \
pip install 'mathsetu[neural]'
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as missing:
        raise MissingExtra(purpose, extra) from missing


def is_path(model: str) -> bool:
    """Whether a model's name means a folder on this machine rather than a name on the hub.

    >>> is_path("./models/nllb"), is_path("facebook/nllb-200-distilled-600M")
    (True, False)
    """
    looks_so = model.startswith((".", "~", "/")) or "\\" in model or model.count("/") > 1
    return looks_so or Path(model).is_dir()


def folder_of(model: str) -> Path:
    """The folder that a path names; `InputError` when it is not there.

    >>> folder_of("./nowhere")
    Traceback (most recent call last):
    mathsetu.errors.InputError: nowhere: no such folder; put the model's files there or name \
another folder
    """
    folder = Path(model).expanduser()
    if not folder.is_dir():
        raise InputError(
            f"{folder}: no such folder; put the model's files there or name another folder"
        )
    return folder


def family_of(has_token: Callable[[str], bool], model: str) -> Family:
    """Which family a model belongs to, by the language codes that its tokenizer has.

    >>> family_of({"en_XX", "hi_IN"}.__contains__, "small")
    'mbart'
    """
    for family, english in _ENGLISH.items():
        if has_token(english):
            return family
    names = " or ".join(FULL_NAMES.values())
    raise InputError(f"{model}: its tokenizer has no language codes of {names}")


def code_of(asked: str, family: Family, has_token: Callable[[str], bool]) -> str:
    """The model's code for a language: from our table, or as it was asked for.

    >>> code_of("hi", "nllb", {"hin_Deva", "fra_Latn"}.__contains__)
    'hin_Deva'
    >>> code_of("fra_Latn", "nllb", {"hin_Deva", "fra_Latn"}.__contains__)
    'fra_Latn'
    """
    row = language(asked)
    for code in (asked, row.nllb if family == "nllb" else row.mbart):
        # A single word such as "is" may be a token and is no code.
        if "_" in code and has_token(code):
            return code
    raise InputError(
        f"{FULL_NAMES[family]} model: no language {asked!r}; give a code of the language table "
        f"or the model's own, such as {_ENGLISH[family]}"
    )
