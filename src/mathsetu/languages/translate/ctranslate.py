"""NLLB-200 and mBART-50 converted for CTranslate2: the same models, smaller and faster.

``ct2-transformers-converter --model NAME --output_dir FOLDER --quantization int8 --copy_files
tokenizer.json`` creates the folder; neither torch nor transformers is needed to use it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from mathsetu.errors import InputError
from mathsetu.languages.translate.models import Family, code_of, family_of
from mathsetu.models import check_installed, folder_of, require

_PURPOSE = "translation with CTranslate2"
_BEAMS = 4
_TOKENS = 2048
_LONGEST_INPUT = 1024


class CTranslate2Backend:
    """Translates with a converted model.

    >>> CTranslate2Backend("models/nllb-ct2").name
    'ctranslate2'
    """

    name = "ctranslate2"
    chunk = 256

    def __init__(self, model: str, device: str = "auto") -> None:
        self._folder = model
        self._device = device

    def check(self, setting: str = "") -> None:
        """Check that the packages and the files of the model are present."""
        for module in ("tokenizers", "ctranslate2"):
            check_installed(module, _PURPOSE, "ctranslate2")
        folder_of(self._folder, setting)
        self._tokenizer_file()
        self._model_folder()

    def model_for(self, source: str, target: str) -> str:
        """Return the same model for every direction."""
        return self._folder

    def translate(self, sentences: Sequence[str], source: str, target: str) -> list[str]:
        """Translate; CTranslate2 sorts by length and forms batches."""
        if not sentences:
            return []
        source_code, target_code = self._code(source), self._code(target)
        encoded = self._tokenizer.encode_batch(list(sentences), add_special_tokens=False)
        tokens = [[source_code, *one.tokens[: _LONGEST_INPUT - 2], "</s>"] for one in encoded]
        results = self._translator.translate_batch(
            tokens,
            target_prefix=[[*self._start, target_code]] * len(tokens),
            max_batch_size=_TOKENS,
            batch_type="tokens",
            beam_size=_BEAMS,
            max_input_length=_LONGEST_INPUT,
            max_decoding_length=min(_LONGEST_INPUT - 1, 2 * max(map(len, tokens)) + 16),
        )
        to_id = self._tokenizer.token_to_id
        # Models have a few padding tokens that are missing in their tokenizers.
        numbers = [
            [number for token in result.hypotheses[0] if (number := to_id(token)) is not None]
            for result in results
        ]
        decoded: list[str] = self._tokenizer.decode_batch(numbers, skip_special_tokens=True)
        return [text.strip() for text in decoded]

    def _code(self, asked: str) -> str:
        return code_of(asked, self._family, self._has_token)

    def _has_token(self, token: str) -> bool:
        return self._tokenizer.token_to_id(token) is not None

    @cached_property
    def _family(self) -> Family:
        return family_of(self._has_token, self._folder)

    @cached_property
    def _start(self) -> list[str]:
        """The tokens of the decoder before the language code.

        The converter omits them for an mBART-50 model whose configuration does not name its
        tokenizer, because the older mBART-25 starts with the language code.
        """
        settings = json.loads((folder_of(self._folder) / "config.json").read_text(encoding="utf-8"))
        return [] if settings.get("decoder_start_token") else ["</s>"]

    @cached_property
    def _tokenizer(self) -> Any:
        tokenizers = require("tokenizers", _PURPOSE, "ctranslate2")
        return tokenizers.Tokenizer.from_file(str(self._tokenizer_file()))

    def _tokenizer_file(self) -> Path:
        file = folder_of(self._folder) / "tokenizer.json"
        if not file.is_file():
            raise InputError(f"{file}: not found; copy the tokenizer.json of the original model")
        return file

    @cached_property
    def _translator(self) -> Any:
        ctranslate2 = require("ctranslate2", _PURPOSE, "ctranslate2")
        folder = self._model_folder()
        try:
            return ctranslate2.Translator(str(folder), device=self._device)
        except (RuntimeError, ValueError) as problem:
            raise InputError(f"{folder}: CTranslate2 cannot load it ({problem})") from None

    def _model_folder(self) -> Path:
        folder = folder_of(self._folder)
        if not (folder / "model.bin").is_file():
            raise InputError(
                f"{folder}: no model.bin; convert the model with "
                f"ct2-transformers-converter --model NAME --output_dir {folder}"
            )
        return folder
