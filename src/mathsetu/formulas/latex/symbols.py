r"""The table of LaTeX and Unicode symbols, from input text to `Sign`.

Each entry has names, the displayed character, and optionally its meaning (the label in the
operator tree). The character itself is a name, too, so that ``≤`` and ``\leq`` are the same sign.
"""

from __future__ import annotations

from typing import Final

from mathsetu.formulas.latex.boxes import (
    ADDITION,
    BAR,
    BIG,
    CLOSING,
    COLON,
    COMMA,
    FUNCTION,
    IDENTIFIER,
    INTEGRAL,
    META,
    MULTIPLICATION,
    NEGATION,
    NUMBER,
    OPENING,
    PERIOD,
    POSTFIX,
    PREFIX,
    RELATION,
    SPACE,
    TRIGONOMETRIC,
    WIDE_SPACE,
    Sign,
)

_LETTERS = r"""
\alpha α | \beta β | \gamma γ | \delta δ | \epsilon ϵ | \varepsilon ε | \zeta ζ | \eta η
\theta θ | \vartheta ϑ | \iota ι | \kappa κ | \varkappa ϰ | \lambda λ | \mu μ | \nu ν | \xi ξ
\omicron ο | \pi π | \varpi ϖ | \rho ρ | \varrho ϱ | \sigma σ | \varsigma ς | \tau τ
\upsilon υ | \phi ϕ | \varphi φ | \chi χ | \psi ψ | \omega ω | \digamma ϝ
\Gamma Γ | \Delta Δ | \Theta Θ | \Lambda Λ | \Xi Ξ | \Pi Π | \Sigma Σ | \Upsilon Υ | \Phi Φ
\Psi Ψ | \Omega Ω | \varGamma Γ | \varDelta Δ | \varTheta Θ | \varLambda Λ | \varXi Ξ
\varPi Π | \varSigma Σ | \varPhi Φ | \varPsi Ψ | \varOmega Ω
\Alpha Α | \Beta Β | \Epsilon Ε | \Zeta Ζ | \Eta Η | \Iota Ι | \Kappa Κ | \Mu Μ | \Nu Ν
\Rho Ρ | \Tau Τ | \Chi Χ
\infty ∞ C!infinity | \emptyset \varnothing ∅ C!emptyset | \aleph ℵ | \beth ℶ | \gimel ℷ
\daleth ℸ | \hbar \hslash ħ ℏ C!planck | \ell ℓ | \imath ı | \jmath ȷ | \wp ℘ O!weierstrass-p
\angle ∠ | \measuredangle ∡ | \sphericalangle ∢ | \triangle △ | \triangledown ▽ | \square \Box □
\blacksquare ■ | \lozenge \Diamond ◇ | \bigstar ★ | \top ⊤ C!top | \bot ⊥ C!bottom
\dots \ldots \dotsc \dotso \textellipsis ... … | \cdots \dotsb \dotsm \dotsi ⋯ | \vdots ⋮
\ddots ⋱ | \iddots ⋰ | \prime ′ | \backprime ‵ | \dagger \dag † | \ddagger \ddag ‡ | \complement ∁
\clubsuit ♣ | \diamondsuit ♢ | \heartsuit ♡ | \spadesuit ♠ | \flat ♭ | \natural ♮ | \sharp ♯
\checkmark ✓ | \maltese ✠ | \mho ℧ | \eth ð | \pounds £ | \yen ¥ | \S § | \P ¶ | \circledR ®
\copyright © | \# # | \& & | \$ \textdollar $ | \_ _ | \backslash \textbackslash \
\Re ℜ F!real | \Im ℑ F!imaginary | \Finv Ⅎ | \Game ⅁ | \Bbbk 𝕜 | \surd √ | \qed □
\AA \Angstrom Å | \aa å | \ae æ | \AE Æ | \oe œ | \O Ø | \o ø | \ss ß | \i ı | \j ȷ
\degree \textdegree °
"""

