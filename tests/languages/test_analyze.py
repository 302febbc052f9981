"""Analysis: variants of a word have the same terms, and different words have different terms."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathsetu.errors import InputError
from mathsetu.languages.analyze import analyze, tokenize, words
from mathsetu.languages.endings import normalise_ending
from mathsetu.languages.normalise import normalise
from mathsetu.languages.table import LANGUAGES
from tests.timing import assert_within


def meet(language: str, *spellings: str) -> bool:
    analyses = {tuple(analyze(text, language)) for text in spellings}
    return len(analyses) == 1 and analyses != {()}


def test_a_devanagari_word_with_vowel_signs_is_one_token() -> None:
    assert tokenize("अपरिमेय संख्याएँ") == ["अपरिमेय", "संख्याएं"]


@pytest.mark.parametrize(
    "spellings",
    [
        ("फ़लन", "फलन"),  # with and without nukta
        ("ज़ीटा", "ज\u093cीटा"),  # composed and decomposed nukta
        ("पूर्णाङ्क", "पूर्णांक"),  # nasal consonant, anusvara
        ("सम्बन्ध", "संबंध"),
        ("सँख्या", "संख्या"),  # chandrabindu, anusvara
        ("कॉम्प्लेक्स", "कोम्प्लेक्स"),
        ("क्\u200dषेत्र", "क्षेत्र"),
        ("तत्त्व", "तत्व"),
        ("१२", "12"),
    ],
)
def test_spelling_variants_in_hindi_have_the_same_terms(spellings: tuple[str, ...]) -> None:
    assert meet("hi", *spellings)


@pytest.mark.parametrize(
    "spellings",
    [
        ("factorise", "factorize", "factorising", "factorisation", "factorizations"),
        ("diagonalisable", "diagonalizable", "Diagonalisability"),
        ("amortised", "amortized"),
        ("analyse", "analyzing", "analysed"),
        ("neighbour", "neighbors"),
        ("neighbourhood", "neighborhoods"),
        ("coloured", "coloring", "colour"),
        ("centre", "centers", "centred"),
        ("kilometres", "kilometer"),
        ("programme", "programs"),
    ],
)
def test_british_and_american_spellings_have_the_same_terms(spellings: tuple[str, ...]) -> None:
    assert meet("en", *spellings)
    assert len({analyze(text, "en", stemmer="snowball")[0] for text in spellings}) == 1


@pytest.mark.parametrize(
    "word",
    "promise compromised surmise treatise advertised expertise precise exercises arises premise "
    "four contour source piecewise lattice metred programmer resource".split(),
)
def test_words_that_only_look_british_are_not_changed(word: str) -> None:
    assert normalise_ending(word, "english") == word


def test_the_porter_stemmer_does_not_normalise_british_spellings() -> None:
    assert analyze("centre", "en", stemmer="porter") != analyze("center", "en", stemmer="porter")


@pytest.mark.parametrize("language", ["", "en", "es", "it", "pt"])
def test_spelling_variants_of_an_ordinal_have_the_same_terms(language: str) -> None:
    assert meet(language, "(4º)", "4.º", "4ª", "4.ª", "4")
    assert analyze("1.º2", language)[0] == "1"  # no words are joined


def test_a_nasal_before_a_consonant_of_another_class_does_not_become_anusvara() -> None:
    assert normalise("अन्य") == "अन्य"


@pytest.mark.parametrize(
    "spellings",
    [
        ("كتاب", "کتاب"),
        ("رياضي", "ریاضی"),
        ("تابعِ", "تابع"),  # vowel mark
        ("مجمـوعه", "مجموعه"),  # tatweel
        ("مثلث‌ها", "مثلثها", "مثلث ها"),  # half-space, nothing, space
        ("همگرا می‌گردد", "همگرا میگردد", "همگرا می گردد"),
        ("نقطه‌ی", "نقطهٔ", "نقطه"),
        ("آمار", "امار"),
        ("۱۲۳", "١٢٣", "123"),
    ],
)
def test_spelling_variants_in_persian_have_the_same_terms(spellings: tuple[str, ...]) -> None:
    assert meet("fa", *spellings)


def test_a_half_space_does_not_split_a_word() -> None:
    assert len(tokenize("می‌شود")) == 1


def test_a_persian_function_word_is_dropped_in_every_spelling() -> None:
    assert analyze("می‌شود میشود می شود", "fa") == []


@pytest.mark.parametrize(
    ("language", "spellings"),
    [
        ("cs", ("řešení", "reseni")),
        ("cs", ("spojitá funkce", "spojita funkce")),
        ("hr", ("jednadžba", "jednadzba")),
        ("hr", ("međuvrijednost", "meduvrijednost")),
        ("cs", ("Möbius", "Mobius")),
        ("es", ("ecuación", "ecuacion")),
        ("es", ("Gröbner", "Grobner")),
        ("en", ("Poincaré", "Poincare")),
        ("en", ("Riemann's sum", "Riemann sum", "RIEMANN’S SUMS")),
        ("en", ("ﬁnite ﬁelds", "finite fields")),
    ],
)
def test_words_with_and_without_accents_and_marks_have_the_same_terms(
    language: str, spellings: tuple[str, ...]
) -> None:
    assert meet(language, *spellings)


@pytest.mark.parametrize(
    ("language", "forms"),
    [
        ("en", "integral integrals integrally"),
        ("es", "derivada derivadas"),
        ("cs", "matice maticemi"),
        ("hr", "neprekidan neprekidna neprekidnost neprekidnih"),
        ("hr", "logaritam logaritma logaritmi logaritama"),
        ("hr", "polinom polinoma polinomi polinomima"),
        ("hr", "teorem teorema teoremi"),
        ("hr", "matrica matrice matrici matrični"),
        ("hi", "समीकरण समीकरणों"),
        ("ne", "त्रिभुज त्रिभुजहरू त्रिभुजको"),
        ("fa", "عدد عددها عددهای"),
        ("pt", "função funções funcao funcoes"),
        ("pt", "multiplicação multiplicações multiplicacao multiplicacoes"),
        ("pt", "dimensão dimensões dimensao dimensoes"),
        ("pt", "integral integrais"),
        ("pt", "variável variáveis variavel variaveis"),
        ("pt", "nível níveis nivel niveis"),
        ("pt", "anel anéis aneis"),
        ("pt", "difícil difíceis dificil dificeis"),
        ("pt", "percentil percentis"),
        ("pt", "ordem ordens"),
        ("pt", "elétron elétrons eletrons"),
        ("pt", "azul azuis"),
        ("pt", "grau graus"),
        ("pt", "arco arcos"),
        ("pt", "lei leis"),
        ("pt", "mínimo mínimos minimos mínima"),
        ("pt", "próximo próximos proximos"),
        ("pt", "circunferência circunferências circunferencia circunferencias"),
        ("fr", "entier entiers"),
        ("fr", "résidu résidus residus"),
        ("fr", "noyau noyaux"),
        ("fr", "inégalité inégalités inegalite inegalites"),
        ("fr", "dérivée dérivées derivee derivees"),
        ("ca", "equació equacions equacio"),
        ("ca", "raó raons"),
        ("ca", "cartesià cartesians"),
        ("ca", "polígon polígons poligons"),
        ("ca", "lògica lògiques"),
        ("ca", "nombre nombres"),
        ("ca", "terme termes"),
        ("ca", "símbol símbols simbols"),
        ("es", "propiedad propiedades"),
        ("es", "unidad unidades"),
        ("es", "desigualdad desigualdades"),
        ("es", "probabilidad probabilidades"),
        ("es", "mitad mitades"),
        ("es", "pared paredes"),
        ("es", "escalar escalares"),
        ("es", "carácter caracteres caracter"),
        ("es", "sumando sumandos"),
        ("es", "volumen volúmenes volumenes"),
        ("es", "almacén almacenes"),
        ("es", "matriz matrices"),
        ("es", "raíz raíces raiz raices"),
        ("es", "vez veces"),
        ("es", "máximo máximos maximos máxima"),
        ("es", "infinitésimo infinitésimos infinitesimos"),
        ("es", "préstamo préstamos"),
        ("es", "supremo supremos"),
        ("es", "paralelogramo paralelogramos"),
        ("es", "cuaderno cuadernos"),
        ("es", "línea líneas linea lineas"),
        ("es", "valiosa valiosas valioso"),
        ("es", "arco arcos"),
        ("es", "eje ejes"),
        ("es", "día días dias"),
        ("es", "bit bits"),
        ("es", "simetría simetrías simetria simetrias"),
        ("es", "teoría teorías teoria teorias"),
        ("es", "primer primero primera"),
        ("es", "gran grande"),
        ("es", "interés intereses interes"),
        ("es", "radián radianes radian"),
        ("es", "vacío vacía vacíos vacías vacio vacias"),
    ],
)
def test_inflected_forms_have_the_same_terms(language: str, forms: str) -> None:
    assert meet(language, *forms.split())


@pytest.mark.parametrize(
    ("language", "words_apart"),
    [
        ("hr", "broj brzina"),
        ("hr", "niz razina"),
        ("hr", "funkcija funktor"),
        ("cs", "matice matematika"),
        ("hi", "समीकरण समाकलन"),
        ("fa", "مشتق مثلث"),
        ("pt", "função funcional"),
        ("pt", "fração fracos"),
        ("es", "unidad unido"),
        ("es", "primer primo"),
        ("es", "pared par"),
        ("es", "verdad verde"),
    ],
)
def test_different_words_have_different_terms(language: str, words_apart: str) -> None:
    first, second = words_apart.split()
    assert analyze(first, language) != analyze(second, language)


@pytest.mark.parametrize(
    ("language", "term", "other"),
    [
        ("fr", "nombre d'or", "nombre"),
        ("fr", "sous-groupe", "groupe"),
        ("fa", "زیر گروه", "گروه"),
        ("fa", "جزء صحیح", "صحیح"),
        ("hr", "druga derivacija", "derivacija"),
        ("hr", "funkcija pod", "funkcija"),
        ("hi", "अधिक कोण", "कोण"),
        ("vi", "cận trên", "cận dưới"),
        ("ur", "سب گروپ", "گروپ"),
        ("cs", "desetinné místo", "desetinné"),
    ],
)
def test_words_that_distinguish_terms_are_not_stop_words(
    language: str, term: str, other: str
) -> None:
    assert analyze(term, language) != analyze(other, language)


def test_stop_words_can_be_kept() -> None:
    assert analyze("the sum of squares", "en") == ["sum", "squar"]
    assert analyze("the sum of squares", "en", stop_words=False) == ["the", "sum", "of", "squar"]


def test_the_stemmer_of_english_can_be_chosen() -> None:
    assert analyze("generously", "en", stemmer="porter") == ["gener"]
    assert analyze("generously", "en", stemmer="snowball") == ["generous"]
    assert analyze("generously", "en", stemmer="none") == ["generously"]


def test_an_unknown_stemmer_is_refused_with_the_list_of_known_ones() -> None:
    with pytest.raises(InputError, match=r"unknown stemmer 'lovins' \(known: .*porter"):
        analyze("text", "en", stemmer="lovins")


def test_english_terms_in_other_scripts_are_stemmed_as_english() -> None:
    assert analyze("matrices का rank", "hi") == analyze("matrices rank", "en")


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("线性代数", ["线性", "性代", "代数"]),
        ("数", ["数"]),
        ("Abel群", ["abel", "群"]),
        ("จำนวน", ["จํ", "ํา", "าน", "นว", "วน"]),
        ("Größe der Zahl", ["grosse", "der", "zahl"]),
        ("Целые числа", ["целые", "числа"]),
    ],
)
def test_text_of_an_unknown_language_is_analysed_by_its_script(text: str, terms: list[str]) -> None:
    assert analyze(text, "xx") == terms


def test_formulas_are_left_out_of_the_words() -> None:
    assert analyze(words(r"Show that $\alpha_1$ is \(x\) even"), "en") == ["show", "even"]


@given(st.text(), st.sampled_from([*LANGUAGES, "", "zh"]))
def test_any_text_gets_terms_that_are_not_empty_and_have_no_spaces(
    text: str, language: str
) -> None:
    for term in analyze(text, language):
        assert term
        assert not any(character.isspace() for character in term)


@given(st.text())
def test_a_third_normalisation_changes_nothing(text: str) -> None:
    once = normalise(normalise(text))
    assert normalise(once) == once


@pytest.mark.thorough
@pytest.mark.parametrize("language", LANGUAGES)
def test_analysis_of_a_megabyte_takes_less_than_a_second(language: str) -> None:
    samples = {
        "hi": "सिद्ध कीजिए कि फलन {} पर सतत है और उसका समाकलन ज्ञात कीजिए ",
        "ne": "प्रमाण गर्नुहोस् कि फलन {} मा निरन्तर छ ",
        "fa": "ثابت کنید که تابع {} پیوسته است و انتگرال آن را بیابید ",
    }
    sample = samples.get(language, "Dokažite da je funkcija {} neprekidna and find the integral ")
    text = "".join(sample.format(number) for number in range(12_000))
    # The first try also fills the cache of words; in a real collection most words are cached.
    assert_within(len(text.encode()) / 1e6, lambda: analyze(text, language))


@pytest.mark.parametrize("code", sorted(LANGUAGES))
@pytest.mark.parametrize("word", ["हरू", "लाई", "को", "ها", "ے", "ová"])
def test_a_word_that_is_only_an_ending_stays_a_term(code: str, word: str) -> None:
    assert all(analyze(word, code, stop_words=False))
    assert analyze(word, code, stop_words=False) != []


@pytest.mark.parametrize("text", ["국्", "्国", "국\u0301", "国्国"])
def test_marks_beside_unspaced_scripts_make_no_empty_terms(text: str) -> None:
    terms = analyze(text, "")
    assert terms
    assert all(terms)


@pytest.mark.parametrize(
    ("code", "one", "other"),
    [
        ("tr", "SINIRLI DİZİ", "sınırlı dizi"),
        ("tr", "sinirli dizi", "SINIRLI DIZI"),
        ("de", "Primzahlen", "Primzahl"),
        ("fr", "l’intégrale", "intégrales"),
        ("it", "dell'equazione", "equazioni"),
        ("ru", "последовательности", "последовательность"),
        ("uk", "об'єм", "об’єм"),
        ("ar", "المتتالية", "متتاليات"),
        ("ar", "٣ أعداد", "3 اعداد"),
        ("ur", "۳ سلسلہ", "3 سلسله"),
        ("bn", "৩ র\u200d্যাঙ্ক", "3 র্যাঙ্ক"),
        ("ta", "க்\u200cஷ", "க்ஷ"),
        ("mr", "१२ संख्या", "12 संख्या"),
        ("de", "Poincaré", "Poincare"),
        ("fr", "Hölder", "Holder"),
        ("tr", "Poincaré", "Poincare"),
        ("vi", "SỐ NGUYÊN TỐ", "so nguyen to"),
    ],
)
def test_spelling_variants_in_further_languages_have_the_same_terms(
    code: str, one: str, other: str
) -> None:
    assert analyze(one, code) == analyze(other, code) != []


def test_function_words_of_a_further_language_are_dropped() -> None:
    assert analyze("Wie groß ist die Summe der Teiler", "de") == ["gross", "summ", "teil"]
    assert analyze("ما هو مجموع الأعداد", "ar") == ["مجموع", "اعداد"]


def test_a_vietnamese_word_with_a_tone_mark_is_not_the_stop_word_without_it() -> None:
    assert analyze("con chó cho mèo", "vi") == ["con", "cho", "meo"]
    assert analyze("được duoc", "vi") == []


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("de", "wann warum wie was wo wer"),
        ("fr", "quand pourquoi comment combien"),
        ("it", "quando perché come dove"),
        ("pt", "quando como onde quanto"),
        ("pl", "kiedy dlaczego jak gdzie ile"),
        ("ru", "когда почему как где сколько"),
        ("uk", "коли чому як де скільки"),
        ("sk", "kedy prečo ako kde koľko"),
    ],
)
def test_question_words_are_stop_words(language: str, words: str) -> None:
    assert analyze(words, language) == []
