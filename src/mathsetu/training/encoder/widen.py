"""Stage 9: add languages to a finished model.

The existing networks are frozen, so that results in the existing languages do not change. A third,
wide network is added. It starts with the weights of the reader, and with new tokens after the old
ones. The network and the new token vectors are trained to give a text in a new language the mean of
both old networks' vectors of its English original, so no other teacher is needed. The training data
includes the old languages, since new languages share words with them. There, the target is averaged
with the reader's vector of the text itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from mathsetu.errors import InputError
from mathsetu.training.encoder.batches import GpuPack
from mathsetu.training.encoder.calibrate import input_ranges
from mathsetu.training.encoder.distil import encode
from mathsetu.training.encoder.export import export
from mathsetu.training.encoder.folders import found
from mathsetu.training.encoder.learning import Read, Report, half, learn, row_width
from mathsetu.training.encoder.model_files import as_file
from mathsetu.training.encoder.more_tokens import Extended, extend
from mathsetu.training.encoder.overlap import Overlap
from mathsetu.training.encoder.packs import Pack
from mathsetu.training.encoder.restore import restore_network
from mathsetu.training.encoder.schedule import Schedule
from mathsetu.training.encoder.sources import LANGUAGES, dictionary, translations
from mathsetu.training.encoder.student import Student
from mathsetu.training.encoder.tokenizer import load_tokenizer

_LIMIT = 128
# Targets with a higher cosine have the same meaning and are not negatives of each other.
_SAME = 0.97
# One batch in this many also trains the new tokens through the network for posts.
_FAST_EVERY = 4
_CALIBRATION = 2000
# Noise that is added to the mean of its pieces for a new token.
_NOISE = 0.2


@dataclass(frozen=True)
class Pairs:
    """English texts, their translations, and whether the model already has that language."""

    english: list[str]
    other: list[str]
    known: list[bool]


def read_pairs(raw: Path, languages: Sequence[str], avoid: Iterable[str]) -> Pairs:
    """Read the pairs and word lists of new languages, and the pairs of existing languages.

    Args:
        raw: The folder of raw material, as for `prepare`.
        languages: The new languages.
        avoid: Texts of the evaluation; pairs that overlap them are dropped.
    """
    unseen, pairs = Overlap(avoid), Pairs([], [], [])
    old = [one for one in LANGUAGES if (raw / f"parallel.en-{one}.tsv.xz").exists()]
    for language in (*languages, *old):
        entries = [(pair.english, pair.other) for pair in translations(raw, language)]
        if language in languages:
            entries += dictionary(raw, language)
        for english, other in entries:
            if english and other and not unseen.overlaps(english) and not unseen.overlaps(other):
                pairs.english.append(english)
                pairs.other.append(other)
                pairs.known.append(language not in languages)
    if all(pairs.known):
        raise InputError(f"{raw}: has no text in {', '.join(languages) or 'any new language'}")
    return pairs


def widen(
    model: Path, folder: Path, pairs: Pairs, size: int, schedule: Schedule, device: str,
    report: Report,
) -> None:  # fmt: skip
    """Write a model that also reads new languages.

    Args:
        model: The folder of the finished model.
        folder: The folder for the new model, with checkpoints in ``widening/``.
        pairs: The training pairs.
        size: The most tokens of the new vocabulary.
        schedule: The training settings.
        device: The device for training.
        report: Called with the step and its figures.
    """
    posts, scale = restore_network(model, "posts")
    before, _ = restore_network(model, "queries")
    folder.mkdir(parents=True, exist_ok=True)
    new = {"": [text for text, known in zip(pairs.other, pairs.known, strict=True) if not known]}
    old_tokenizer = found(model / "tokenizer.json", "name the folder of a finished model")
    extended = extend(old_tokenizer.read_bytes(), new, size)
    (folder / "wider.json").write_bytes(extended.contents)
    tokenizers = load_tokenizer(old_tokenizer), load_tokenizer(folder / "wider.json")
    english = Pack.encode(pairs.english, tokenizers[0], _LIMIT)
    targets = _targets(posts.to(device), before.to(device), english)
    known = torch.tensor(pairs.known, device=device)
    own = encode(before, Pack.encode(pairs.other, tokenizers[0], _LIMIT))
    kept = functional.normalize(targets.float() + own.float(), dim=1).half()
    targets = torch.where(known[:, None], kept, targets)
    other = Pack.encode(pairs.other, tokenizers[1], _LIMIT)
    reader = _wider(before, extended, tokenizers[1].get_vocab_size()).to(device)
    _teach(reader, posts, other, targets, schedule, folder / "widening", report)
    _write(model, folder, reader, other, scale, extended)


def _targets(posts: Student, reader: Student, english: Pack) -> Tensor:
    """Return the normalised mean of both networks' vectors of English texts."""
    both = encode(posts, english).float() + encode(reader, english).float()
    return functional.normalize(both, dim=1).half()


