"""Query vectors: what is read of a query, and with which weights."""

from pathlib import Path

import numpy as np
import pytest

from mathsetu.encoders.builtin import BuiltinEncoder, reading_of
from mathsetu.intake.question import Question
from mathsetu.records import Query
from mathsetu.retrieval.query_vectors import query_vector
from tests.encoders.tiny_builtin import TEXTS, make_builtin


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> BuiltinEncoder:
    pytest.importorskip("onnx")
    return BuiltinEncoder(Path(make_builtin(tmp_path_factory.mktemp("asking"), reader=True)))


def careful(encoder: BuiltinEncoder, *texts: str) -> np.ndarray:
    """The vectors of texts when they are read as another language than English."""
    return encoder.encode_tokens(encoder.tokens(texts), careful=True)


def ask(encoder: BuiltinEncoder, text: str, language: str, tokens: int = 64) -> np.ndarray:
    return query_vector(encoder, Question(Query(id="q", text=text, language=language)), tokens)


def test_a_short_english_query_has_the_vector_of_its_text(encoder: BuiltinEncoder) -> None:
    assert ask(encoder, TEXTS[0], "en") == pytest.approx(encoder.encode([TEXTS[0]])[0], abs=1e-6)


def test_a_query_in_another_language_is_read_in_english_too(encoder: BuiltinEncoder) -> None:
    # The glossary knows "suma" and "números pares".
    spanish = ask(encoder, TEXTS[5], "es")
    alone, english = careful(encoder, TEXTS[5], TEXTS[0])
    assert spanish @ english > alone @ english + 0.1
    assert spanish @ alone > 0.5


def test_a_query_without_a_known_term_is_read_once(encoder: BuiltinEncoder) -> None:
    text = "xqz wvb"
    assert ask(encoder, text, "es") == pytest.approx(careful(encoder, text)[0], abs=1e-6)


def test_the_second_passage_of_a_long_query_counts_half(encoder: BuiltinEncoder) -> None:
    text = " ".join(TEXTS[:3])
    [row] = encoder.tokens([text])
    half = -(-len(row) // 8) * 4
    first, second = encoder.encode_tokens([row[:half], row[half : 2 * half]])
    expected = first + 0.5 * second
    expected /= np.linalg.norm(expected)
    assert ask(encoder, text, "en", tokens=half) == pytest.approx(expected, abs=1e-5)


def test_a_long_query_in_another_language_is_also_read_in_pieces(encoder: BuiltinEncoder) -> None:
    text = "xqz wvb kjh qqw zzx vvb hhj"  # no terms of the glossary
    [row] = encoder.tokens([text])
    size = len(row) // 8 * 4
    read = {
        1.0: [row[: 2 * size], row[:size]],
        0.5: [row[size : 2 * size], row[2 * size : 3 * size]],
    }
    expected = sum(
        weight * encoder.encode_tokens([p for p in passages if p], careful=True).sum(axis=0)
        for weight, passages in read.items()
    )
    expected /= np.linalg.norm(expected)
    assert ask(encoder, text, "es", tokens=2 * size) == pytest.approx(expected, abs=1e-5)


def test_a_query_that_fits_into_half_a_passage_is_read_whole(encoder: BuiltinEncoder) -> None:
    text = "xqz wvb kjh qqw zzx vvb hhj"
    [row] = encoder.tokens([text])
    [whole] = careful(encoder, text)
    assert ask(encoder, text, "es", tokens=2 * len(row)) == pytest.approx(whole, abs=1e-6)


def test_a_short_query_is_read_whole_even_if_its_translation_is_long(
    encoder: BuiltinEncoder,
) -> None:
    [row] = encoder.tokens(["mcd"])
    alone, english = careful(encoder, "mcd", "greatest common divisor")
    expected = alone + english
    expected /= np.linalg.norm(expected)
    assert ask(encoder, "mcd", "es", tokens=2 * len(row)) == pytest.approx(expected, abs=1e-5)


def test_learned_words_are_translated_in_languages_without_a_reviewed_glossary(
    encoder: BuiltinEncoder,
) -> None:
    """Books and dogs are no glossary terms; Spanish terms are reviewed, German ones are not."""
    how = reading_of("de")
    german, english = encoder.encode_tokens(encoder.tokens(["Bücher", "book"], how), how)
    expected = german + english
    expected /= np.linalg.norm(expected)
    assert ask(encoder, "Bücher", "de") == pytest.approx(expected, abs=1e-5)
    [spanish] = careful(encoder, "perros")
    assert ask(encoder, "perros", "es") == pytest.approx(spanish, abs=1e-5)


def test_a_blank_query_has_a_vector_of_zeros(encoder: BuiltinEncoder) -> None:
    assert not ask(encoder, "  ", "hi").any()


def test_the_title_of_a_query_in_another_language_is_read_again_if_it_has_a_weight(
    encoder: BuiltinEncoder,
) -> None:
    title, text = "xqz wvb", "kjh qqw zzx"  # no terms of the glossary
    whole, alone = careful(encoder, f"{title}\n{text}", title)
    expected = whole + 0.6 * alone
    expected /= np.linalg.norm(expected)
    query = Query(id="q", text=text, title=title, language="es")
    assert query_vector(encoder, Question(query), 64, title=0.6) == pytest.approx(
        expected, abs=1e-5
    )
    assert query_vector(encoder, Question(query), 64) == pytest.approx(whole, abs=1e-5)


def test_the_title_of_an_english_query_is_not_read_twice(encoder: BuiltinEncoder) -> None:
    query = Query(id="q", text=TEXTS[1], title=TEXTS[0], language="en")
    [expected] = encoder.encode([f"{TEXTS[0]}\n{TEXTS[1]}"])
    assert query_vector(encoder, Question(query), 64, title=0.6) == pytest.approx(
        expected, abs=1e-5
    )


@pytest.mark.parametrize(("title", "text"), [("", "xqz wvb"), ("xqz wvb", ""), ("xqz wvb", " ")])
def test_a_query_of_only_a_title_or_a_text_has_no_separate_title(
    encoder: BuiltinEncoder, title: str, text: str
) -> None:
    query = Query(id="q", text=text, title=title, language="es")
    assert Question(query).title is None
    assert (
        query_vector(encoder, Question(query), 64, title=0.6) @ careful(encoder, "xqz wvb")[0]
        > 0.99
    )
