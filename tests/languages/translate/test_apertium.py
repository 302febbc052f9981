"""Apertium: the real program if it is installed, and a substitute on any Unix system."""

import shutil
import sys
from pathlib import Path

import pytest

from mathsetu.errors import InputError, MathSetuError
from mathsetu.languages.translate import Translator, open_translator
from mathsetu.languages.translate.apertium import ApertiumBackend

real = pytest.mark.skipif(shutil.which("apertium") is None, reason="apertium is not installed")


@pytest.fixture
def english_spanish() -> Translator:
    translator = open_translator("apertium", remember=False)
    try:
        translator.backend.model_for("en", "es")
    except InputError:
        pytest.skip("the pair apertium-eng-spa is not installed")
    return translator


@real
def test_a_post_is_translated_with_its_formulas(english_spanish: Translator) -> None:
    text = "The number $p$ is prime. Is $p + [q]$ even?\n\nWhy?"
    [done] = english_spanish.translate([text], "en", "es")
    assert "número" in done.text
    assert "primo" in done.text or "prim" in done.text
    assert done.text.index("$p$") < done.text.index("$p + [q]$") < done.text.index("\n\n")
    assert (done.backend, done.model, done.lost) == ("apertium", "eng-spa", ())


@real
def test_many_sentences_keep_their_order(english_spanish: Translator) -> None:
    texts = [f"The house {n} is red. ^ $ [ ] {{ }} \\ @ < > / *" for n in range(50)]
    for number, done in enumerate(english_spanish.translate(texts, "en", "es")):
        assert f"casa {number} " in done.text


@real
def test_the_error_names_a_language_pair_that_is_not_installed() -> None:
    with pytest.raises(InputError, match="no pair from en to ne: install a package"):
        open_translator("apertium").translate(["Why?"], "en", "ne")


@pytest.fixture
def stand_in(tmp_path: Path) -> Path:
    """A program whose behaviour depends on its input."""
    program = tmp_path / "apertium"
    program.write_text(
        f"#!{sys.executable}\n"
        "import sys, time\n"
        "if sys.argv[1] == '-l':\n"
        "    sys.exit(print('  eng-hbs\\n  eng-hbs_HR\\n  hbs-eng\\n  en-es'))\n"
        "text = sys.stdin.read()\n"
        "if 'sleep' in text: time.sleep(60)\n"
        "if 'fail' in text: sys.exit('cannot do that')\n"
        "sys.stdout.write(text.upper().replace('BREAK', 'BR\\n\\nEAK').replace('MARK', 'COME#'))\n"
    )
    program.chmod(0o755)
    return program


pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="apertium is a Unix program")


def test_language_pairs_are_found_by_any_name_of_a_language(stand_in: Path) -> None:
    backend = ApertiumBackend(str(stand_in))
    assert backend.model_for("en", "hr") == "eng-hbs_HR"
    assert backend.model_for("hr", "en") == "hbs-eng"
    assert backend.model_for("en", "es") == "en-es"


@pytest.mark.thorough
def test_a_blank_line_in_the_output_does_not_shift_sentences(stand_in: Path) -> None:
    backend = ApertiumBackend(str(stand_in))
    given = ["one", "two", "break", "four", "five"]
    assert backend.translate(given, "en", "es") == ["ONE", "TWO", "BR EAK", "FOUR", "FIVE"]


def test_marks_of_uninflected_words_are_removed_if_the_source_has_no_such_sign(
    stand_in: Path,
) -> None:
    backend = ApertiumBackend(str(stand_in))
    given = ["mark a word", "a # of mine, mark"]
    assert backend.translate(given, "en", "es") == ["COME A WORD", "A # OF MINE, COME#"]


@pytest.mark.thorough
def test_a_program_that_hangs_is_stopped(stand_in: Path) -> None:
    with pytest.raises(MathSetuError, match=r"was stopped after 0\.5 seconds"):
        ApertiumBackend(str(stand_in), timeout=0.5).translate(["sleep"], "en", "es")


def test_the_error_contains_the_message_of_a_failed_program(stand_in: Path) -> None:
    with pytest.raises(MathSetuError, match="apertium -u en-es failed: cannot do that"):
        ApertiumBackend(str(stand_in)).translate(["fail"], "en", "es")


def test_the_error_for_a_missing_program_says_what_to_install() -> None:
    with pytest.raises(InputError, match="apt-get install apertium"):
        ApertiumBackend("no-such-program").translate(["one"], "en", "es")
