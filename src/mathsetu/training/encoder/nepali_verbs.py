"""Generates the forms of Hindi verbs with their Nepali translations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

_CONSONANTS = frozenset(map(chr, range(0x0915, 0x093A)))
# Irregular polite imperatives.
_POLITE = {"कर": "कीजिए", "दे": "दीजिए", "ले": "लीजिए"}
# Light verbs (give, take, go) after a stem, which Nepali leaves out.
_LIGHT = (("दे", "दिया"), ("ले", "लिया"), ("जा", "गया"))


@dataclass(frozen=True)
class _Nepali:
    """The five bases of a Nepali verb; the comments show those of "to do"."""

    infinitive: str  # गर्न
    present: str  # गर्, before छ
    participle: str  # गर्द
    perfect: str  # गरे
    passive: str  # गरि


def verb_forms(hindi: str, nepali: str) -> Iterator[tuple[str, str]]:
    """Yield Hindi forms with their Nepali ones; of equal Hindi forms, the first is the usual one.

    Args:
        hindi: Stem and past without dots below, as in ``"कर/किया"``.
        nepali: The stem, and the past stem if different, as in ``"हु/भ"``.

    >>> forms = dict(verb_forms("लिख/लिखा", "लेख"))
    >>> forms["लिख सकते हैं"], forms["लिखा गया है"], forms["लिखने पर"]
    ('लेख्न सक्छन्', 'लेखिएको छ', 'लेख्दा')
    """
    stem, past = hindi.split("/")
    bases = _bases(nepali)
    yield from _forms(stem, past, bases)
    for light, light_past in _LIGHT:
        yield from _forms(f"{stem} {light}", f"{stem} {light_past}", bases)


def _forms(stem: str, past: str, nepali: _Nepali) -> Iterator[tuple[str, str]]:
    yield from _present(stem, nepali)
    yield from _infinitive(stem, nepali)
    yield from _helped(stem, nepali)
    yield from _wished(stem, nepali)
    yield from _past(past, nepali)


def polite_form(nepali: str) -> tuple[str, str]:
    """Return the third-person plural form and the polite "you" form of a verb.

    >>> polite_form("गर")
    ('गर्छन्', 'गर्नुहुन्छ')
    """
    bases = _bases(nepali)
    return bases.present + "छन्", bases.infinitive + "ुहुन्छ"


def _bases(nepali: str) -> _Nepali:
    stem, _, past = nepali.partition("/")
    if past:
        perfect, passive = past + "ए", past + "इ"
    elif stem.endswith("ह"):
        perfect, passive = stem + "े", stem + "ि"
    elif stem[-1] in _CONSONANTS:
        return _Nepali(stem + "्न", stem + "्", stem + "्द", stem + "े", stem + "ि")
    elif stem.endswith("उ"):
        before = stem[:-1]
        return _Nepali(stem + "न", stem + "ँ", stem + "ँद", before + "ए", before + "इ")
    else:
        perfect, passive = stem + "ए", stem if stem.endswith("इ") else stem + "इ"
    return _Nepali(stem + "न", stem + "न्", stem + "ँद", perfect, passive)


def _present(stem: str, nepali: _Nepali) -> Iterator[tuple[str, str]]:
    does, did = nepali.present + "छ", nepali.present + "थ्यो"
    for ending in ("ता", "ती", "ते"):
        form = stem + ending
        yield f"{form} है", does
        yield f"{form} हैं", does + "न्"
        yield f"{form} हूँ", does + "ु"
        yield f"{form} हो", does + "ौ"
        yield f"{form} था", did
        yield f"{form} थी", did
        yield f"{form} थे", nepali.present + "थे"
        yield f"{form} हुए", nepali.participle + "ै"
        yield f"{form} हुआ", nepali.infinitive + "े"
        yield f"{form} हुई", nepali.infinitive + "े"
        yield form, does
        for negative in (f"नहीं {form}", f"नहीं {form} है"):
            yield negative, nepali.participle + "ैन"
        yield f"नहीं {form} हैं", nepali.participle + "ैनन्"


def _infinitive(stem: str, nepali: _Nepali) -> Iterator[tuple[str, str]]:
    base = nepali.infinitive
    for ending in ("ना", "ने", "नी"):
        form = stem + ending
        yield f"{form} चाहिए", base + "ुपर्छ"
        yield f"{form} होगा", base + "ुपर्नेछ"
        yield f"{form} चाहता हूँ", base + " चाहन्छु"
        yield f"{form} चाहते हैं", base + " चाहन्छन्"
    yield stem + "ना", base + "ु"
    yield stem + "नी", base + "ु"
    oblique = stem + "ने"
    yield oblique, base + "े"
    for genitive in ("का", "के", "की", "वाला", "वाले", "वाली"):
        yield f"{oblique} {genitive}", base + "े"
    for purpose in ("के लिए", "के लिये", "हेतु"):
        yield f"{oblique} {purpose}", base + "का लागि"
    yield f"{oblique} के बाद", nepali.perfect + "पछि"
    yield f"{oblique} से पहले", base + "ु अघि"
    yield f"{oblique} पर", nepali.participle + "ा"
    yield f"{oblique} से", nepali.participle + "ा"
    yield f"{oblique} में", base + "मा"
    yield f"{oblique} को", base


def _helped(stem: str, nepali: _Nepali) -> Iterator[tuple[str, str]]:
    """Yield forms with auxiliaries: can, is doing, has already done, having done."""
    for can in ("सकता", "सकती", "सकते"):
        yield f"{stem} {can} है", nepali.infinitive + " सक्छ"
        yield f"{stem} {can} हैं", nepali.infinitive + " सक्छन्"
        yield f"{stem} {can} हूँ", nepali.infinitive + " सक्छु"
        yield f"{stem} {can}", nepali.infinitive + " सक्छ"
        for cannot in (f"नहीं {stem} {can}", f"नहीं {stem} {can} है", f"नहीं {stem} {can} हैं"):
            yield cannot, nepali.infinitive + " सक्दैन"
    for going in ("रहा", "रही", "रहे"):
        doing = f"{stem} {going}"
        yield f"{doing} है", nepali.passive + "रहेको छ"
        yield f"{doing} हैं", nepali.passive + "रहेका छन्"
        yield f"{doing} हूँ", nepali.passive + "रहेको छु"
        yield f"{doing} था", nepali.passive + "रहेको थियो"
        yield f"{doing} थे", nepali.passive + "रहेका थिए"
    for already in ("चुका", "चुकी", "चुके"):
        yield f"{stem} {already} है", nepali.passive + "सकेको छ"
        yield f"{stem} {already} हैं", nepali.passive + "सकेका छन्"
    yield f"{stem}कर", nepali.perfect + "र"
    yield f"{stem} कर", nepali.perfect + "र"
    # After other stems "के" is more often a postposition: मान is also the noun "value".
    if stem.endswith("कर"):
        yield f"{stem}के", nepali.perfect + "र"
        yield f"{stem} के", nepali.perfect + "र"


def _wished(stem: str, nepali: _Nepali) -> Iterator[tuple[str, str]]:
    """Yield imperatives, wishes and the future."""
    if stem.endswith("े"):
        short, singular, plural = stem[:-1], stem + "गा", stem + "ंगे"
        commands = [short + "ें", short + "ो"]
    elif stem[-1] in _CONSONANTS:
        singular, plural = stem + "ेगा", stem + "ेंगे"
        commands = [stem + "ें", stem + "ो", stem + "िए"]
    else:
        singular, plural = stem + "एगा", stem + "एँगे"
        commands = [stem + "एँ", stem + "ओ", stem + "इए"]
    *before, last = stem.split()
    if last in _POLITE:
        commands.append(" ".join((*before, _POLITE[last])))
    for command in commands:
        yield command, nepali.infinitive + "ुहोस्"
    will = nepali.infinitive + "ेछ"
    for form in (singular, singular[:-1] + "ी"):
        yield form, will
        yield f"नहीं {form}", will + "ैन"
    yield plural, will + "न्"
    if stem[-1] in _CONSONANTS:
        yield stem + "ूँ", nepali.infinitive + "े"
        yield stem + "ूँगा", will + "ु"


def _past(past: str, nepali: _Nepali) -> Iterator[tuple[str, str]]:
    """Yield the past and the passive, which is formed from it."""
    for form in _genders(past):
        yield f"{form} जाता है", nepali.passive + "न्छ"
        yield f"{form} जाती है", nepali.passive + "न्छ"
        yield f"{form} जाते हैं", nepali.passive + "न्छन्"
        yield f"{form} जाती हैं", nepali.passive + "न्छन्"
        for was in ("गया", "गई", "गयी", "गए", "गये"):
            yield f"{form} {was}", nepali.passive + "एको"
            yield f"{form} {was} है", nepali.passive + "एको छ"
            yield f"{form} {was} हैं", nepali.passive + "एका छन्"
            yield f"{form} {was} था", nepali.passive + "एको थियो"
        for can in ("सकता", "सकती", "सकते"):
            for tail in ("", " है", " हैं"):
                yield f"{form} जा {can}{tail}", nepali.infinitive + " सकिन्छ"
                yield f"नहीं {form} जा {can}{tail}", nepali.infinitive + " सकिँदैन"
        for wish in ("जाए", "जाये"):
            yield f"{form} {wish}", nepali.passive + "ए"
            yield f"{form} {wish}गा", nepali.passive + "नेछ"
        yield f"{form} जाना", nepali.passive + "नु"
        yield f"{form} जाना चाहिए", nepali.passive + "नुपर्छ"
        yield f"{form} है", nepali.perfect + "को छ"
        yield f"{form} हैं", nepali.perfect + "का छन्"
        yield f"{form} था", nepali.perfect + "को थियो"
        for state in ("हुआ", "हुई", "हुए"):
            yield f"{form} {state}", nepali.perfect + "को"
        yield f"नहीं {form}", nepali.perfect + "न"
        yield f"नहीं {form} है", nepali.perfect + "को छैन"
        # "की" alone is a postposition.
        if not form.endswith("ी") or len(form) > 2:
            yield form, nepali.perfect


def _genders(past: str) -> tuple[str, ...]:
    if past.endswith("िया"):
        return past, past[:-2] + "ए", past[:-3] + "ी"
    if past.endswith(("या", "आ")):
        base = past.removesuffix("या").removesuffix("आ")
        return past, base + "ए", base + "ई"
    return past, past[:-1] + "े", past[:-1] + "ी"