_OPERATORS = {
    ADDITION: r"""
+ + U!plus | - − O!minus | \pm ± O!plus-or-minus | \mp ∓ O!minus-or-plus | \cup ∪ U!union
\vee \lor ∨ U!or | \wedge \land ∧ U!and | \cap ∩ U!intersect | \Cap ⋒ | \curlywedge ⋏
\oplus ⊕ O!direct-sum | \ominus ⊖ O!symmetric-difference | \uplus ⊎ | \veebar ⊻ U!xor
\sqcup ⊔ O!square-union | \sqcap ⊓ O!square-intersection | \setminus \smallsetminus ∖ O!setdiff
\amalg ⨿ O!coproduct | \dotplus ∔ | \boxplus ⊞ | \boxminus ⊟ | \Cup ⋓ | \curlyvee ⋎
""",
    MULTIPLICATION: r"""
* ∗ U!times | \times × U!times | \cdot \cdotp · ⋅ | / / O!divide | \div ÷ O!divide
\ast ∗ | \star ⋆ | \circ ∘ O!compose | \bullet • ∙ | \bmod \mod mod O!rem
\otimes ⊗ O!tensor-product | \odot ⊙ O!direct-product | \oslash ⊘ | \wr ≀ O!wreath-product
\diamond ⋄ | \bigcirc ◯ | \dagger † | \ltimes ⋉ | \rtimes ⋊
\boxtimes ⊠ | \boxdot ⊡ | \circledast ⊛ | \circledcirc ⊚ | \divideontimes ⋇ | \barwedge ⊼
\bigtriangleup △ | \bigtriangledown ▽
\triangleleft ◁ | \triangleright ▷ | \intercal ⊺ | \leftthreetimes ⋋ | \rightthreetimes ⋌
""",
    RELATION: r"""
= = U!eq | \neq \ne != ≠ U!neq | < \lt < O!lt | > \gt > O!gt | \leq \le <= ≤ O!leq
\geq \ge >= ≥ O!geq | \leqslant ⩽ O!leq | \geqslant ⩾ O!geq | \leqq ≦ O!leq | \geqq ≧ O!geq
\nleq \nleqslant ≰ O!not-leq | \ngeq \ngeqslant ≱ O!not-geq | \nless ≮ O!not-less-than
\ngtr ≯ O!not-greater-than | \ll ≪ O!much-less-than | \gg ≫ O!much-greater-than
\lll ⋘ | \ggg ⋙ | \lesssim ≲ O!less-than-or-similar-to | \gtrsim ≳ O!greater-than-or-equivalent-to
\lneq ⪇ | \gneq ⪈ | \lneqq ≨ | \gneqq ≩ | \lessgtr ≶ | \gtrless ≷ | \lessapprox ⪅ | \gtrapprox ⪆
\equiv ≡ U!equivalent | \nequiv ≢ O!not-equivalent-to | \sim \thicksim ∼ O!similar-to | \nsim ≁
\simeq ≃ O!similar-to-or-equals | \approx \thickapprox ≈ U!approx | \cong ≅ U!approx | \ncong ≇
\approxeq ≊ | \asymp ≍ O!asymptotically-equals | \doteq ≐ O!approaches-limit | \doteqdot ≑
\propto \varpropto ∝ O!proportional-to | \in \isin ∈ O!in | \notin ∉ O!notin
\ni \owns ∋ O!contains
\subset ⊂ O!subset | \subseteq ⊆ O!subset | \subseteqq ⫅ O!subset
\subsetneq \subsetneqq ⊊ O!prsubset
\supset ⊃ O!superset | \supseteq ⊇ O!superset | \supseteqq ⫆ O!superset
\supsetneq \supsetneqq ⊋ O!prsuperset | \nsubseteq \nsubset ⊈ O!not-subset-of-nor-equals
\nsupseteq ⊉ O!not-superset-of-nor-equals | \Subset ⋐ | \Supset ⋑
\sqsubset ⊏ O!square-image-of | \sqsupset ⊐ | \sqsubseteq ⊑ O!square-image-of-or-equals
\sqsupseteq ⊒ O!square-original-of-or-equals | \prec ≺ O!precedes | \succ ≻ O!succeeds
\preceq \preccurlyeq ⪯ O!precedes-or-equals | \succeq \succcurlyeq ⪰ O!succeeds-or-equals
\perp ⟂ O!perpendicular-to | \parallel ∥ O!parallel-to | \nparallel ∦ O!not-parallel-to
\nmid ∤ O!not-divides | \vdash ⊢ O!proves | \dashv ⊣ | \models \vDash ⊧ O!models | \nvdash ⊬
\Vdash ⊩ | \nvDash ⊭ | \restriction \upharpoonright ↾ | \bowtie ⋈ | \smile ⌣ | \frown ⌢
\trianglelefteq ⊴ | \trianglerighteq ⊵
\ntriangleleft ⋪ | \ntriangleright ⋫ | \lhd ⊲ | \rhd ⊳ | \unlhd ⊴ | \unrhd ⊵ | \between ≬
\vartriangleleft ⊲ | \vartriangleright ⊳ | \coloneqq \colonequals ≔ O!assign | \eqqcolon ≕ O!assign
\triangleq ≜ | \eqdef ≝ | \circeq ≗ | \bumpeq ≏ | \multimap ⊸ | \therefore ∴ | \because ∵
\to \rightarrow → | \gets \leftarrow ← | \leftrightarrow ↔ | \longrightarrow ⟶ | \longleftarrow ⟵
\longleftrightarrow ⟷ | \mapsto ↦ O!maps-to | \longmapsto ⟼ O!maps-to | \hookrightarrow ↪
\hookleftarrow ↩ | \twoheadrightarrow ↠ | \rightarrowtail ↣ | \rightharpoonup ⇀
\rightharpoondown ⇁ | \leftharpoonup ↼ | \rightleftharpoons ⇌ | \leftrightarrows ⇆
\rightrightarrows ⇉ | \rightleftarrows ⇄ | \rightsquigarrow \leadsto ⇝ | \dashrightarrow ⇢
\uparrow ↑ | \downarrow ↓ | \updownarrow ↕ | \nearrow ↗ | \searrow ↘ | \swarrow ↙ | \nwarrow ↖
\Uparrow ⇑ | \Downarrow ⇓ | \Updownarrow ⇕ | \upuparrows ⇈ | \nrightarrow ↛ | \nleftarrow ↚
\Rightarrow ⇒ | \Leftarrow ⇐ | \implies ⟹ O!implies | \impliedby ⟸ | \Longrightarrow ⟹
\Longleftarrow ⟸ | \nRightarrow ⇏ | \nLeftarrow ⇍ | \curvearrowright ↷ | \circlearrowleft ↺
""",
    META: r"""
\iff ⇔ O!iff | \Leftrightarrow ⇔ | \Longleftrightarrow ⟺ | \nLeftrightarrow ⇎
""",
}

