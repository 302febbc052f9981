"""Names that may be mathematics, and words and signs that look like mathematics but are prose."""

from __future__ import annotations

from typing import Final

from mathsetu.formulas.latex.symbols import NATIONAL

#: Functions as typed, in several languages, and their LaTeX.
FUNCTIONS: Final[dict[str, str]] = {
    name: f"\\{name}"
    for name in (
        "sin cos tan cot sec csc sinh cosh tanh coth arcsin arccos arctan log ln exp max min sup "
        "inf gcd det dim ker deg arg hom"
    ).split()
} | {
    "asin": "\\arcsin", "acos": "\\arccos",
    "atan": "\\arctan", "lg": "\\log", "lb": "\\log_2", "máx": "\\max", "mín": "\\min",
    "GCD": "\\gcd", "hcf": "\\gcd", "HCF": "\\gcd",
    "Ker": "\\ker", "Det": "\\det", "grad": "\\nabla", "LCM": "\\operatorname{lcm}",
    "sh": "\\sinh", "ch": "\\cosh", "cth": "\\coth", "Arctan": "\\arctan",
    "Arcsin": "\\arcsin", "Arccos": "\\arccos",
}  # fmt: skip
FUNCTIONS.update(
    (name, f"\\operatorname{{{name}}}")
    for name in (
        "div curl lcm sgn sign rank nullity span tr trace sech csch erf erfc erfi sinc adj "
        "diag vol var cov Var Cov Re Im Aut Hom End Gal Tr Res Li arsinh arcosh artanh arccot "
        "argmax argmin"
    ).split()
)
FUNCTIONS.update(
    (name, f"\\{known}" if f"\\{known}" in FUNCTIONS.values() else f"\\operatorname{{{known}}}")
    for name, known in NATIONAL.items()
    if name not in ("rot", "grad")  # "rot" is also a word: see CALLED
)
#: Functions written with fences: the opening and the closing sign.
FENCED: Final = {
    "abs": ("|", "|"),
    "floor": ("\\lfloor ", "\\rfloor "),
    "ceil": ("\\lceil ", "\\rceil "),
    "norm": ("\\|", "\\|"),
}
#: Names of the binomial coefficient, typed before two numbers in brackets.
BINOMIALS: Final = frozenset({"binom", "binomial"})
#: Names of functions that are words or products of variables unless brackets follow.
CALLED_NAMES: Final = (
    "Spec Proj Frac Quot Stab Supp Coker Span Null Rank Trace Diff Isom Homeo Vect Hilb Conv Cone "
    "Dist Diam Area Card Char Codim Kern Out Pr Cl Ad Sp Ei Si Ci Ai spec proj supp coker null "
    "conv cone dist diam area card char codim rot rk id cl ad"
).split()
#: Functions that are words unless brackets follow, and their LaTeX.
CALLED: Final = {
    "im": "\\operatorname{im}",
    **dict.fromkeys(BINOMIALS, "\\operatorname{binom}"),
    **{name: f"\\operatorname{{{name}}}" for name in CALLED_NAMES},
}
#: Names and signs of roots, and the degree (empty for 2).
ROOTS: Final = {"sqrt": "", "cbrt": "3", "√": "", "∛": "3", "∜": "4"}
#: Functions typed before a number without brackets: sin 30, log 5.
BEFORE_NUMBERS: Final = frozenset(
    "sin cos tan cot csc sinh cosh tanh arcsin arccos arctan log ln lg exp sen tg ctg cotg arctg "
    "arcctg arcsen sh ch cth ημ συν εφ σφ "
    "sqrt cbrt abs".split()
)
#: Big operators by name; ``sum`` and ``lim`` are also words.
BIG: Final = {
    "sum": "\\sum",
    "prod": "\\prod",
    "product": "\\prod",
    "int": "\\int",
    "iint": "\\iint",
    "oint": "\\oint",
    "integral": "\\int",
    "lim": "\\lim",
    "lím": "\\lim",
    "limes": "\\lim",
    "límsup": "\\limsup",
    "líminf": "\\liminf",
    "limsup": "\\limsup",
    "liminf": "\\liminf",
}
_GREEK = (
    "alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa lambda mu nu xi "
    "pi rho sigma tau upsilon phi varphi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma "
    "Upsilon Phi Psi Omega"
)
_INFINITY = (
    "infinity infty Infinity oo infinito nekonečno nekonecno beskonačno beskonacno beskonačnost "
    "अनंत अनन्त بینهایت بی‌نهایت"
)
#: Names of signs that are not words in any language.
SIGNS_ONLY: Final = frozenset({"hbar"})
#: Names of signs, and their LaTeX.
SIGNS: Final = {
    **{name: f"\\{name}" for name in (*_GREEK.split(), *SIGNS_ONLY)},
    **dict.fromkeys(_INFINITY.split(), "\\infty"),
    "eps": "\\epsilon",
    **{f"{letter}bar": f"\\bar{{{letter}}}" for letter in "xyzXYZ"},
    **{f"{letter}hat": f"\\hat{{{letter}}}" for letter in "xyp"},
}
GREEK: Final = frozenset((*_GREEK.split(), "eps"))
INFINITY: Final = frozenset(_INFINITY.split())
#: Connectives inside the brackets of a function: P(A and B).
CONNECTIVES: Final = {"and": "\\text{ and }", "or": "\\text{ or }", "not": "\\text{ not }"}
#: The words for "and" and "or" between two events, and their English: P(A und B).
AND_OR: Final = dict.fromkeys("und et y e i a и और र و".split(), "and") | dict.fromkeys(
    "oder ou o u nebo ili или या वा یا".split(), "or"
)
#: Words used as infix operators between numbers and letters.
INFIX_WORDS: Final = frozenset({"mod", "choose"})

