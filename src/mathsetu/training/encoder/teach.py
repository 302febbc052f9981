"""Stage 3: encode the English texts with an English teacher.

The vectors are projected to their principal components, which changes their cosines very little.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from mathsetu.errors import InputError
from mathsetu.models import folder_of, loading, max_tokens_in, require
from mathsetu.training.encoder.batches import GpuPack, by_length
from mathsetu.training.encoder.folders import found
from mathsetu.training.encoder.packs import Pack

_PURPOSE = "training the encoder"
_EXPECTED = "a BERT-like model; it needs config.json, tokenizer.json and model.safetensors"
_TOKENS_AT_ONCE = 200_000
_SAMPLE = 200_000


class Teacher:
    """A BERT-like sentence encoder from a folder, with the WordPiece vocabulary of BERT.

    Args:
        folder: A model that ``transformers`` can load, with its ``tokenizer.json``.
        pooling: ``mean`` or ``cls``.
        device: The device of torch.
    """

    def __init__(self, folder: Path, pooling: str, device: str) -> None:
        transformers = require("transformers", _PURPOSE, "neural")
        tokenizers = require("tokenizers", _PURPOSE, "neural")
        self.folder, self.pooling, self.device = folder_of(str(folder)), pooling, device
        with loading(str(folder), _EXPECTED, _PURPOSE):
            model = transformers.AutoModel.from_pretrained(
                folder, use_safetensors=True, local_files_only=True, add_pooling_layer=False
            )
        half = torch.bfloat16 if device == "cuda" else torch.float32
        self.model: Any = model.to(device, half).eval()
        self.dimensions = int(model.config.hidden_size)
        tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
        # An empty text has only the begin and end tokens.
        framed = tokenizer.encode("").ids[:2]
        if len(framed) != 2:
            raise InputError(f"{folder}: its tokenizer does not add the special tokens of a BERT")
        self.begin, self.end = framed
        self.padding = int(model.config.pad_token_id)

    @torch.inference_mode()
    def encode(self, pack: Pack) -> Tensor:
        """Return a vector of length one per text, in half precision, on the device."""
        longest = int(pack.lengths().max(initial=0)) + 2
        most = max_tokens_in(self.model.config.to_dict())
        if longest > most:
            raise InputError(f"{self.folder}: reads {most} tokens, but a text has {longest}")
        texts = GpuPack(pack, self.device, self.padding)
        vectors = torch.zeros(len(pack), self.dimensions, dtype=torch.half, device=self.device)
        for numbers in by_length(pack.lengths() + 2, _TOKENS_AT_ONCE):
            chosen = torch.from_numpy(numbers).to(self.device)
            tokens = texts.rows(chosen, 1, self.begin, self.end)
            mask = tokens != self.padding
            states = self.model(input_ids=tokens, attention_mask=mask.long()).last_hidden_state
            if self.pooling == "cls":
                pooled = states[:, 0]
            else:
                pooled = (states * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
            pooled = torch.nn.functional.normalize(pooled.float(), dim=-1).half()
            vectors[chosen] = pooled
        return vectors


def principal(vectors: Tensor, dimensions: int, seed: int = 1) -> Tensor:
    """Return the uncentred principal components, which best preserve inner products."""
    generator = torch.Generator().manual_seed(seed)
    chosen = torch.randperm(len(vectors), generator=generator)[:_SAMPLE].to(vectors.device)
    sample = vectors[chosen].float()
    _, basis = torch.linalg.eigh(sample.T @ sample)
    return basis.flip(1)[:, :dimensions].contiguous()


def read_basis(work: Path, teacher: Teacher) -> Tensor:
    """Read the projection of a work folder, to make vectors of the same space."""
    path = found(work / "basis.npy", "run 'teach' for that folder first")
    try:
        basis = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as problem:
        raise InputError(f"{path}: is damaged ({problem}); run 'teach' again") from None
    if len(basis) != teacher.dimensions:
        raise InputError(
            f"{path}: is for a teacher of {len(basis)} dimensions, but {teacher.folder} has "
            f"{teacher.dimensions}; name the teacher of that folder"
        )
    return torch.from_numpy(basis).to(teacher.device)
