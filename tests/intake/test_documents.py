"""Sections that are too short for language detection."""

from pathlib import Path

import pytest

from mathsetu.intake.documents import with_document_languages
from mathsetu.records import Post
from tests.command import Mathsetu

TEXTS = {
    "de": "Die geometrische Reihe konvergiert, weil ihre Glieder schnell genug klein werden.",
    "fr": "La série géométrique converge parce que ses termes deviennent vite très petits.",
    "en": "The geometric series converges because its terms become small fast enough.",
    "hr": "Geometrijski red konvergira jer njegovi članovi dovoljno brzo postaju mali.",
}


def sections(*texts: str, document: str = "notes.md", language: str = "") -> list[Post]:
    return [
        Post(f"{document}#{n}", text, language=language, kind="section", thread_id=document)
        for n, text in enumerate(texts)
    ]


def languages(posts: list[Post]) -> list[str]:
    return [post.language for post in with_document_languages(posts)]


@pytest.mark.parametrize(("language", "text"), TEXTS.items())
@pytest.mark.parametrize("short", ["Lemma", "$x=1$", "Euler: $\\zeta(2)$"])
def test_a_short_section_has_the_language_of_its_document(
    language: str, text: str, short: str
) -> None:
    assert languages(sections(text, short)) == ["", language]
    assert languages(sections(short, text)) == [language, ""]


def test_a_short_section_clearly_in_another_language_keeps_it() -> None:
    found = languages(sections(TEXTS["de"], "Sea un triángulo rectángulo", "समकोण त्रिभुज"))
    assert found == ["", "es", "hi"]


def test_only_sections_without_a_language_get_that_of_their_own_document() -> None:
    german, lemma = sections(TEXTS["de"]), sections("Lemma", document="other.md")
    assert languages(german + lemma) == ["", ""]
    assert languages(sections(TEXTS["de"], "Lemma", language="cs")) == ["cs", "cs"]
    answers = [Post("1", TEXTS["de"], thread_id="t"), Post("2", "Lemma", thread_id="t")]
    assert languages(answers) == ["", ""]


@pytest.mark.thorough
def test_a_library_and_inspect_detect_the_language_of_short_sections(
    tmp_path: Path, mathsetu: Mathsetu
) -> None:
    note = tmp_path / "reihen.md"
    note.write_text(f"# Reihen\n\n{TEXTS['de']}\n\n# Lemma\n\n$x=1$\n", encoding="utf-8")
    shown = mathsetu.json("inspect", "--file", note)
    assert [post["language"] for post in shown["posts"]] == ["de", "de"]
    one = mathsetu.json("inspect", "--file", note, "--id", "reihen.md#lemma")
    assert one["language"] == "de"
    report = mathsetu.json("index", tmp_path / "lib", note, "--recipe", "formula")
    assert report["languages"] == {"de": 2}
