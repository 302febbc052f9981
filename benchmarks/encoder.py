"""Measures the built-in encoder: English-Hindi retrieval, hubness, and speed against a rival.

    python -m benchmarks.encoder [--held-out held-out.hi.tsv] [--rival model.onnx]

The held-out pairs are those of `mathsetu train encoder prepare`: English and Hindi, one pair per
line. The rival is a BERT-like ONNX file (for example all-MiniLM-L6-v2 in int8), timed in the same
run on rows with the same number of tokens.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.shared import DATA, LANGUAGES, arqmath_posts, copied_topics, topics
from mathsetu.encoders.builtin import LENGTH, BuiltinEncoder, reading_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

ROUNDS = 7


def ask(encoder: BuiltinEncoder, texts: Sequence[str], language: str) -> NDArray[np.float32]:
    """Encode queries as the engine does: those not in English use a larger network."""
    reading = reading_of(language)
    rows = [row[:LENGTH] for row in encoder.tokens(texts, reading)]
    return encoder.encode_tokens(rows, reading)


def held_out(encoder: BuiltinEncoder, path: Path) -> None:
    """Recall@1 and @10 of sentence retrieval from English to Hindi, and back."""
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
    english, hindi = ([row[side] for row in rows] for side in (0, 1))
    ways = (("English to Hindi", english, "en", hindi), ("back", hindi, "hi", english))
    for name, queries, language, texts in ways:
        scores = ask(encoder, queries, language) @ encoder.encode(texts).T
        better = (scores > np.diag(scores)[:, None]).sum(axis=1)
        at_1, at_10 = (float((better < k).mean()) for k in (1, 10))
        print(f"{name}: {len(rows)} sentences, recall@1 {at_1:.3f}, recall@10 {at_10:.3f}")


def hubs(encoder: BuiltinEncoder, data: Path) -> None:
    """Hubness: how often each post is among the ten nearest of the topics (skewness, maximum)."""
    posts = [f"{post.title}\n\n{post.question}" for post in arqmath_posts(data)]
    vectors = encoder.encode(posts)
    for language in LANGUAGES:
        asked = topics(language, data)
        copies = copied_topics(asked)
        texts = [query.text for query in asked if query.id not in copies]
        queries = ask(encoder, texts, language)
        nearest = np.argsort(-(queries @ vectors.T), axis=1)[:, :10]
        counts = Counter(nearest.ravel().tolist())
        all_counts = np.array([counts.get(number, 0) for number in range(len(posts))], float)
        spread = all_counts - all_counts.mean()
        skew = (spread**3).mean() / (spread**2).mean() ** 1.5
        worst = counts.most_common(1)[0][1]
        print(f"hubs {language}: {len(queries)} topics, skewness {skew:.1f}, worst post {worst}")


def fastest(work: Callable[[], Any]) -> float:
    """The minimum processor time of several rounds, since noise only adds time."""
    work()
    times = []
    for _ in range(ROUNDS):
        started = time.process_time()
        work()
        times.append(time.process_time() - started)
    return min(times)


def speed(encoder: BuiltinEncoder, rival: Path | None) -> None:
    chance = np.random.default_rng(1)
    rows = chance.integers(5, 20_000, (32, 128)).tolist()
    ours = len(rows) / fastest(lambda: encoder.encode_tokens(rows))
    print(f"one core, 32 x 128 tokens: {ours:.0f} posts/s")
    short = ["Prove that the square root of 2 is irrational"]
    for name, careful in (("", False), (" in another language", True)):
        times = (
            fastest(partial(encoder.encode_tokens, read, careful)) * 1e3
            for read in (encoder.tokens(short), rows[:1])
        )
        print("a query{}: {:.1f} ms, one of 128 tokens {:.1f} ms".format(name, *times))
    if rival:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        session = onnxruntime.InferenceSession(rival, options, providers=["CPUExecutionProvider"])
        ids = np.array(rows)
        given = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.zeros_like(ids),
        }
        names = [entry.name for entry in session.get_inputs()]
        feeds = {name: given[name] for name in names}
        theirs = len(rows) / fastest(lambda: session.run(None, feeds))
        print(f"{rival.name}: {theirs:.0f} posts/s; ours is {ours / theirs:.1f} times as fast")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=Path, help="Another folder than the package's own.")
    parser.add_argument("--held-out", type=Path)
    parser.add_argument("--rival", type=Path)
    parser.add_argument("--data", type=Path, default=DATA)
    arguments = parser.parse_args()
    encoder = BuiltinEncoder(arguments.model)
    speed(encoder, arguments.rival)
    if arguments.held_out:
        held_out(encoder, arguments.held_out)
    hubs(encoder, arguments.data)


if __name__ == "__main__":
    main()
