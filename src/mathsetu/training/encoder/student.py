"""The student: a small transformer that reads tokens in groups.

A group of neighbouring tokens becomes one position before the first layer, so that attention and
the feed-forward layers process a fraction of the positions. This is the main reason for its speed
on a CPU.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from mathsetu.errors import InputError
from mathsetu.training.encoder.shape import Shape


class Layer(nn.Module):
    """Attention and feed-forward network, each followed by layer normalisation, as in BERT."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.heads = shape.heads
        self.joint = nn.Linear(shape.width, 3 * shape.width)
        self.out = nn.Linear(shape.width, shape.width)
        self.first = nn.LayerNorm(shape.width, eps=1e-12)
        self.up = nn.Linear(shape.width, shape.hidden)
        self.down = nn.Linear(shape.hidden, shape.width)
        self.second = nn.LayerNorm(shape.width, eps=1e-12)

    def forward(self, states: Tensor, blocked: Tensor) -> Tensor:
        """Return the next states; ``blocked`` is added to the attention scores."""
        count, length, width = states.shape
        joint = self.joint(states).view(count, length, 3, self.heads, width // self.heads)
        query, key, value = joint.permute(2, 0, 3, 1, 4)
        blocked = blocked.to(query.dtype)
        seen = functional.scaled_dot_product_attention(query, key, value, attn_mask=blocked)
        seen = seen.transpose(1, 2).reshape(count, length, width)
        states = self.first(states + self.out(seen))
        changed: Tensor = self.second(states + self.down(functional.relu(self.up(states))))
        return changed


class Student(nn.Module):
    """Encodes texts, given as token ids (0 is padding), as vectors of length one."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        width = shape.width
        self.tokens = nn.Embedding(shape.vocabulary, width, padding_idx=0)
        self.grouped = nn.Linear(shape.group * width, width)
        self.places = nn.Embedding(shape.positions, width)
        self.start = nn.LayerNorm(width, eps=1e-12)
        self.layers = nn.ModuleList(Layer(shape) for _ in range(shape.layers))
        self.head = nn.Linear(width, shape.dimensions)
        self._initialise()

    def _initialise(self) -> None:
        group, width = self.shape.group, self.shape.width
        nn.init.normal_(self.tokens.weight, std=0.05)
        nn.init.normal_(self.places.weight, std=0.02)
        # A group starts as roughly the mean of its tokens, which any layer can process.
        mean = torch.eye(width).repeat(1, group) / group**0.5
        with torch.no_grad():
            self.tokens.weight[0] = 0
            self.grouped.weight.copy_(mean + torch.randn_like(mean) * 0.01)
            self.grouped.bias.zero_()

    def forward(self, tokens: Tensor) -> Tensor:
        """Return one vector per row; the length of rows is a multiple of the group."""
        group = self.shape.group
        rows, length = tokens.shape
        there = (tokens != 0).view(rows, length // group, group).sum(2)
        states = self.tokens(tokens).view(rows, length // group, group * self.shape.width)
        places = self.places(torch.arange(length // group, device=tokens.device))
        states = self.start(self.grouped(states) + places)
        blocked = torch.where(there > 0, 0.0, -1e4)[:, None, None, :]
        for layer in self.layers:
            states = layer(states, blocked)
        weights = there.to(states.dtype)[:, :, None]
        mean = (states * weights).sum(1) / weights.sum(1).clamp(min=1)
        return functional.normalize(self.head(mean).float(), dim=-1)


def start_from(student: Student, weights: Mapping[str, Tensor], chosen: list[int]) -> None:
    """Initialise a student with layers of a BERT of the same width.

    Args:
        student: The student to change.
        weights: The weights of a Hugging Face ``BertModel``.
        chosen: Which of its layers become the student's, in order.
    """
    shape = student.shape
    theirs = weights.get("embeddings.word_embeddings.weight")
    if theirs is None:
        raise InputError("the model to start from does not have the weights of a BERT")
    if theirs.shape[1] != shape.width:
        raise InputError(
            f"the model to start from is {theirs.shape[1]} wide, the student {shape.width}; "
            "name another model, or another width"
        )
    if len(chosen) != shape.layers:
        raise InputError(f"{len(chosen)} layers to start from, but the student has {shape.layers}")
    for number in chosen:
        inner = weights.get(f"encoder.layer.{number}.intermediate.dense.weight")
        if inner is None:
            raise InputError(f"the model to start from has no layer {number}")
        if len(inner) != shape.hidden:
            raise InputError(
                f"layers of the model to start from are {len(inner)} wide inside, those of the "
                f"student {shape.hidden}; name another model"
            )
    own = student.state_dict()
    for place, number in enumerate(chosen):
        layer = f"encoder.layer.{number}."
        attention = f"{layer}attention.self."
        for kind in ("weight", "bias"):
            parts = [weights[f"{attention}{name}.{kind}"] for name in ("query", "key", "value")]
            own[f"layers.{place}.joint.{kind}"] = torch.cat(parts)
            for mine, name in (
                ("out", "attention.output.dense"),
                ("first", "attention.output.LayerNorm"),
                ("up", "intermediate.dense"),
                ("down", "output.dense"),
                ("second", "output.LayerNorm"),
            ):
                own[f"layers.{place}.{mine}.{kind}"] = weights[f"{layer}{name}.{kind}"]
    student.load_state_dict(own)


def start_tokens(student: Student, tokenizer: Any, theirs: Any, vectors: Tensor) -> int:
    """Initialise token vectors from those of a BERT; return how many are tokens of both.

    Args:
        student: The student to change.
        tokenizer: The student's tokenizer.
        theirs: The tokenizer of the BERT.
        vectors: The token vectors of the BERT.
    """
    known = 0
    with torch.no_grad():
        table = student.tokens.weight
        table.copy_(torch.randn(table.shape) * vectors.std() + vectors.mean(0))
        for token, number in tokenizer.get_vocab().items():
            word = token.replace("\u2581", "")
            ids = theirs.encode(word, add_special_tokens=False).ids if word.isascii() else []
            if ids:
                table[number] = vectors[ids].mean(0)
                known += len(ids) == 1
        table[0] = 0
    return known
