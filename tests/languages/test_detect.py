"""Detection of languages: short texts, texts with formulas, and similar languages."""

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.typed_queries import TERMS, measure_terms, read_terms
from mathsetu.intake.question import typed_question
from mathsetu.languages.detect import Detected, Prior, detect
from mathsetu.languages.table import LANGUAGES


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "Prove that the sequence $a_n$ is bounded"),
        ("es", "Demuestra que la sucesión $a_n$ está acotada"),
        ("cs", "Dokažte, že posloupnost $a_n$ je omezená"),
        ("hr", "Dokažite da je niz $a_n$ ograničen"),
        ("fa", "ثابت کنید دنباله‌ی $a_n$ کراندار است"),
        ("hi", "सिद्ध कीजिए कि अनुक्रम $a_n$ परिबद्ध है"),
        ("ne", "अनुक्रम $a_n$ सीमित छ भनी प्रमाणित गर्नुहोस्"),
        ("fr", "Montrer que la suite $a_n$ est bornée"),
        ("de", "Zeige, dass die Folge $a_n$ beschränkt ist"),
        ("ar", "أثبت أن المتتالية $a_n$ محدودة"),
        ("ur", "ثابت کریں کہ یہ سلسلہ $a_n$ محدود ہے"),
        ("bn", "প্রমাণ করুন যে অনুক্রমটি $a_n$ সীমাবদ্ধ"),
        ("zh", "证明数列 $a_n$ 有界"),
        ("ja", "数列 $a_n$ が有界であることを示せ"),
        ("ru", "Докажите, что последовательность $a_n$ ограничена"),
    ],
)
def test_the_language_of_one_sentence_is_detected(language: str, text: str) -> None:
    assert detect(text).language == language


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("de", "Wie viele Teiler hat die Zahl"),
        ("fr", "Quelle est la somme des chiffres"),
        ("pt", "Qual é a soma dos números"),
        ("it", "Quanti sono i divisori della somma"),
        ("nl", "Hoe groot is de som van het getal"),
        ("pl", "Ile jest liczb, które są podzielne przez"),
        ("ru", "Найдите сумму всех чисел, которые делятся на"),
        ("uk", "Знайдіть суму всіх чисел, які діляться на"),
        ("bg", "Намерете сумата на всички числа, които се делят на"),
        ("tr", "Bu sayının kaç tane böleni var"),
        ("ar", "ما هو مجموع الأعداد"),
        ("ur", "اعداد کا مجموعہ کیا ہے"),
        ("bn", "সংখ্যাগুলির যোগফল কত"),
        ("mr", "या संख्येचे विभाजक किती आहेत"),
        ("ta", "எண்களின் கூட்டுத்தொகை என்ன"),
        ("te", "సంఖ్యల మొత్తం ఎంత"),
        ("gu", "સંખ્યાઓનો સરવાળો શોધો"),
        ("pa", "ਸੰਖਿਆਵਾਂ ਦਾ ਜੋੜ ਕੀ ਹੈ"),
        ("zh", "所有因数的和是多少"),
        ("ja", "約数の和はいくつか"),
        ("ko", "모든 약수의 합은 얼마인가"),
        ("id", "Berapa jumlah semua bilangan yang habis dibagi"),
        ("vi", "Tổng của các số là bao nhiêu"),
        ("el", "Ποιο είναι το άθροισμα των αριθμών"),
        ("ro", "Care este suma tuturor numerelor"),
        ("hu", "Mennyi az összes szám összege"),
        ("sv", "Hur många delare har talet"),
        ("sk", "Aký je súčet všetkých čísel, ktoré sú"),
        ("ca", "Quina és la suma dels nombres"),
    ],
)
def test_the_language_of_a_question_in_a_further_language_is_detected(
    language: str, text: str
) -> None:
    assert detect(text).language == language


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("de", "Das Basler Problem. Euler zeigte"),
        ("pt", "Soma das séries"),
        ("fr", "Il existe un entier"),
        ("it", "Il teorema"),
    ],
)
def test_a_function_word_of_two_languages_counts_for_both(language: str, text: str) -> None:
    assert detect(text).language == language


def test_a_further_language_of_the_library_is_preferred() -> None:
    held = Prior(library=frozenset({"en", "bg"}))
    assert detect("сума", prior=held).language == "bg"
    assert detect("сума", prior=Prior(library=frozenset({"en", "uk"}))).language == "uk"


@pytest.mark.parametrize(
    "text",
    [
        "samakalan ka maan gyat karo",
        "x ka mulya nikalo",
        "yah samikaran kaise hal karen",
        "samakalan ka sutra",
        "dvighat samikaran ka sutra",
        "shreni ka yog",
        "pythagoras pramey ka sutra",
        "trikon ke kon ka yog",
        "samakalan kare",
        "bayes ka prameya",
        "thales prameya",
    ],
)
def test_hindi_in_latin_letters_is_detected_as_hindi(text: str) -> None:
    found = detect(text)
    assert (found.language, found.script) == ("hi", "Latn")


