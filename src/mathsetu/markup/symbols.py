r"""Converts mathematical characters to LaTeX, for formulas in MathML and OMML."""

from __future__ import annotations

_NAMED = (
    "alpha:α beta:β gamma:γ delta:δ varepsilon:ε epsilon:ϵ zeta:ζ eta:η theta:θ vartheta:ϑ iota:ι "
    "kappa:κ lambda:λ mu:μ nu:ν xi:ξ pi:π varpi:ϖ rho:ρ varrho:ϱ sigma:σ varsigma:ς tau:τ "
    "upsilon:υ varphi:φ phi:ϕ chi:χ psi:ψ omega:ω Gamma:Γ Delta:Δ Theta:Θ Lambda:Λ Xi:Ξ Pi:Π "
    "Sigma:Σ Upsilon:Υ Phi:Φ Psi:Ψ Omega:Ω sum:∑ prod:∏ coprod:∐ int:∫ iint:∬ iiint:∭ oint:∮ "
    "bigcup:⋃ bigcap:⋂ bigvee:⋁ bigwedge:⋀ bigoplus:⨁ bigotimes:⨂ le:≤ ge:≥ ne:≠ equiv:≡ "
    "approx:≈ sim:∼ simeq:≃ cong:≅ propto:∝ ll:≪ gg:≫ prec:≺ succ:≻ in:∈ notin:∉ ni:∋ subset:⊂ "
    "supset:⊃ subseteq:⊆ supseteq:⊇ subsetneq:⊊ cup:∪ cap:∩ setminus:∖ emptyset:∅ times:× "
    "cdot:⋅ cdot:· div:÷ pm:± mp:∓ circ:∘ ast:∗ star:⋆ bullet:∙ oplus:⊕ otimes:⊗ wedge:∧ vee:∨ "
    "neg:¬ forall:∀ exists:∃ nexists:∄ infty:∞ partial:∂ nabla:∇ to:→ leftarrow:← "
    "leftrightarrow:↔ Rightarrow:⇒ Leftarrow:⇐ Leftrightarrow:⇔ mapsto:↦ hookrightarrow:↪ "
    "longrightarrow:⟶ Longrightarrow:⟹ Longleftrightarrow:⟺ uparrow:↑ downarrow:↓ ldots:… "
    "cdots:⋯ vdots:⋮ ddots:⋱ langle:⟨ rangle:⟩ langle:〈 rangle:〉 lfloor:⌊ rfloor:⌋ lceil:⌈ "
    "rceil:⌉ |:‖ parallel:∥ perp:⊥ angle:∠ ell:ℓ hbar:ℏ Re:ℜ Im:ℑ aleph:ℵ mid:∣ nmid:∤ "
    "vdash:⊢ models:⊨ top:⊤ triangle:△ square:□ dagger:† prime:′ asymp:≍ doteq:≐ sqcup:⊔ "
    "sqcap:⊓ trianglelefteq:⊴ lhd:⊲ rightharpoonup:⇀ rightleftharpoons:⇌"
)
_COMMANDS = {sign: f"\\{name} " for name, sign in (p.split(":") for p in _NAMED.split())}
_BLACKBOARD = dict(zip("ℂℍℕℙℚℝℤ", "CHNPQRZ", strict=True))
# Replacements for symbols, for special characters of LaTeX and for invisible characters.
_WRITTEN = str.maketrans(
    _COMMANDS
    | {sign: f"\\mathbb{{{letter}}}" for sign, letter in _BLACKBOARD.items()}
    | {character: f"\\{character}" for character in "{}#%&$_"}
    | {"\\": "\\backslash ", "^": "\\wedge ", "~": "\\sim ", "−": "-", "\u00a0": " "}
    | {"\u2061": "", "\u2062": " ", "\u2063": "", "\u2064": "", "\u200b": ""}
)
FUNCTIONS = frozenset(
    "sin cos tan cot sec csc sinh cosh tanh coth arcsin arccos arctan log ln lg exp lim limsup "
    "liminf sup inf max min det dim ker deg gcd hom arg Pr".split()
)
#: LaTeX commands by the accent or brace above a formula; `BELOW` has those below it.
ABOVE = {
    "¯": "bar", "‾": "overline", "̅": "bar", "̄": "bar", "_": "overline", "^": "hat", "ˆ": "hat",
    "̂": "hat", "~": "tilde", "˜": "tilde", "̃": "tilde", "→": "vec", "⃗": "vec", "⇀": "vec",
    "˙": "dot", "̇": "dot", ".": "dot", "¨": "ddot", "̈": "ddot", "⃛": "dddot", "ˇ": "check",
    "̌": "check", "˘": "breve", "̆": "breve", "´": "acute", "́": "acute", "`": "grave",
    "̀": "grave", "⏞": "overbrace", "⌢": "overset{\\frown}", "∘": "mathring", "˚": "mathring",
}  # fmt: skip
BELOW = {"_": "underline", "̲": "underline", "¯": "underline", "‾": "underline",
         "̱": "underline", "⏟": "underbrace"}  # fmt: skip