_BIG = r"""
\sum ∑ O!sum | \prod ∏ O!product | \coprod ∐ O!coproduct | \bigcup ⋃ U!union
\bigcap ⋂ U!intersect | \bigoplus ⨁ O!direct-sum | \bigotimes ⨂ O!tensor-product
\bigodot ⨀ O!direct-product | \bigvee ⋁ U!or | \bigwedge ⋀ U!and | \bigsqcup ⨆ O!square-union
\biguplus ⨄ O!symmetric-difference | \lim lim O!limit | \limsup lim\ sup O!limit-supremum
\liminf lim\ inf O!limit-infimum | \varlimsup lim\ sup O!limit-supremum
\varliminf lim\ inf O!limit-infimum | \injlim inj\ lim O!injective-limit
\projlim proj\ lim O!projective-limit | \varinjlim lim O!injective-limit
\varprojlim lim O!projective-limit | \sup sup O!supremum | \inf inf O!infimum | \det det F!det
\argmax arg\ max F!argmax | \argmin arg\ min F!argmin
"""

_INTEGRALS = r"""
\int \intop \smallint ∫ O!int | \iint ∬ O!double-integral | \iiint ∭ O!triple-integral
\iiiint ⨌ O!quadruple-integral | \oint ∮ O!contour-integral | \oiint ∯ O!surface-integral
\idotsint ∫⋯∫ O!multiple-integral
"""

