"""Stage 6, first half: measure the input ranges of each matrix product on examples."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from mathsetu.training.encoder.batches import GpuPack, by_length
from mathsetu.training.encoder.packs import Pack
from mathsetu.training.encoder.student import Student

# The head is not quantised, since it runs only once per text.
_LEFT_OUT = "head"
_TOKENS_AT_ONCE = 4096


@torch.inference_mode()
def input_ranges(student: Student, pack: Pack) -> dict[str, NDArray[np.float32]]:
    """Return the largest absolute value of each input channel of a student's linear layers.

    Args:
        student: The trained student.
        pack: Texts as token ids, of the kinds that it will read; some hundreds suffice.
    """
    largest: dict[str, Tensor] = {}

    def watch(name: str, states: Tensor) -> None:
        found = states.detach().float().abs().flatten(0, -2).amax(0)
        largest[name] = torch.maximum(largest[name], found) if name in largest else found

    hooks = [
        module.register_forward_pre_hook(lambda _, given, name=name: watch(name, given[0]))
        for name, module in student.named_modules()
        if isinstance(module, nn.Linear) and name != _LEFT_OUT
    ]
    device = str(next(student.parameters()).device)
    texts = GpuPack(pack, device)
    # Texts of similar length together, since the states of padding would be measured as well.
    for chosen in by_length(pack.lengths(), _TOKENS_AT_ONCE):
        student(texts.rows(torch.from_numpy(chosen).to(device), student.shape.group))
    for hook in hooks:
        hook.remove()
    return {name: found.cpu().numpy() for name, found in largest.items()}
