"""Common parts of backends with neural models: families and language codes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from mathsetu.errors import InputError
from mathsetu.languages.table import language
from mathsetu.models import require

__all__ = ["FULL_NAMES", "Family", "code_of", "family_of", "require"]

Family = Literal["nllb", "mbart"]

FULL_NAMES: dict[Family, str] = {"nllb": "NLLB-200", "mbart": "mBART-50"}
# A token in every tokenizer of the family.
_ENGLISH: dict[Family, str] = {"nllb": "eng_Latn", "mbart": "en_XX"}


def family_of(has_token: Callable[[str], bool], model: str) -> Family:
    """Return the family of a model, from the language codes in its tokenizer.

    >>> family_of({"en_XX", "hi_IN"}.__contains__, "small")
    'mbart'
    """
    for family, english in _ENGLISH.items():
        if has_token(english):
            return family
    names = " or ".join(FULL_NAMES.values())
    raise InputError(f"{model}: its tokenizer has no language codes of {names}")


def code_of(asked: str, family: Family, has_token: Callable[[str], bool]) -> str:
    """Return the code of the model for a language, given directly or from the table.

    >>> code_of("hi", "nllb", {"hin_Deva", "fra_Latn"}.__contains__)
    'hin_Deva'
    >>> code_of("fra_Latn", "nllb", {"hin_Deva", "fra_Latn"}.__contains__)
    'fra_Latn'
    """
    row = language(asked)
    for code in (asked, row.nllb if family == "nllb" else row.mbart):
        # A single word such as "is" may be a token, but is not a language code.
        if "_" in code and has_token(code):
            return code
    raise InputError(
        f"{FULL_NAMES[family]} model: no language {asked!r}; give a code of the language table "
        f"or the model's own, such as {_ENGLISH[family]}"
    )
