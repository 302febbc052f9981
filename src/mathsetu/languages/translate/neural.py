"""NLLB-200 and mBART-50 through transformers, from a local folder or the hub.

Only safetensors files are read, and no code from the folder of a model is run. A model that is not
a folder is downloaded from the hub once, unless ``HF_HUB_OFFLINE=1`` is set.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial
from pathlib import Path
from threading import Lock
from typing import Any

from mathsetu.errors import InputError
from mathsetu.languages.translate.models import FULL_NAMES, Family, code_of, family_of
from mathsetu.models import check_installed, hub_name, is_path, model_folder, require

# Beam size of both papers; wider beams cost time and change little.
_BEAMS = 4
# Maximum number of sentences in a forward pass; batches of long sentences are smaller.
_SENTENCES = 32
_TOKENS = 2048
# The organisation on the hub, if the name of the model has none.
_ORGANISATION = "facebook"


class NeuralBackend:
    """Translates with a model of one of the two families.

    The model is loaded with the first sentence, so creating a backend is cheap.

    >>> NeuralBackend("nllb", "facebook/nllb-200-distilled-600M").name
    'nllb'
    """

    chunk = 128

    def __init__(self, family: Family, model: str, device: str = "auto") -> None:
        self.name = family
        self._family = family
        self._model_name = model
        self._device_name = device
        # The tokenizer stores the source language, so one direction is translated at a time.
        self._lock = Lock()

    def check(self, setting: str = "") -> None:
        """Check the packages, the model and its weights; download a model that is not a folder."""
        for module in ("torch", "transformers"):
            check_installed(module, self._purpose, "neural")
        self._find(setting)

    def model_for(self, source: str, target: str) -> str:
        """Return the same model for every direction."""
        return self._model_name

    def translate(self, sentences: Sequence[str], source: str, target: str) -> list[str]:
        """Translate in batches of sentences of similar length."""
        with self._lock:
            source_code, target_code = self._code(source), self._code(target)
            self._tokenizer.src_lang = source_code
            results = [""] * len(sentences)
            for batch in self._batches(sentences):
                translated = self._translate_batch([sentences[n] for n in batch], target_code)
                for number, text in zip(batch, translated, strict=True):
                    results[number] = text
            return results

    def _translate_batch(self, batch: list[str], target_code: str) -> list[str]:
        room: int = self._model.config.max_position_embeddings
        inputs = self._tokenizer(
            batch, return_tensors="pt", padding=True, truncation=True, max_length=room
        ).to(self._model.device)
        # Twice the length is sufficient for any language; a limit stops endless repetition.
        longest = min(room - 1, 2 * int(inputs["input_ids"].shape[1]) + 16)
        outputs = self._model.generate(
            **inputs,
            forced_bos_token_id=self._tokenizer.convert_tokens_to_ids(target_code),
            num_beams=_BEAMS,
            do_sample=False,
            early_stopping=True,
            max_length=None,
            max_new_tokens=longest,
        )
        decoded: list[str] = self._tokenizer.batch_decode(outputs, skip_special_tokens=True)
        return decoded

    def _batches(self, sentences: Sequence[str]) -> list[list[int]]:
        """Return batches of sentence numbers, longest first, so that failures occur early."""
        lengths = [len(ids) for ids in self._tokenizer(list(sentences))["input_ids"]]
        batches: list[list[int]] = []
        for number in sorted(range(len(sentences)), key=lambda n: -lengths[n]):
            batch = batches[-1] if batches else []
            fits = batch and (len(batch) + 1) * lengths[batch[0]] <= _TOKENS
            if fits and len(batch) < _SENTENCES:
                batch.append(number)
            else:
                batches.append([number])
        return batches

    def _code(self, asked: str) -> str:
        return code_of(asked, self._family, partial(_has_token, self._tokenizer))

    @cached_property
    def _tokenizer(self) -> Any:
        tokenizer = self._load("AutoTokenizer")
        family = family_of(partial(_has_token, tokenizer), self._model_name)
        if family != self._family:
            raise InputError(
                f"{self._model_name}: this is an {FULL_NAMES[family]} model; use backend {family!r}"
            )
        return tokenizer

    @cached_property
    def _model(self) -> Any:
        torch = require("torch", self._purpose, "neural")
        device = self._device_name
        if device == "auto":
            on_mac = torch.backends.mps.is_available()
            device = "cuda" if torch.cuda.is_available() else "mps" if on_mac else "cpu"
        # Half precision has the same quality here and is twice as fast, but slow on CPUs.
        dtype = torch.float16 if device.startswith("cuda") else torch.float32
        model = self._load("AutoModelForSeq2SeqLM", dtype=dtype, use_safetensors=True)
        return model.to(device).eval()

    @property
    def _purpose(self) -> str:
        return f"translation with {FULL_NAMES[self._family]}"

    @cached_property
    def _folder(self) -> Path:
        """The folder of the model and its weights."""
        return self._find()

    def _find(self, setting: str = "") -> Path:
        folder = model_folder(self._model_name, _ORGANISATION, self._purpose, setting)
        if not any(folder.glob("*.safetensors")):
            raise self._not_loaded("there is no model.safetensors")
        return folder

    def _load(self, part: str, **options: Any) -> Any:
        # Report a missing package before a large model is downloaded.
        transformers = require("transformers", self._purpose, "neural")
        folder = self._folder
        try:
            return getattr(transformers, part).from_pretrained(
                str(folder), local_files_only=True, trust_remote_code=False, **options
            )
        except (OSError, ValueError) as problem:
            raise self._not_loaded(str(problem).strip().partition("\n")[0]) from None

    def _not_loaded(self, reason: str) -> InputError:
        """Return the error for a model that cannot be loaded."""
        name = hub_name(self._model_name)[0]
        remedy = "the folder needs config.json, the tokenizer's files and model.safetensors"
        if not is_path(self._model_name):
            remedy = f"name a revision with safetensors weights ({name}@REVISION), or a folder"
        return InputError(f"{name}: the model cannot be loaded; {remedy} ({reason})")


def _has_token(tokenizer: Any, token: str) -> bool:
    return tokenizer.convert_tokens_to_ids(token) not in (None, tokenizer.unk_token_id)