def _wider(before: Student, extended: Extended, size: int) -> Student:
    """Return the reader with new tokens; each starts near the mean of its pieces."""
    wider = Student(replace(before.shape, vocabulary=size))
    weights = before.state_dict()
    old = weights["tokens.weight"].cpu()
    generator = torch.Generator().manual_seed(1)
    noise = torch.randn((size, old.shape[1]), generator=generator) * old.std()
    table = torch.cat([old, noise[len(old) :]])
    for number, pieces in sorted(extended.pieces.items()):
        table[number] = table[list(pieces)].mean(0) + _NOISE * noise[number]
    wider.load_state_dict({**weights, "tokens.weight": table})
    return wider


def _teach(
    reader: Student,
    posts: Student,
    texts: Pack,
    targets: Tensor,
    schedule: Schedule,
    folder: Path,
    report: Report,
) -> None:
    device, multiple = str(targets.device), row_width(posts)
    other, first_new = GpuPack(texts, device), posts.shape.vocabulary
    fast = Student(replace(posts.shape, vocabulary=reader.shape.vocabulary)).to(device)
    weights = {**posts.state_dict(), "tokens.weight": reader.tokens.weight.detach()}
    fast.load_state_dict(weights)
    fast.requires_grad_(False)
    fast.tokens = reader.tokens
    is_new = torch.arange(reader.shape.vocabulary, device=device)[:, None] >= first_new
    hook = reader.tokens.weight.register_hook(lambda gradient: gradient * is_new)

    def lesson(
        read: Read, numbers: Tensor, chance: np.random.Generator
    ) -> tuple[Tensor, dict[str, Tensor]]:
        target, rows = targets[numbers].float(), other.rows(numbers, multiple)
        with half(device):
            vectors = read(rows)
        near = (vectors * target).sum(1).mean()
        same = (target @ target.T > _SAME).fill_diagonal_(False)
        scores = (vectors @ target.T / schedule.temperature).masked_fill(same, -1e4)
        labels = torch.arange(len(numbers), device=device)
        apart = functional.cross_entropy(scores, labels) + functional.cross_entropy(
            scores.T, labels
        )
        loss = 4 * (1 - near) + schedule.contrast * apart
        if chance.random() < 1 / _FAST_EVERY:
            with half(device):
                quickly = fast(rows)
            loss = loss + 2 * (1 - (quickly * target).sum(1).mean())
        return loss, {"other": near, "apart": apart}

    learn(reader, texts, texts.lengths(), lesson, schedule, folder, report)
    hook.remove()


def _write(
    model: Path, folder: Path, wide: Student, texts: Pack, scale: float, extended: Extended
) -> None:
    """Write the old model together with the wide network and its new tokens."""
    facts = json.loads((model / "model.json").read_text(encoding="utf-8"))
    contents = {name: (model / name).read_bytes() for name in facts["sha256"]}
    first_new = len(np.load(model / "tokens.npy", allow_pickle=False))
    weights = {name: value.float().cpu().numpy() for name, value in wide.state_dict().items()}
    rows = np.clip(np.round(weights["tokens.weight"][first_new:] / scale), -127, 127) + 128
    chosen = np.random.default_rng(1).permutation(len(texts))[:_CALIBRATION]
    ranges = input_ranges(wide, texts.take(np.sort(chosen)))
    contents["wide.onnx"] = export(wide.shape, weights, ranges, scale).SerializeToString()
    contents["wide-tokens.npy"] = as_file(rows.astype(np.uint8))
    contents["wide.json"] = extended.added(contents["tokenizer.json"])
    for name, data in contents.items():
        (folder / name).write_bytes(data)
    facts["sha256"] = {name: sha256(data).hexdigest() for name, data in contents.items()}
    facts["wide"] = asdict(wide.shape)
    (folder / "model.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
