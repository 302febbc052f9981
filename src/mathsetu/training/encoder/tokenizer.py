"""The student's tokenizer: one vocabulary for seven languages and LaTeX."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from mathsetu.errors import InputError
from mathsetu.models import require

#: The id of padding; the runtime relies on it.
PADDING = 0
_SPECIAL = ["[PAD]", "[UNK]"]
# Braces, dollars and spacing commands have no meaning: without them, 128 tokens cover nearly twice
# as much of a formula.
_NOISE = r"[{}$]|\\(?:left|right|displaystyle|limits|quad|qquad|big|Big|bigg|Bigg)\b|\\[,;:! ]|\\\\"
# LaTeX commands, scripts of one character (^2, _n), digits and punctuation are tokens.
_PIECES = r"\\[a-zA-Z]+|[\^_][a-zA-Z0-9]|[0-9]|[^\s\p{L}\p{M}\p{N}\u200c\u200d]"
# Letters with two spellings, and marks that are mostly omitted (a visarga is often a mistyped
# colon).
_VARIANTS = (
    *(("ي", "ی"), ("ك", "ک"), ("ۀ", "ه"), ("ة", "ه"), ("أ", "ا"), ("إ", "ا")),
    *(("़", ""), ("ः", "")),
)
_PERSIAN_MARKS = r"[\u064b-\u0652\u0670\u0640]"


def train_tokenizer(texts: Iterable[str], size: int) -> Any:
    """Train a tokenizer with byte-pair merges.

    Args:
        texts: The training texts, with languages in balanced shares.
        size: The size of the vocabulary.
    """
    tokenizers = require("tokenizers", "training the encoder", "neural")
    trainers = tokenizers.trainers
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token="[UNK]"))  # noqa: S106
    tokenizer.normalizer = _normalizer(tokenizers)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Sequence(
        [
            tokenizers.pre_tokenizers.WhitespaceSplit(),
            tokenizers.pre_tokenizers.Split(tokenizers.Regex(_PIECES), "isolated"),
            tokenizers.pre_tokenizers.Metaspace(),
        ]
    )
    tokenizer.train_from_iterator(
        texts,
        trainers.BpeTrainer(
            vocab_size=size,
            special_tokens=_SPECIAL,
            min_frequency=3,
            limit_alphabet=1000,
            show_progress=False,
        ),
    )
    return tokenizer


def load_tokenizer(path: Path) -> Any:
    """Load a tokenizer; disable truncation and padding, whatever the file sets."""
    tokenizers = require("tokenizers", "training the encoder", "neural")
    if not path.is_file():
        raise InputError(f"{path}: there is no such file; make the examples first")
    try:
        tokenizer = tokenizers.Tokenizer.from_file(str(path))
    # tokenizers has no error class of its own.
    except Exception as problem:
        raise InputError(f"{path}: is not a tokenizer ({problem})") from None
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def compact(path: Path) -> bytes:
    """Return a tokenizer file in the form that loads fastest: no blanks, merges as strings."""
    try:
        table = json.loads(path.read_text(encoding="utf-8"))
        merges = table["model"].get("merges", [])
        table["model"]["merges"] = [
            merge if isinstance(merge, str) else " ".join(merge) for merge in merges
        ]
    except (ValueError, KeyError, TypeError, AttributeError) as problem:
        raise InputError(f"{path}: is not a tokenizer ({problem})") from None
    return json.dumps(table, ensure_ascii=False, separators=(",", ":")).encode()


def _normalizer(tokenizers: Any) -> Any:
    normalizers = tokenizers.normalizers
    steps = [
        normalizers.NFKC(),
        normalizers.Replace(tokenizers.Regex(_NOISE), " "),
        normalizers.Lowercase(),
        normalizers.Replace(tokenizers.Regex(_PERSIAN_MARKS), ""),
        *(normalizers.Replace(old, new) for old, new in _VARIANTS),
    ]
    return normalizers.Sequence(steps)
