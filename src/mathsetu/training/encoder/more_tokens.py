"""Adds tokens to a tokenizer without changing how texts in its old languages are tokenised.

New merges come after the old ones. They are learned from texts that the old tokenizer has
tokenised: each token is replaced by one private-use character, so that ordinary byte-pair training
merges whole tokens.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mathsetu.models import require

# The first private-use character of Unicode; there are enough for the old vocabulary.
_FIRST = 0xF0000
_SPACE = "\u2581"
# Fewest occurrences of a character that becomes a token.
_SEEN = 3
_CHUNK = 5_000
# Words of each language after weighting: more text does not give a language more tokens.
_WORDS = 120_000


@dataclass(frozen=True)
class Extended:
    """A tokenizer with more tokens.

    Attributes:
        contents: Its file, as bytes.
        pieces: For each new token the two tokens that it merges; characters have none.
    """

    contents: bytes
    pieces: Mapping[int, tuple[int, int]]

    def added(self, old: bytes) -> bytes:
        """Return the difference from the old tokenizer, in the format of the runtime."""
        before, after = json.loads(old), json.loads(self.contents)
        steps = len(before["normalizer"]["normalizers"])
        tokens = sorted(after["model"]["vocab"], key=after["model"]["vocab"].__getitem__)
        more = {
            "normalizers": after["normalizer"]["normalizers"][steps:],
            "tokens": tokens[len(before["model"]["vocab"]) :],
            "merges": after["model"]["merges"][len(before["model"]["merges"]) :],
        }
        return json.dumps(more, ensure_ascii=False, separators=(",", ":")).encode()


def extend(contents: bytes, texts: Mapping[str, Sequence[str]], size: int) -> Extended:
    """Add tokens of new languages to a tokenizer.

    Args:
        contents: The file of the old tokenizer, as bytes.
        texts: Texts of each new language.
        size: The most tokens of the new vocabulary.
    """
    tokenizers = require("tokenizers", "training the encoder", "neural")
    spec = json.loads(contents)
    vocabulary: dict[str, int] = spec["model"]["vocab"]
    merges = [m if isinstance(m, str) else " ".join(m) for m in spec["model"]["merges"]]
    spec["model"]["merges"] = merges
    for character in _characters(tokenizers, contents, texts.values()):
        if len(vocabulary) < size:
            vocabulary.setdefault(character, len(vocabulary))
    cut = tokenizers.Tokenizer.from_str(json.dumps(spec))
    names = {number: token for token, number in vocabulary.items()}
    words: Counter[str] = Counter()
    for own in texts.values():
        words.update(_weighed(_words(cut, own, names)))
    pieces: dict[int, tuple[int, int]] = {}
    known = set(merges)
    for one, other in _merges(tokenizers, words, size - len(vocabulary)):
        first, second = (_written(part, names) for part in (one, other))
        if f"{first} {second}" in known:
            continue
        if first + second not in vocabulary:
            if len(vocabulary) >= size:
                break
            pieces[len(vocabulary)] = vocabulary[first], vocabulary[second]
            vocabulary[first + second] = len(vocabulary)
        merges.append(f"{first} {second}")
    text = json.dumps(spec, ensure_ascii=False, separators=(",", ":"))
    return Extended(text.encode(), pieces)


def _characters(tokenizers: Any, contents: bytes, texts: Iterable[Sequence[str]]) -> list[str]:
    """Return the characters that are frequent enough, the most frequent first."""
    normalise = tokenizers.Tokenizer.from_buffer(contents).normalizer.normalize_str
    counts = Counter(letter for own in texts for text in own for letter in normalise(text))
    return [
        letter
        for letter, count in counts.most_common()
        if count >= _SEEN and letter.isprintable() and not letter.isspace()
    ]


def _words(cut: Any, texts: Sequence[str], names: Mapping[int, str]) -> Counter[str]:
    """Count the words of texts, each written with one private character per token."""
    counts: Counter[str] = Counter()
    for start in range(0, len(texts), _CHUNK):
        for encoding in cut.encode_batch_fast(
            list(texts[start : start + _CHUNK]), add_special_tokens=False
        ):
            word: list[str] = []
            for number in encoding.ids:
                if names[number].startswith(_SPACE) and word:
                    counts["".join(word)] += 1
                    word = []
                word.append(chr(_FIRST + number))
            counts["".join(word)] += 1
    return counts


def _weighed(counts: Counter[str]) -> dict[str, int]:
    share = _WORDS / max(1, counts.total())
    return {word: round(count * share) for word, count in counts.items() if len(word) > 1}


def _merges(tokenizers: Any, words: Mapping[str, int], most: int) -> Iterator[tuple[str, str]]:
    """Yield byte-pair merges of private characters, the most frequent first."""
    alphabet = sorted({letter for word in words for letter in word})
    learner = tokenizers.Tokenizer(tokenizers.models.BPE())
    learner.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    learner.train_from_iterator(
        (" ".join([word] * count) for word, count in words.items() if count),
        tokenizers.trainers.BpeTrainer(
            # Some merges give existing tokens; a few additional ones make up for them.
            vocab_size=len(alphabet) + most + most // 10,
            min_frequency=5,
            initial_alphabet=alphabet,
            show_progress=False,
        ),
    )
    for merge in json.loads(learner.to_str())["model"]["merges"]:
        first, second = merge.split(" ") if isinstance(merge, str) else merge
        yield first, second


def _written(private: str, names: Mapping[int, str]) -> str:
    return "".join(names[ord(character) - _FIRST] for character in private)