#: Operators whose scripts below and above are limits.
WITH_LIMITS = frozenset("∑∏∐∫∬∭∮⋃⋂⋁⋀⨁⨂⨆") | FUNCTIONS


def written(text: str) -> str:
    r"""Convert characters of a formula to LaTeX, and escape special characters.

    >>> written("α ≤ {x}")
    '\\alpha  \\le  \\{x\\}'
    """
    return text.translate(_WRITTEN)


def word(text: str) -> str:
    r"""Write a name of several letters: a function of LaTeX, or ``\operatorname``.

    >>> word("sin"), word("rank")
    ('\\sin ', '\\operatorname{rank}')
    """
    if text in FUNCTIONS:
        return f"\\{text} "
    return f"\\operatorname{{{written(text)}}}"


def as_text(text: str) -> str:
    r"""Write words inside a formula, with ``\text``.

    >>> as_text("if x{1}")
    '\\text{if x\\{1\\}}'
    """
    if not text.strip():
        return "\\ " if text else ""
    # Unbalanced braces would end the group early or late, and a dollar would end the formula.
    escaped = "".join(f"\\{c}" if c in "{}#%&$_" else " " if c in "\\^~" else c for c in text)
    return f"\\text{{{escaped}}}"


def grouped(latex: str) -> str:
    r"""Put a piece of LaTeX in braces unless it is one symbol, so that it can take a script.

    >>> grouped("x"), grouped("\\alpha "), grouped("x+1")
    ('x', '\\alpha', '{x+1}')
    """
    latex = latex.strip()
    if len(latex) == 1 or (latex.startswith("\\") and latex[1:].isalpha()):
        return latex
    return f"{{{latex}}}"


def with_scripts(base: str, below: str = "", above: str = "") -> str:
    r"""Write a base with an index and an exponent.

    >>> with_scripts("x+y", "i", "\\prime ")
    "{x+y}_{i}'"
    """
    above = above.strip()
    scripts = f"_{{{below.strip()}}}" if below.strip() else ""
    if above and not above.replace("\\prime", "").strip():
        return f"{grouped(base)}{scripts}{chr(39) * above.count('prime')}"
    return f"{grouped(base)}{scripts}" + (f"^{{{above}}}" if above else "")


_FENCES = {("(", ")"): "pmatrix", ("[", "]"): "bmatrix", ("|", "|"): "vmatrix",
           ("\\{", "\\}"): "Bmatrix", ("\\{", ""): "cases",
           ("\\|", "\\|"): "Vmatrix"}  # fmt: skip
_MATRIX = ("\\begin{matrix} ", " \\end{matrix}")
_ALIGNED = ("\\begin{aligned} ", " \\end{aligned}")


def fenced(opening: str, inside: str, closing: str) -> str:
    r"""Put brackets around LaTeX; a matrix or a binomial coefficient absorbs them.

    >>> fenced("(", "\\begin{matrix} a & b \\end{matrix}", ")")
    '\\begin{pmatrix} a & b \\end{pmatrix}'
    >>> fenced("(", "{n \\atop k}", ")"), fenced("[", "0,1", ")")
    ('\\binom{n}{k}', '[0,1)')
    """
    opening, closing, inner = opening.strip(), closing.strip(), inside.strip()
    name = _FENCES.get((opening, closing))
    for begin, end in (_MATRIX, _ALIGNED):
        is_one = inner.startswith(begin) and inner.endswith(end) and inner.count(begin) == 1
        if is_one and name and (begin == _MATRIX[0] or name == "cases"):
            return f"\\begin{{{name}}} {inner[len(begin) : -len(end)]} \\end{{{name}}}"
    above, over, below = inner.partition(" \\atop ")
    is_binomial = name == "pmatrix" and over and above.startswith("{") and below.endswith("}")
    if is_binomial and "{" not in above[1:] + below and "}" not in above + below[:-1]:
        return f"\\binom{above}}}{{{below}"
    return f"{opening}{inside}{closing}"
