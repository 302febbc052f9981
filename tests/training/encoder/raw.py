"""A small folder of raw material, in the form that `mathsetu train encoder prepare` reads."""

import json
import lzma
from collections.abc import Iterable
from pathlib import Path
from typing import Any

#: Sentences about numbers, with their translations.
SENTENCES = {
    "en": [
        "The number {n} is larger than its square root.",
        "Multiply both sides of the equation by {n}.",
        "A polygon with {n} sides has as many corners.",
        "Divide the circle into {n} equal parts.",
        "There are {n} ways to choose one ball.",
        "The remainder after division by {n} is zero.",
    ],
    "hi": [
        "संख्या {n} अपने वर्गमूल से बड़ी है।",
        "समीकरण के दोनों पक्षों को {n} से गुणा कीजिए।",
        "{n} भुजाओं वाले बहुभुज के उतने ही शीर्ष होते हैं।",
        "वृत्त को {n} बराबर भागों में बाँटिए।",
        "एक गेंद चुनने के {n} तरीके हैं।",
        "{n} से भाग देने पर शेषफल शून्य है।",
    ],
    "es": [
        "El número {n} es mayor que su raíz cuadrada.",
        "Multiplica los dos lados de la ecuación por {n}.",
        "Un polígono de {n} lados tiene otros tantos vértices.",
        "Divide el círculo en {n} partes iguales.",
        "Hay {n} maneras de elegir una bola.",
        "El resto de la división entre {n} es cero.",
    ],
    "cs": [
        "Číslo {n} je větší než jeho odmocnina.",
        "Vynásobte obě strany rovnice číslem {n}.",
        "Mnohoúhelník s {n} stranami má stejně vrcholů.",
        "Rozdělte kruh na {n} stejných částí.",
        "Je {n} způsobů, jak vybrat jednu kouli.",
        "Zbytek po dělení číslem {n} je nula.",
    ],
    "hr": [
        "Broj {n} veći je od svog korijena.",
        "Pomnožite obje strane jednadžbe s {n}.",
        "Mnogokut s {n} stranica ima isto toliko vrhova.",
        "Podijelite krug na {n} jednakih dijelova.",
        "Postoji {n} načina za izbor jedne kugle.",
        "Ostatak pri dijeljenju s {n} je nula.",
    ],
    "fa": [
        "عدد {n} از جذر خود بزرگ‌تر است.",
        "دو طرف معادله را در {n} ضرب کنید.",
        "چندضلعی با {n} ضلع همان تعداد رأس دارد.",
        "دایره را به {n} قسمت مساوی تقسیم کنید.",
        "برای انتخاب یک توپ {n} راه هست.",
        "باقی‌مانده تقسیم بر {n} صفر است.",
    ],
}
NUMBERS = range(3, 11)
#: A word of pairs that are for validation only.
UNSEEN_WORD = "quokka"
TOPIC = "In how many ways can nine guests sit around two round tables if nobody sits alone?"


def make_raw(folder: Path) -> Path:
    """Write parallel text, questions with answers and dictionaries into a folder."""
    (folder / "dict").mkdir(parents=True)
    for language in ("hi", "es", "cs", "hr", "fa"):
        write_lines(folder / f"parallel.en-{language}.tsv.xz", _pairs(language))
        write_lines(folder / "dict" / f"own-en-{language}.tsv.xz", _words(language))
    write_lines(folder / "qa.jsonl.xz", map(json.dumps, _answered()))
    return folder


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write lines into an xz file."""
    with lzma.open(path, "wt", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)


def read_lines(path: Path) -> list[str]:
    """The lines of an xz file."""
    with lzma.open(path, "rt", encoding="utf-8") as file:
        return file.read().splitlines()


def _pairs(language: str) -> Iterable[str]:
    for number in NUMBERS:
        for place, english in enumerate(SENTENCES["en"]):
            other = SENTENCES[language][place].format(n=number)
            source = "ncert" if place % 2 else "tatoeba"
            yield f"{english.format(n=number)}\t{other}\t{source}"
    other = SENTENCES[language][0].format(n=99)
    for source in ("ntrex", "flores"):
        yield f"The {UNSEEN_WORD} is here, says {source}.\t{other}\t{source}"
    yield f"We ask: {TOPIC}\t{other} {other}\ttatoeba"
    yield f"The menu %s of {{0}} files\t{other}\tdebian_mo"


def _words(language: str) -> Iterable[str]:
    words = {"hi": "केक", "es": "pastel", "cs": "dort", "hr": "torta", "fa": "کیک"}
    yield f"cake\t{words[language]}"
    yield "guest\t(no translation, but a remark 7)"


def _answered() -> Iterable[dict[str, Any]]:
    for number in NUMBERS:
        yield {
            "q": f"Why is the sum of the first ${number}$ odd numbers equal to ${number}^2$?",
            "a": f"Put the odd numbers around a square of balls: each makes it larger, up to "
            f"${number} \\cdot {number}$ balls in all.",
            "src": "own", "lang": "en", "kind": "qa",
        }  # fmt: skip
        yield {
            "q": f"What is the remainder of $n^{number}$ after division by ${number}$?",
            "a": f"By Fermat it is that of $n$ itself whenever ${number}$ is a prime number.",
            "src": "own", "lang": "en", "kind": "qa",
        }  # fmt: skip
    yield {"q": TOPIC, "a": "Count the partitions.", "src": "own", "lang": "en", "kind": "qa"}
    yield {"q": "वृत्त का क्षेत्रफल क्या है?", "a": "$\\pi r^2$", "src": "own", "lang": "hi",
           "kind": "qa"}  # fmt: skip