@pytest.mark.parametrize(
    "text",
    [
        "What is the Ka value of the main term, or the ki of it?",
        "Se sabe que el mapa es continuo y se pide la cota",
        "Ke každému číslu se to hodí, jak to je a kdo ho zná",
        "Ka tome se svodi, a ko to zna neka pokaže",
        "limes ka beskonacno",
        "vzdalenost bodu ke primce",
        "put ka sutra",
        "integral matrix vector sankhya",
    ],
)
def test_languages_in_latin_script_are_not_detected_as_hindi(text: str) -> None:
    assert detect(text).language != "hi"


@pytest.mark.parametrize(
    ("text", "likely"),
    [
        ("теорема Пифагора", ("ru", "bg")),
        ("интеграл от синуса", ("ru", "bg")),
        ("производная сложной функции", ("ru",)),
        ("теорема на Питагор", ("bg",)),
        ("сума на ъглите в триъгълник", ("bg",)),
        ("теорема Піфагора", ("uk",)),
        ("випадкова величина", ("uk",)),
        ("собственные значения", ("ru",)),
    ],
)
def test_the_language_of_a_few_words_in_cyrillic_is_detected(
    text: str, likely: tuple[str, ...]
) -> None:
    found = detect(text)
    assert found.language == likely[0]
    assert (found.likely or (found.language,))[: len(likely)] == likely


def test_the_languages_of_the_library_decide_between_languages_in_cyrillic() -> None:
    for code in ("bg", "uk"):
        found = detect("параметри", prior=Prior(library=frozenset({code, "en"})))
        assert found.language == code


@pytest.mark.parametrize("text", ["", "  ", "$x^2+y^2$", "x", "42 + 1 = ?", "QZ1 QZ2", "α"])
def test_a_text_without_words_has_no_language(text: str) -> None:
    assert detect(text) == Detected("", 0.0, "")


def test_a_language_set_by_the_user_overrides_detection() -> None:
    assert detect("integral", override="hr-HR") == Detected("hr", 1.0, "Latn")


def test_words_inside_formulas_do_not_count() -> None:
    formula = r"$\text{if the number is even and also the sum of other numbers}$"
    assert detect(f"{formula} नहीं है").language == "hi"


def test_a_text_that_quotes_english_keeps_its_language() -> None:
    own = "Pokušavam razumjeti sljedeću tvrdnju iz knjige o realnoj analizi i ne uspijevam. "
    quoted = "Every bounded sequence of real numbers has a convergent subsequence. " * 6
    found = detect(own + quoted)
    assert found.language == "hr"
    assert found.confidence < 0.9


def test_one_international_word_gives_low_confidence() -> None:
    assert detect("integral").confidence < 0.5


def test_the_language_of_a_long_text_is_detected() -> None:
    assert detect("Every prime number is odd or two. " * 50_000).language == "en"


@pytest.mark.thorough
def test_detection_by_the_script_does_not_import_numpy() -> None:
    code = (
        "import sys; from mathsetu.languages.detect import detect; "
        "detect('数列'); print('numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@given(st.text())
def test_any_text_gets_a_confidence_between_0_and_1(text: str) -> None:
    assert 0.0 <= detect(text).confidence <= 1.0


@pytest.mark.shared
@pytest.mark.thorough
def test_detection_is_accurate_on_the_crossmath_topics(shared_data: Path) -> None:
    for row in LANGUAGES.values():
        path = shared_data / "crossmath" / "topics" / f"{row.nllb}.tsv"
        cells = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
        accepted = {"hi", "ne"} if row.script == "Deva" else {row.code}
        titles = [detect(cell[1]).language in accepted for cell in cells]
        whole = [detect(f"{cell[1]} {cell[2]}").language in accepted for cell in cells]
        assert sum(titles) / len(titles) >= 0.95, row.name
        assert sum(whole) / len(whole) >= 0.99, row.name


@pytest.mark.thorough
def test_detection_is_accurate_on_terms(capsys: pytest.CaptureFixture[str]) -> None:
    terms = read_terms(TERMS)
    assert len(terms) >= 300
    assert measure_terms(terms, "nothing known", prior=False, wrong=False) >= 0.97
    assert measure_terms(terms, "library known", prior=True, wrong=False) >= 0.97
    assert capsys.readouterr().out


@pytest.mark.parametrize(
    ("term", "language"),
    [("polynomial", "en"), ("gcd", "en"), ("det", "en"), ("sin", "en"), ("sin cos", "en"),
     ("prvočíslo", "cs"), ("prvocislo", "cs"),
     ("jednadžba", "hr"), ("ecuación", "es"), ("samikaran", "hi"), ("چندجمله‌ای", "fa")],
)  # fmt: skip
def test_a_single_term_of_the_glossary_decides_the_language(term: str, language: str) -> None:
    assert detect(term).language == language


def test_a_shared_term_has_all_its_languages_as_likely_ordered_by_the_prior() -> None:
    assert detect("vector").likely == ("en", "es")
    assert detect("vector", prior=Prior(page="es")).likely == ("es", "en")
    assert detect("vektor", prior=Prior(page="hr")).likely == ("hr", "cs")
    assert detect("vektor", prior=Prior(library=frozenset({"hr"}))).likely == ("hr", "cs")
    assert detect("त्रिभुज", prior=Prior(library=frozenset({"ne", "en"}))).likely == ("ne", "hi")


@pytest.mark.parametrize(
    "text",
    ["suma de dos fracciones", "probabilidad de dos caras al lanzar una moneda", "los dos números",
     "Dos rectas paralelas no se cortan.", "directamente al sur de la casa",
     "dos trenes van al norte"],
)  # fmt: skip
def test_spanish_is_detected_despite_words_shared_with_similar_languages(text: str) -> None:
    assert detect(text).language == "es"


@pytest.mark.parametrize("text", ["varg samikaran", "samikaran varg", "tribhuj kshetrafal"])
def test_hindi_terms_in_latin_letters_need_no_function_word(text: str) -> None:
    assert detect(text).language == "hi"


def test_an_english_name_without_its_apostrophe_is_not_hindi() -> None:
    held = Prior(library=frozenset({"en", "hi"}))
    assert detect("lhopital", prior=held).language == "en"
    assert detect("samikaran", prior=held).language == "hi"


def test_names_with_foreign_letters_do_not_change_the_language_of_a_text() -> None:
    assert detect("Gödel's incompleteness theorem").language == "en"
    assert detect("regla de L'Hôpital").language == "es"


@pytest.mark.thorough
def test_romanised_hindi_function_words_are_converted_to_devanagari() -> None:
    question = typed_question("vah samikaran hain")
    assert question.language == "hi"
    assert question.words.split()[-1] == "हैं"


@pytest.mark.parametrize(
    ("term", "code"),
    [("Kettenregel", "de"), ("fonction continue", "fr"), ("liczba pierwsza", "pl")],
)
def test_a_term_of_a_further_language_is_detected_by_its_glossary(term: str, code: str) -> None:
    assert detect(term).language == code


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("intégration par parties", "fr"),
        ("nombre premier", "fr"),
        ("loi binomiale", "fr"),
        ("successione convergente", "it"),
        ("liczby zespolone", "pl"),
        ("komplexe Zahlen", "de"),
        ("bilangan prima", "id"),
    ],
)
def test_the_language_of_a_few_words_is_the_one_that_knows_them(text: str, code: str) -> None:
    assert detect(text).language == code