#: Single letters that are words: articles, conjunctions and prepositions of our languages.
LETTER_WORDS: Final = frozenset("aAiIoOyYeEuUkKsSvVzZ")
#: Short words that are not factors after a number: ordinals and units.
AFTER_NUMBERS: Final = frozenset(
    "st nd rd th er ro do mo kg mg km cm mm ml dl nm am pm AM PM gb GB MB TB kB KB Hz kHz MHz "
    "min sec hrs yrs px pt ft in lb oz mph kWh kW Kč kn eur EUR usd USD Rs rs".split()
)
#: Strings that look like formulas but are not.
LOOK_ALIKES: Final = frozenset(
    "H₂O CO₂ O₂ H₂ N₂ CH₄ H₂SO₄ "
    "50-50 s/n n/a w/o c/o m/s a/c b/w s/o y/o i/o o/w k/d a/b/c 24/7 50/50 9/11 7/24 km/h".split()
)
#: Quotients of capital letters in algebra.
QUOTIENTS: Final = frozenset(
    "G/H G/N G/K G/Z G/M R/I R/J R/P K/F L/K L/F E/F M/N V/W V/U A/I".split()
)
UNITS: Final = frozenset("m cm mm km dm ft in".split())
#: Short words of prose that are not in the lists of stop words.
SHORT_WORDS: Final = frozenset(
    "if is as at be by in of on or to up an am do go he it so "
    "use try get let set sum one two six ten odd big new old top low way day man men its his her "
    "him she you they we us me my our was has had did may can why who how and for the not but are "
    "any all few per via vs etc see say yes no ok pdf PDF ODE PDE TCP IP USA UK EU PhD IQ AI ML "
    "NN map row key box bus car cat dog hat red led end eat buy pay add ray law aim arc area axis "
    "ka ke ki ko se me hai kya ho tha thi par jo ye wo yah hal mul "
    "un una los las del por con que qué sin más dos uno sus fin ver ley eje par "
    "je na za od do iz po ne to ta su li ga mu ih kut broj niz red dva tri sve pri bez "
    "že co jak pro ale ten tak být dva tři bod".split()
)
