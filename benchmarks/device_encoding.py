"""Compares the encoding of passages on an accelerator and on the processor: speed and results.

    python -m benchmarks.device_encoding --device cuda [--passages 200000]

The posts are those of ``benchmarks.collection`` or, if its data does not exist, sampler posts
joined to the same length. Passages are split, sorted, encoded in batches and quantised as in a
build; only distinct ones are counted. On the accelerator, passages are repeated until the number
asked for is reached. On the processor, one thread encodes a sample of them. Hours are estimates for
2.5 million posts with as many passages each.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from itertools import count, cycle, islice
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from benchmarks.collection import Material
from benchmarks.shared import DATA
from mathsetu.collections import sampler
from mathsetu.encoders.accelerator import PROCESSOR, check_device
from mathsetu.errors import MathSetuError
from mathsetu.intake import read_post
from mathsetu.pool import all_cores, ordered_map
from mathsetu.records import Post
from mathsetu.retrieval.meaning import MeaningBuilder, MeaningSettings

# More distinct passages take longer to split and do not change the figures.
_MAX_DISTINCT = 20_000
_POSTS = 2_500_000
# Number of sampler posts that are joined into one post of the usual length.
_JOINED = 2
_CHUNK = 64


def posts(data: Path) -> Iterator[Post]:
    """Yield posts without end."""
    if (data / "training" / "qa.jsonl.xz").is_file():
        material = Material(data)
        for number in count():
            post = material.post(number, seed=7)
            yield Post(**{**post, "tags": tuple(post.get("tags", ()))})
    random, own = Random(7), list(sampler.posts())
    for number in count():
        chosen = random.sample(own, _JOINED)
        text = "\n\n".join(post.body for post in chosen)
        yield Post(id=str(number), title=chosen[0].title, body=text, language=chosen[0].language)


def prepared(post: Post) -> Any:
    return MeaningBuilder(MeaningSettings()).prepare(read_post(post))


def fill(builder: MeaningBuilder, data: Path, wanted: int) -> int:
    """Add posts until a builder has enough passages to encode; return the number of posts."""
    results = ordered_map(prepared, posts(data), all_cores(), _CHUNK)
    for number, one in enumerate(results, start=1):
        builder.add(one)
        if len(builder.wanted) >= wanted:
            results.close()
            return number
    raise AssertionError("posts have no end")


class Encoded:
    """Passages encoded as in a build, and the time it took."""

    def __init__(self, builder: MeaningBuilder, passages: list[bytes]) -> None:
        kind = builder.kind
        # Warm up: loading is not measured.
        builder.read([kind.opened(passages[0])])
        batches = [passages[at : at + kind.batch] for at in range(0, len(passages), kind.batch)]
        begun, spent = time.perf_counter(), time.process_time()
        made = [
            one
            for batch in batches
            for one in builder.read([kind.opened(passage) for passage in batch])
        ]
        self.rate = len(passages) / (time.perf_counter() - begun)
        self.processor_ms = 1e3 * (time.process_time() - spent) / len(passages)
        self.whole = np.array([vector for vector, _ in made])
        self.vectors = self.whole * np.array([scale for _, scale in made])[:, None]

    def hours(self, passages_per_post: float) -> float:
        """The hours that the passages of 2.5 million posts would take."""
        return _POSTS * passages_per_post / self.rate / 3600


def compare(one: Encoded, other: Encoded) -> str:
    """Compare the vectors of the same passages."""
    lengths = np.linalg.norm(one.vectors, axis=1) * np.linalg.norm(other.vectors, axis=1)
    cosines = (one.vectors * other.vectors).sum(axis=1) / lengths
    steps = np.abs(one.whole.astype(np.int16) - other.whole)
    return (
        f"cosines of {len(cosines):,} passages: least {cosines.min():.5f}, median "
        f"{np.median(cosines):.6f}; largest difference "
        f"{np.abs(one.vectors - other.vectors).max():.4f}, {steps.max()} steps of int8; "
        f"{(steps <= 1).mean():.4%} of the numbers within one step, "
        f"{(steps == 0).mean():.2%} equal; {(steps.max(axis=1) == 0).mean():.1%} of the vectors "
        "equal"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--device", default="cuda", help="as torch names it (default: cuda)")
    parser.add_argument("--passages", type=int, default=200_000, help="encoded on the device")
    parser.add_argument("--sample", type=int, default=1000, help="encoded on the processor, too")
    parser.add_argument("--data", type=Path, default=DATA)
    options = parser.parse_args()
    try:
        check_device(options.device)
    except MathSetuError as error:
        sys.exit(f"device_encoding: {error}")
    processor = MeaningBuilder(MeaningSettings())
    device = MeaningBuilder(MeaningSettings(), options.device)
    filled = fill(processor, options.data, min(options.passages, _MAX_DISTINCT))
    distinct = sorted(processor.wanted, key=processor.kind.order)
    per_post = len(distinct) / filled
    tokens = np.mean([len(processor.kind.opened(passage)) for passage in distinct])
    print(
        f"{filled:,} posts with {len(distinct):,} distinct passages ({per_post:.2f} a post) of "
        f"{tokens:.0f} tokens in the mean\n"
    )
    sample = distinct[:: max(1, len(distinct) // options.sample)][: options.sample]
    repeated = sorted(islice(cycle(distinct), options.passages), key=processor.kind.order)
    on_processor = Encoded(processor, sample)
    alike = compare(on_processor, Encoded(device, sample))
    on_device = Encoded(device, repeated)
    print(
        "| encoded on | passages | a second | processor ms each | hours for 2.5M posts |\n"
        "|---|---|---|---|---|"
    )
    for name, encoded in ((options.device, on_device), (f"{PROCESSOR}, one core", on_processor)):
        print(
            f"| {name} | {len(encoded.whole):,} | {encoded.rate:,.0f} | "
            f"{encoded.processor_ms:.3f} | {encoded.hours(per_post):.2f} |"
        )
    print(f"\n{alike}")
    if options.device.startswith("cuda"):
        import torch

        print(f"memory of the device: {torch.cuda.max_memory_allocated() / 1e9:.2f} GB at most")


if __name__ == "__main__":
    main()