def test_a_word_with_an_accent_is_not_of_a_language_that_spells_it_without() -> None:
    assert "es" not in (detect("série de Taylor").language, *detect("série de Taylor").likely)
    assert detect("numero primo").likely == ("es", "it")


@pytest.mark.parametrize("text", ["matrix norms", "infinitely many primes", "sum of two squares"])
def test_detection_of_english_words_does_not_load_the_language_model(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr("mathsetu.languages.detect.model.language_model", fail)
    assert detect(text).language == "en"


@pytest.mark.parametrize(
    ("text", "library", "likely"),
    [
        ("intégrale", "en fr", ("fr",)),
        ("matrice inversible", "en fr", ("fr",)),
        ("teorema de Pitágoras", "en pt", ("pt", "es")),
        ("desigualdade entre médias", "en pt", ("pt",)),
        ("kladných celých", "en sk", ("sk", "cs")),
        ("convergence uniforme", "en fr", ("fr",)),
        ("prime number", "en fr", ("en",)),
        ("Dreieck", "de fr", ("de",)),
        ("Newton", "de fr", ("de", "fr", "en", "cs", "es", "hr")),
        ("fixed point", "en pt", ("en",)),
        ("número primo", "en", ("es",)),
    ],
)
def test_words_are_looked_up_in_the_languages_of_the_library(
    text: str, library: str, likely: tuple[str, ...]
) -> None:
    found = detect(text, prior=Prior(library=frozenset(library.split())))
    assert (found.likely or (found.language,)) == likely


def test_the_language_of_the_page_decides_between_languages_that_share_a_word() -> None:
    library = frozenset({"en", "fr"})
    assert detect("variance", prior=Prior("", library)).language == "en"
    assert detect("variance", prior=Prior("fr", library)).language == "fr"
    assert detect("prime number", prior=Prior("fr", library)).language == "en"


@pytest.mark.parametrize("text", ["Elle converge", "Elle converge :"])
def test_punctuation_does_not_change_the_language(text: str) -> None:
    assert detect(text, prior=Prior(library=frozenset({"fr"}))).language == "fr"


@pytest.mark.parametrize(
    "text", ["yog ka sutra", "byaj", "bindu", "guna", "kone ka maan", "vyas", "euler ka sutra"]
)
def test_short_hindi_in_latin_letters_is_detected_where_hindi_is_expected(text: str) -> None:
    assert detect(text, prior=Prior(library=frozenset({"en", "hi"}))).language == "hi"
    assert detect(text, prior=Prior("hi")).language == "hi"


@pytest.mark.parametrize("text", ["mean value", "point", "ring", "limit", "set", "area of circle"])
def test_english_words_that_sound_like_hindi_are_detected_as_english(text: str) -> None:
    assert detect(text, prior=Prior("hi", frozenset({"en", "hi"}))).language == "en"