_PREFIXES = r"""
\forall ∀ O!forall | \exists ∃ O!exists | \nexists ∄ O!not-exists | \partial ∂ O!partialdiff
\nabla ∇
"""

_TRIGONOMETRIC = (
    "sin cos tan cot sec csc sinh cosh tanh coth arcsin arccos arctan"
    " arccot arcsec arccsc sech csch arcsinh arccosh arctanh"
)
_FUNCTIONS = r"""
\log F!log | \ln F!ln | \lg F!lg | \exp F!exp | \max F!max | \min F!min | \gcd F!gcd | \lcm F!lcm
\deg O!degree | \dim O!dimension | \ker O!kernel | \arg F!arg | \hom V!hom | \Pr O!probability
\sh F!sinh | \ch F!cosh | \th F!tanh | \cth F!coth
"""

#: National names of functions, by their English name.
_NATIONAL = {
    "sin": "sen ημ",
    "cos": "συν",
    "tan": "tg tang εφ",
    "cot": "ctg cotg cotan σφ",
    "csc": "cosec",
    "arcsin": "arcsen",
    "arctan": "arctg arctang",
    "arccot": "arcctg arccotg",
    "sinh": "senh",
    "tanh": "tgh",
    "coth": "ctgh cotgh",
    "arcsinh": "arsh argsh arcsh",
    "arccosh": "argch arcch",
    "arctanh": "arth argth arcth",
    "gcd": "ggT pgcd PGCD mcd MCD mdc MDC nwd NWD nzd NZD nzm NZM nsd NSD ebob EBOB obeb OBEB "
    "cmmdc lnko LNKO fpb FPB sgd ggd GGD НОД НСД ΜΚΔ ƯCLN UCLN",
    "lcm": "kgV ppcm PPCM mcm MCM mmc MMC nww NWW nzv NZV nsn NSN ekok EKOK okek OKEK "
    "cmmmc lkkt LKKT kpk KPK mgn MGN kgv KGV НОК НСК ΕΚΠ BCNN",
    "rank": "rg rang Rang",
    "curl": "rot",
    "nabla": "grad",
}
#: National names of functions to their English names; the gradient to its sign.
NATIONAL: Final = {name: known for known, names in _NATIONAL.items() for name in names.split()}

#: Functions whose scripts stand above and below in displayed formulas.
_WITH_LIMITS = frozenset({"\\max", "\\min", "\\gcd", "\\Pr", "\\lcm"})
#: Functions that LaTeXML shows as operators, not as identifiers.
_SHOWN_AS_OPERATORS = frozenset({"\\dim", "\\ker", "\\hom"})

_BRACKETS = r"""
( ) | [ ] | \{ \} | \lbrace \rbrace | \langle \rangle | \lfloor \rfloor | \lceil \rceil
\lbrack \rbrack | \lvert \rvert | \lVert \rVert | \llbracket \rrbracket | \lgroup \rgroup
\lparen \rparen | \ulcorner \urcorner | \llcorner \lrcorner | ⟨ ⟩ | ⌊ ⌋ | ⌈ ⌉ | 〈 〉
"""
_BRACKET_TEXT = {
    "\\{": "{", "\\}": "}", "\\lbrace": "{", "\\rbrace": "}", "\\langle": "⟨", "\\rangle": "⟩",
    "\\lfloor": "⌊", "\\rfloor": "⌋", "\\lceil": "⌈", "\\rceil": "⌉", "\\lbrack": "[",
    "\\rbrack": "]", "\\lvert": "|", "\\rvert": "|", "\\lVert": "∥", "\\rVert": "∥",
    "\\llbracket": "⟦", "\\rrbracket": "⟧", "\\lgroup": "(", "\\rgroup": ")", "\\lparen": "(",
    "\\rparen": ")", "\\ulcorner": "⌜", "\\urcorner": "⌝", "\\llcorner": "⌞", "\\lrcorner": "⌟",
    "〈": "⟨", "〉": "⟩",
}  # fmt: skip

_SPACES = {
    "\\,": "0.167em", "\\:": "0.222em", "\\>": "0.222em", "\\;": "0.278em", "\\ ": "0.333em",
    "~": "0.333em", "\\thinspace": "0.167em", "\\medspace": "0.222em", "\\thickspace": "0.278em",
    "\\enspace": "0.5em", "\\enskip": "0.5em", "\\space": "0.333em", "\\nobreakspace": "0.333em",
    "\u00a0": "0.333em", "&nbsp;": "0.333em", "\\\t": "0.333em", "\\\n": "0.333em",
}  # fmt: skip
_WIDE_SPACES = {"\\quad": "1em", "\\qquad": "2em"}

#: Accents: the mark, and whether it stands below.
ACCENTS: Final[dict[str, tuple[str, bool]]] = {
    "\\hat": ("^", False), "\\widehat": ("^", False), "\\tilde": ("~", False),
    "\\widetilde": ("~", False), "\\bar": ("¯", False), "\\overline": ("¯", False),
    "\\vec": ("→", False), "\\overrightarrow": ("→", False), "\\overleftarrow": ("←", False),
    "\\overleftrightarrow": ("↔", False), "\\dot": ("˙", False), "\\ddot": ("¨", False),
    "\\dddot": ("⃛", False), "\\check": ("ˇ", False), "\\widecheck": ("ˇ", False),
    "\\acute": ("´", False), "\\grave": ("`", False), "\\breve": ("˘", False),
    "\\mathring": ("˚", False), "\\overbrace": ("⏞", False), "\\underline": ("¯", True),
    "\\underbrace": ("⏟", True), "\\overparen": ("⏜", False), "\\wideparen": ("⏜", False),
    "\\underrightarrow": ("→", True), "\\underleftarrow": ("←", True),
    "\\overbracket": ("⎴", False), "\\underbracket": ("⎵", True), "\\utilde": ("~", True),
}  # fmt: skip

_NEGATED = {
    "=": "\\neq", "\\in": "\\notin", "\\equiv": "\\nequiv", "<": "\\nless", ">": "\\ngtr",
    "\\leq": "\\nleq", "\\le": "\\nleq", "\\geq": "\\ngeq", "\\ge": "\\ngeq", "\\mid": "\\nmid",
    "|": "\\nmid", "\\subseteq": "\\nsubseteq", "\\supseteq": "\\nsupseteq", "\\sim": "\\nsim",
    "\\cong": "\\ncong", "\\exists": "\\nexists", "\\parallel": "\\nparallel",
    "\\vdash": "\\nvdash", "\\models": "\\nvDash", "\\to": "\\nrightarrow",
    "\\rightarrow": "\\nrightarrow", "\\Rightarrow": "\\nRightarrow",
    "\\Leftrightarrow": "\\nLeftrightarrow", "\\lt": "\\nless", "\\gt": "\\ngtr",
}  # fmt: skip


#: Characters that are LaTeX syntax; as signs they need a backslash.
STRUCTURE: Final = frozenset("_&$#\\%^{}~'")


def _entries(table: str) -> list[tuple[list[str], str, str | None]]:
    """Return the names, displayed text and meaning of each entry of a table."""
    found = []
    for entry in table.strip().replace("\n", " | ").split(" | "):
        words = entry.replace("\\ ", "\u00a0").split(" ")
        words = [word.replace("\u00a0", " ") for word in words if word]
        meaning = (
            words.pop() if len(words) > 1 and words[-1][1:2] == "!" and words[-1] != "!=" else None
        )
        names = words if len(words[-1]) == 1 else words[:-1]
        found.append((names, words[-1], meaning))
    return found


def _build() -> dict[str, Sign]:
    """Return all plain signs by input text."""
    signs: dict[str, Sign] = {}

    def add(table: str, element: str, role: int, limits: bool = False) -> None:
        for names, text, meaning in _entries(table):
            sign = Sign(text, element, role, operand=meaning, limits=limits)
            for name in names:
                if name not in STRUCTURE:
                    signs.setdefault(name, sign)

    for letter in "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ":
        signs[letter] = Sign(letter)
    for role, table in _OPERATORS.items():
        add(table, "mo", role)
    add(_LETTERS, "mi", IDENTIFIER)
    add(_BIG, "mo", BIG, limits=True)
    add(_INTEGRALS, "mo", INTEGRAL)
    add(_PREFIXES, "mo", PREFIX)
    for entry in _FUNCTIONS.strip().replace("\n", " | ").split(" | "):
        name, meaning = entry.split()
        element = "mo" if name in _SHOWN_AS_OPERATORS else "mi"
        limits = name in _WITH_LIMITS
        signs[name] = Sign(name[1:], element, FUNCTION, operand=meaning, limits=limits)
    for name, known in NATIONAL.items():
        meaning = "∇" if known == "nabla" else known
        signs["\\" + name] = Sign(name, "mi", FUNCTION, operand="F!" + meaning)
    for name in _TRIGONOMETRIC.split():
        signs["\\" + name] = Sign(name, "mi", TRIGONOMETRIC, operand="F!" + name)
    for name, width in _SPACES.items():
        signs[name] = Sign(width, "mspace", SPACE)
    for name, width in _WIDE_SPACES.items():
        signs[name] = Sign(width, "mspace", WIDE_SPACE)
    for name in (":=", "=:"):
        signs[name] = Sign(name, "mo", RELATION, operand="O!assign")
    signs["-"].layout = signs["−"].layout = "-"
    signs["*"].layout = "*"
    prime = Sign("′", "mo", IDENTIFIER)
    signs["\\prime"] = signs["′"] = prime
    signs["\\lnot"] = signs["\\neg"] = signs["¬"] = Sign("¬", "mi", NEGATION, operand="O!not")
    signs[","] = Sign(",", "mo", COMMA)
    signs[";"] = Sign(";", "mo", COMMA)
    signs["."] = Sign(".", "mo", PERIOD)
    signs[":"] = signs["\\colon"] = Sign(":", "mo", COLON)
    signs["!"] = Sign("!", "mo", POSTFIX, operand="O!factorial")
    signs["!!"] = Sign("!!", "mo", POSTFIX, operand="F!df")
    signs["\\%"] = Sign("%", "mo", POSTFIX, operand="O!percent")
    for digit in "0123456789":
        signs[digit] = number_sign(digit)
    return signs


def number_sign(text: str) -> Sign:
    """Return the sign of a written number.

    >>> number_sign("3.5").operand
    'N!3.5'
    """
    label = "N!" + text
    return Sign(text, "mn", NUMBER, layout=label, operand=label)


def _brackets() -> dict[str, Sign]:
    """Return opening and closing brackets and bars by input text."""
    signs = {}
    for pair in _BRACKETS.strip().replace("\n", " | ").split(" | "):
        opening, closing = pair.split(" ")
        for name, role in ((opening, OPENING), (closing, CLOSING)):
            signs[name] = Sign(_BRACKET_TEXT.get(name, name), "mo", role)
    signs["|"] = signs["\\vert"] = Sign("|", "mo", BAR, operator="F!c")
    signs["\\mid"] = signs["∣"] = Sign("∣", "mo", BAR, operator="F!c")
    signs["\\|"] = Sign("∥", "mo", BAR)
    signs["\\Vert"] = signs["‖"] = Sign("‖", "mo", BAR)
    # A separate sign, because it may also be two single bars.
    signs["||"] = Sign("‖", "mo", BAR)
    return signs


#: Signs that are put into a row unchanged.
SIGNS: Final = _build()
#: Brackets and bars, which the parser pairs.
BRACKETS: Final = _brackets()
#: The negated sign for each sign after ``\\not``.
NEGATED: Final = {name: SIGNS[negated] for name, negated in _NEGATED.items()}
